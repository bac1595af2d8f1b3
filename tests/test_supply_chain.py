"""What is locked is what is asked for, by hash, from any mirror; the bill of materials lists it."""

import re

import pytest
from benchmarks.supply_chain import (
    EXTRAS_OF_LOCK,
    LOCKS,
    ROOT,
    bill_of_materials,
    direct_requirements,
    locked,
    normal,
)


@pytest.mark.parametrize("name", EXTRAS_OF_LOCK)
def test_a_lock_holds_all_that_is_asked_for_each_with_hashes(name: str) -> None:
    """A requirement that is added to pyproject.toml is locked too: `make lock`."""
    packages = locked(name)
    assert direct_requirements(EXTRAS_OF_LOCK[name]) <= {normal(each.name) for each in packages}
    assert [each.name for each in packages if not each.hashes] == []


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_lock_names_no_address(path: object) -> None:
    """Machines install from mirrors of their own."""
    text = (LOCKS / f"{getattr(path, 'stem', '')}.txt").read_text()
    assert not re.search(r"://|--index|--find-links|@ ", text)


def test_the_container_installs_nothing_that_is_not_locked() -> None:
    """Every installation from outside asks for hashes."""
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    installs = re.findall(r"pip install[^&\n]*", text)
    assert installs
    assert all("--require-hashes" in each or "--no-deps" in each for each in installs)


def test_the_bill_of_materials_lists_what_is_locked() -> None:
    """As CycloneDX wants it: a name, a version, an address and hashes for each package; the same each time."""
    bill = bill_of_materials()
    components = bill["components"]
    assert isinstance(components, list)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert {each["purl"] for each in components} == {each.address for each in locked("service")}
    assert all(len(digest["content"]) == 64 for each in components for digest in each["hashes"])
    assert bill == bill_of_materials()
