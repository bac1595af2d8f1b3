"""Who pays for a release: the options that name a dataset of a ledger, and where the ledger is found."""

import hashlib
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veilset.cli.signatures import as_command, keyword_only, parameters_of
from veilset.errors import BadCall

if TYPE_CHECKING:
    from veilset import Published, Release
    from veilset.gate import DatasetAccount, LedgerRefusal

VARIABLE = "VEILSET_LEDGER"
SETTINGS = (("veilset.toml", ()), ("pyproject.toml", ("tool", "veilset")))
"""Files in which `ledger = "sqlite:///budget.db"` may stand, and under which headings; in this folder or above it."""

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help=f"The ledger, such as sqlite:///budget.db; or {VARIABLE}, or veilset.toml.",
    ),
]


def pays_from_ledger(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes an `account` the options that name one; it is looked up before the data is read."""
    paying = parameters_of(_account)
    own = [parameter for parameter in parameters_of(command) if parameter.name != "account"]

    def with_account(**options: object) -> None:
        from veilset.gate import LedgerRefusal  # noqa: PLC0415

        account = _account(**{parameter.name: options.pop(parameter.name) for parameter in paying})  # type: ignore[arg-type]
        try:
            _check_affordable(account, options)
            command(account=account, **options)
        except LedgerRefusal as refusal:
            raise type(refusal)(
                f"{refusal}; {_what_is_left_buys(refusal, options)}", left=refusal.left, facts=refusal.facts
            ) from None

    data, *rest = own
    return as_command(with_account, command, [data, *keyword_only([*rest, *paying])])


def _account(
    *,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Whose budget in the ledger pays.")
    ] = None,
    ledger: LedgerOption = None,
    partition: Annotated[
        str, typer.Option(metavar="NAME", help="The part of the people it is about; parts must not overlap.")
    ] = "",
    reference: Annotated[
        str | None, typer.Option(metavar="R", help="Names the release: a second one is refused.")
    ] = None,
    same_people_as: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another dataset with people of this one: it pays, too."),
    ] = None,
    different_people: Annotated[
        bool, typer.Option("--different-people", help="Declare that data read before is about others here.")
    ] = False,
) -> "DatasetAccount | None":
    """The options of every command that a ledger may pay for."""
    if dataset is None:
        if ledger or partition or reference or same_people_as or different_people:
            raise BadCall("which dataset of the ledger pays? Name it with --dataset")
        return None
    from veilset import Ledger  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    account = Ledger(ledger_address(ledger), must_exist=True).dataset(dataset, warn=terminal.warn)
    return account.for_release(
        partition=partition,
        reference=reference,
        same_people_as=same_people_as,
        different_people=different_people,
    )


def _check_affordable(account: "DatasetAccount | None", options: dict[str, Any]) -> None:
    """Refuse what cannot be paid before the data is read; whether it still can be is checked once more then."""
    from fractions import Fraction  # noqa: PLC0415

    from veilset.gate import Amount, exact_delta, exact_epsilon  # noqa: PLC0415

    if account is None:
        if options["epsilon"] is None:
            raise BadCall(
                "how much may this release cost? Give --epsilon, such as 0.5 or 1 (smaller protects more), or a "
                "--dataset of a ledger that has an allowance for each release"
            )
        return
    epsilon, delta = options["epsilon"], options["delta"]
    account.check_affordable(
        Amount(
            account.epsilon_for_release() if epsilon is None else exact_epsilon(epsilon),
            Fraction(0) if delta is None else exact_delta(delta),
        )
    )


def _what_is_left_buys(refusal: "LedgerRefusal", options: dict[str, Any]) -> str:
    """What to expect of a release at what is left: by what earlier releases told, at no cost."""
    from veilset.gate import LEAST_EPSILON, exact_delta, readable  # noqa: PLC0415

    left, k = refusal.left.epsilon, options.get("k")
    if left < LEAST_EPSILON:
        return "wait for other data, or have its owner raise the total (veilset ledger raise)"
    offer = f"--epsilon {readable(left)} can still be spent"
    if options.get("delta") is not None and exact_delta(options["delta"]) > refusal.left.delta:
        return f"{offer}, with {_delta_left(refusal)}: name the items by --alphabet, or have the total of delta raised"
    if not refusal.facts or not isinstance(k, int):
        return offer
    from veilset.plan import Facts, make_plan  # noqa: PLC0415

    facts = refusal.facts
    items = int(facts["items"])
    try:
        expected = make_plan(
            Facts(int(facts["rows"]), items, min(facts["length"], items)),
            k=k,
            epsilon=left,
            max_size=options.get("max_size", 1),
            most_methods=1,
        )
    except BadCall:  # facts that no model goes with
        return offer
    best = expected.methods[0].forecast
    return f"{offer}, and would find about {best.found:.0%} of the top {k}, to within ± {best.half_width:,}"


def _delta_left(refusal: "LedgerRefusal") -> str:
    return f"a delta of {float(refusal.left.delta):g}" if refusal.left.delta else "no delta"


def ledger_address(given: str | None) -> str:
    """Where the ledger is: as it was given, by the environment, or by a file of settings in this folder or above."""
    address = given or os.environ.get(VARIABLE) or _address_in_settings(Path.cwd())
    if address is None:
        raise BadCall(
            f"where is the ledger? Give --ledger sqlite:///budget.db, or set {VARIABLE}, or write "
            '`ledger = "sqlite:///budget.db"` into veilset.toml'
        )
    return address


def _address_in_settings(folder: Path) -> str | None:
    for above in (folder, *folder.parents):
        for name, headings in SETTINGS:
            if not (above / name).is_file():
                continue
            try:
                values: Any = tomllib.loads((above / name).read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError):
                raise BadCall(f"{above / name} is not a TOML file; mend it, or give --ledger") from None
            for heading in headings:
                values = values.get(heading, {})
            if isinstance(values.get("ledger"), str):
                return _beside(values["ledger"], above)
    return None


def _beside(address: str, folder: Path) -> str:
    """An address in a file of settings: a path that is relative starts at its folder."""
    path = (
        address.removeprefix("sqlite:///")
        if address.startswith("sqlite:///") or "://" not in address
        else None
    )
    if path is None or Path(path).is_absolute():
        return address
    return f"sqlite:///{folder / path}"


def record_files(account: object, found: "Release | Published", *paths: Path | None) -> None:
    """Write into the ledger which files a release went to."""
    from veilset.errors import LedgerUnavailable  # noqa: PLC0415
    from veilset.gate import DatasetAccount  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    if not isinstance(account, DatasetAccount) or found.ledger is None:
        return
    for path in paths:
        if path is not None:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            try:
                account.record_file(found.ledger.reference, name=path.name, sha256=digest)
            except LedgerUnavailable as error:
                terminal.warn(f"{error}. The release is paid for and written; its file is not in the ledger")
