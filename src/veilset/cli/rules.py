"""The command that takes a release and looks at no data: association rules from what was published."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilset.cli.decorators import warn_if_conditional
from veilset.cli.options import AsJsonOption, ForceOption, check_can_write
from veilset.errors import BadCall

if TYPE_CHECKING:
    from veilset import Release


def rules_command(
    path: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="What --out of mine wrote: .json, .csv or .parquet.")
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="M",
            help="confidence, lift, leverage, conviction, zhangs_metric, support, "
            "'antecedent support' or 'consequent support'.",
        ),
    ] = "confidence",
    min_threshold: Annotated[
        float | None,
        typer.Option("--min-threshold", metavar="T", help="What the metric must reach; 0.5 for confidence."),
    ] = None,
    surely: Annotated[
        bool, typer.Option("--surely", help="The low end of the 95 % interval must reach it.")
    ] = False,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Only the N highest; all if left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F", help="Write the rules: .json, .csv or .parquet.")
    ] = None,
    force: ForceOption = False,
    as_json: AsJsonOption = False,
) -> None:
    """Association rules of a release, with 95 % intervals. Costs nothing: no data is read."""
    from veilset import Release  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415
    from veilset.results.rule_files import RULE_FILES, rules_to_json, save_rules  # noqa: PLC0415
    from veilset.results.rules import thresholds_of  # noqa: PLC0415

    if top is not None and top < 1:
        raise BadCall(f"the {top} highest rules are none; give --top 1 or more, or leave it out")
    check_can_write(out, suffixes=RULE_FILES, data=path, replaces=force)
    found = Release.load(path)
    rules = found.rules(metric=metric, min_threshold=min_threshold, surely=surely)
    shown = rules if top is None else rules.head(top)
    if out is not None:
        save_rules(shown, out)
    warn_if_conditional(found)
    if as_json:
        least = thresholds_of(metric, min_threshold, None)[metric]
        asked = {"metric": metric, "min_threshold": least, "surely": surely}
        terminal.print_json(
            {
                "rules": rules_to_json(shown),
                **asked,
                "is_mostly_noise": found.is_mostly_noise,
                **found.account(),
            }
        )
    elif rules.height > 0:
        terminal.print_rules(shown, found, metric=metric, number=rules.height)
    else:
        terminal.print_line(_why_none(found, metric, surely=surely))


def _why_none(found: "Release", metric: str, *, surely: bool) -> str:
    """What to do where no rule reaches the threshold."""
    every = found.rules(metric=metric, min_threshold=-float("inf"))
    if every.height == 0:
        return (
            "There is no rule: no released itemset consists of two that were released, too. "
            "More of them come with a larger --k or a smaller --min-support of `veilset mine`."
        )
    column = f"{metric}_low" if surely else metric
    what = f"low end of the {metric}" if surely else metric
    return (
        f"No rule reaches the threshold: the highest {what} of {every.height:,} is {max(every[column].to_list()):.4g}. "
        "Give a smaller --min-threshold."
    )
