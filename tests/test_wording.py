"""Words: text of others cannot give orders to a terminal, and says the same all the same."""

import json

import pytest

from veilset.wording import printable, safe_json, shown

ORDERS = {
    "clear the screen": "\x1b[2J",
    "an order in one character": "\x9b2J",
    "go back": "\rmilk",
    "ring": "\a",
    "turn the direction": "\u202eklim",
    "isolate": "\u2066",
    "a mark of direction": "\u200f",
    "a line of its own": "\u2028",
    "delete": "\x7f",
    "hidden letters": "\U000e0041",
}


@pytest.mark.parametrize("name", ORDERS)
def test_what_a_terminal_would_obey_is_written_out(name: str) -> None:
    """In a table, in JSON, which reads as before, and where a message quotes it."""
    order = f"milk{ORDERS[name]}"
    for text in (printable(order), safe_json(json.dumps(order, ensure_ascii=False)), shown(order)):
        assert text.isprintable()
        assert "\\" in text
    assert json.loads(safe_json(json.dumps(order, ensure_ascii=False))) == order


@pytest.mark.parametrize("name", ["käse", "牛乳", "حليب", "می‌خواهم", "👨‍👩‍👧", "two words"])
def test_names_of_any_script_stay_as_they_are(name: str) -> None:
    """Letters that run from right to left are no orders; joiners belong to words and to emoji."""
    assert printable(name) == name
    assert safe_json(name) == name
