"""Whether two checkouts of veilset give the same answers: seeded releases and forecasts, compared number by number.

    python -m benchmarks.same_answers OTHER_CHECKOUT

Every method and variant of `mine`, `items` and `publish` runs with seeded noise in both checkouts, by k and by
threshold, on generated baskets, on baskets of persons, and on mushroom and retail where ../shared/data has them; every
forecast of `plan`, too. Texts (questions, notes, promises) may differ; numbers and itemsets may not. Exits with 1
where any do.
"""

import argparse
import hashlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
DATA = HERE.parent / "shared" / "data"
TEXTS = {"question", "stage", "notes", "promise", "version", "assumption"}
NEWER = {"delta", "is_conditional"}
"""Fields that releases of version 0.1 did not have."""
SETTINGS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1, "k": 60},
    {"epsilon": "1/5", "k": 40},
    {"epsilon": 1, "min_support": "0.1"},
)
SEEDS = (3, 4)
FACTS = ((88_000, 16_000, 10.0), (8_000, 120, 23.0), (500_000, 17, 2.0))


def main() -> None:
    """Compare this checkout with another one, and say where they differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_answers")
    parser.add_argument("other", type=Path, nargs="?", help="the root of the other checkout")
    parser.add_argument(
        "--print", action="store_true", help="only print the answers of the veilset on the path"
    )
    chosen = parser.parse_args()
    if chosen.print:
        print(json.dumps(dict(answers())))
        return
    here, there = answers_of(HERE), answers_of(chosen.other.resolve())
    different = [case for case in sorted({*here, *there}) if here.get(case) != there.get(case)]
    for case in different:
        print(f"{case}: {there.get(case)} there, {here.get(case)} here")
    refused = sum(answer.startswith("refused") for answer in here.values())
    print(f"{len(here)} answers, {refused} of them a refusal; {len(different)} differ")
    sys.exit(1 if different else 0)


def answers_of(checkout: Path) -> dict[str, str]:
    """The answers of the veilset in a checkout, computed in a process of its own."""
    printed = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--print"],
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        check=True,
        capture_output=True,
        text=True,
    )
    answered: dict[str, str] = json.loads(printed.stdout)
    return answered


def answers() -> Iterator[tuple[str, str]]:
    """What is asked, and a digest of the answer, or the kind of refusal."""
    from veilset import METHODS, SeededNoise, api  # noqa: PLC0415 - of the checkout on the path
    from veilset.plan import Facts, make_plan  # noqa: PLC0415

    verbs: dict[str, Callable[..., Any]] = {"mine": api.mine, "items": api.items, "publish": api.publish}
    for name, (data, options) in datasets().items():
        for method in METHODS.values():
            verb = verbs[method.task]
            for variant in (method.name, *(f"{method.name}:{each}" for each in method.variants)):
                for setting in SETTINGS if method.task == "mine" else SETTINGS[:2]:
                    for seed in SEEDS:
                        call = {**options, **setting, "method": variant, "noise": SeededNoise(seed)}
                        yield f"{name} {variant} {setting} seed {seed}", answer_of(verb, data, call)
    for rows, items, length in FACTS:
        for setting in SETTINGS[:2]:
            yield (
                f"plan {rows} x {items}, {length:g} long, {setting}",
                answer_of(make_plan, Facts(rows, items, length), setting),
            )


def datasets() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Data by name, with the options that go with it."""
    from veilset import read  # noqa: PLC0415 - of the checkout on the path
    from veilset.datasets import groceries  # noqa: PLC0415

    baskets = groceries(6_000, seed=3)
    persons = [
        {"owner": row % 700, "basket": row, "item": item}
        for row in range(2_000)
        for item in {row % 7, row % 11 + 5, row * row % 13}
    ]
    import polars as pl  # noqa: PLC0415 - what veilset needs anyway, once it is there

    long = read(pl.DataFrame(persons), owner="owner", basket="basket", item="item")
    found: dict[str, tuple[Any, dict[str, Any]]] = {
        name: (read(DATA / f"{name}.dat.zst"), {"public_items": True})
        for name in ("mushroom", "retail")
        if (DATA / f"{name}.dat.zst").exists()
    }
    return {"groceries": (baskets, {}), "persons": (long, {"per_owner": 2, "public_items": True}), **found}


def answer_of(verb: Callable[..., Any], data: Any, call: dict[str, Any]) -> str:  # noqa: ANN401 - any data, any verb
    """A digest of all numbers and itemsets that a call returns; options that a verb does not know are left out."""
    from veilset import VeilsetError  # noqa: PLC0415 - of the checkout on the path

    known = inspect.signature(verb).parameters
    try:
        result = verb(data, **{name: value for name, value in call.items() if name in known})
    except VeilsetError as error:
        return f"refused: {type(error).__name__}"
    document = result.to_dict()
    if hasattr(result, "records"):
        document["records"] = result.to_frame().rows()
    text = json.dumps(without_texts(document), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_texts(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """JSON values without what is written for people."""
    if isinstance(value, dict):
        return {key: without_texts(each) for key, each in value.items() if key not in TEXTS | NEWER}
    if isinstance(value, list | tuple):
        return [without_texts(each) for each in value]
    return value


if __name__ == "__main__":
    main()
