"""The command that tries to refute the guarantees."""

from typing import TYPE_CHECKING, Annotated

import typer

from veilset.cli.options import AsJsonOption, EpsilonOption, SeedOption

if TYPE_CHECKING:
    from veilset.audit.verdicts import Verdict

BROKEN_CLAIM = 1
"""The exit code of an audit that found a broken claim."""


def audit_command(
    subject: Annotated[
        str, typer.Argument(metavar="WHAT", help="A method, questions, commands, noise or all.")
    ],
    epsilon: EpsilonOption = "1",
    printed: Annotated[
        bool, typer.Option("--printed", help="The forms printed in papers that leak, not ours.")
    ] = False,
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="Runs on each database; 0: only what is computed.")
    ] = 1000,
    seed: SeedOption = 7,
    as_json: AsJsonOption = False,
) -> None:
    """Try to refute the guarantees: a lower bound on epsilon, against the claim.

    First with probabilities that are computed, of transcripts on pairs of neighbouring databases; then by sampling.

    Exit code 1 where a claim is BROKEN, as those of printed forms are, or where a control, which must be, is not.
    Commands are run with the noise that ships, which no seed repeats, and only as often as their claim needs.
    """
    from veilset import SecureNoise  # noqa: PLC0415
    from veilset.audit import self_test  # noqa: PLC0415
    from veilset.audit.verdicts import is_failed  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    if subject == "noise" and not printed:
        tests = self_test.check_noise(SecureNoise())
        terminal.print_json([test.to_dict() for test in tests]) if as_json else terminal.print_noise_tests(
            tests
        )
        failed = not all(test.is_fine for test in tests)
    else:
        found = _verdicts(subject, epsilon=epsilon, printed=printed, samples=samples, seed=seed)
        terminal.print_json([verdict.to_dict() for verdict in found]) if as_json else terminal.print_verdicts(
            found
        )
        failed = is_failed(found)
    if failed:
        raise typer.Exit(BROKEN_CLAIM)


def _verdicts(subject: str, *, epsilon: str, printed: bool, samples: int, seed: int) -> "list[Verdict]":
    """Run the cases of an audit, one after another."""
    from veilset.audit import runner  # noqa: PLC0415
    from veilset.cli import run_here  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    if printed:
        planned = runner.printed_cases(subject, epsilon=epsilon, samples=samples, seed=seed)
    else:
        planned = runner.cases(subject, epsilon=epsilon, samples=samples, seed=seed, shell=run_here)
    found = []
    with terminal.progress("cases") as progress:
        for case in planned:
            found.append(case())
            progress(len(found), len(planned))
    return found
