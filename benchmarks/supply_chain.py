"""What veilset is built from: locked by hash, looked up among known weaknesses, and listed.

    python -m benchmarks.supply_chain lock    the lock files of locks/, by uv (`make lock`)
    python -m benchmarks.supply_chain audit   known weaknesses of what is locked, by pip-audit (part of `make check`)
    python -m benchmarks.supply_chain sbom    what the service is made of, as CycloneDX, in dist/ (`make sbom`)

A lock file holds names, versions and hashes, and no address: it is installed from whichever mirror a machine has.
"""

import json
import re
import subprocess
import sys
import time
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path

from veilset import __version__

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
BILL = ROOT / "dist" / "veilset.cdx.json"
EXTRAS_OF_LOCK = {"service": ("web", "postgres", "oidc"), "dev": ("dev",)}
"""Which extras each lock file is for: the container's, and those that the checks need."""
AUDITED = Path(sys.prefix) / "audited"
SECONDS_BETWEEN_AUDITS = 24 * 3600
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Pinned:
    """A package of a lock file: this version, in one of these files."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def address(self) -> str:
        """Its name among all packages of all languages."""
        return f"pkg:pypi/{self.name.lower()}@{self.version}"


def locked(name: str) -> list[Pinned]:
    """What a lock file holds; a package may stand in it twice, for different machines."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    starts = list(_PINNED.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [
        Pinned(start[1], start[2], tuple(_HASH.findall(text[start.start() : end])))
        for start, end in zip(starts, ends, strict=True)
    ]


def direct_requirements(extras: tuple[str, ...]) -> set[str]:
    """The names of what pyproject.toml asks for, with some extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [
        *project["dependencies"],
        *(each for name in extras for each in project["optional-dependencies"][name]),
    ]
    names = {normal(re.split(r"[\[<>=!~; ]", each, maxsplit=1)[0]) for each in asked}
    return names - {normal(project["name"])}  # an extra may name another one of its own


def normal(name: str) -> str:
    """A name as all tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lock() -> None:
    """Write the lock files anew; uv reckons them for all machines and for Python from 3.11 on."""
    plain = ("--no-header", "--no-annotate", "--no-emit-index-url")
    for name, extras in EXTRAS_OF_LOCK.items():
        chosen = [part for extra in extras for part in ("--extra", extra)]
        call = [
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--python-version",
            "3.11",
            "--generate-hashes",
        ]
        call += [*plain, *chosen, "--output-file", f"locks/{name}.txt", "pyproject.toml"]
        subprocess.run([sys.executable, "-m", *call], check=True, cwd=ROOT)


def audit() -> int:
    """Known weaknesses of what is locked: 1 where there are any. Asks once a day; where nobody answers, it says so."""
    newest = max(path.stat().st_mtime for path in LOCKS.glob("*.txt"))
    if AUDITED.exists() and AUDITED.stat().st_mtime > max(newest, time.time() - SECONDS_BETWEEN_AUDITS):
        return 0
    call = [sys.executable, "-m", "pip_audit", "--vulnerability-service", "osv", "--timeout", "5"]
    call += ["--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json"]
    told = subprocess.run(
        [*call, "--requirement", "locks/service.txt"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    try:
        found = json.loads(told.stdout)["dependencies"]
    except ValueError:
        print("no database of weaknesses can be reached from here: dependencies were not audited")
        return 0
    weak = [(each["name"], each["version"], each["vulns"]) for each in found if each.get("vulns")]
    for name, version, weaknesses in weak:
        print(f"{name} {version} has known weaknesses: {', '.join(one['id'] for one in weaknesses)}")
    if not weak:
        AUDITED.touch()
        print(f"{len(found)} dependencies have no known weakness")
    return 1 if weak else 0


def bill_of_materials() -> dict[str, object]:
    """What the service is made of, as a CycloneDX document; the same lock gives the same document."""
    packages = locked("service")
    text = "\n".join([__version__, *(each.address for each in packages)])
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "veilset",
                "name": "veilset",
                "version": __version__,
                "purl": f"pkg:pypi/veilset@{__version__}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": each.address,
                "name": each.name,
                "version": each.version,
                "purl": each.address,
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in each.hashes],
            }
            for each in packages
        ],
        "dependencies": [{"ref": "veilset", "dependsOn": sorted({each.address for each in packages})}],
    }


def sbom() -> None:
    """Write the bill of materials."""
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill_of_materials(), indent=1) + "\n", encoding="utf-8")
    print(f"{BILL.relative_to(ROOT)}: {len(locked('service'))} packages, each with its hashes")


def main(arguments: list[str]) -> int:
    """Lock, audit or list."""
    match arguments:
        case ["lock"]:
            lock()
        case ["audit"]:
            return audit()
        case ["sbom"]:
            sbom()
        case _:
            sys.exit("say lock, audit or sbom")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
