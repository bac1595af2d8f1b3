"""The command that tries to refute the guarantees."""

from typing import Annotated

import typer

from veilset.cli.options import AsJsonOption, EpsilonOption, SeedOption

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
    from veilset.audit.self_test import NoiseTest  # noqa: PLC0415
    from veilset.audit.verb import refute  # noqa: PLC0415
    from veilset.audit.verdicts import Verdict, is_failed  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    with terminal.progress("cases") as progress:
        found = refute(
            subject, epsilon=epsilon, printed=printed, samples=samples, seed=seed, progress=progress
        )
    tests = [each for each in found if isinstance(each, NoiseTest)]
    verdicts = [each for each in found if isinstance(each, Verdict)]
    if as_json:
        terminal.print_json([each.to_dict() for each in found])
    elif tests:
        terminal.print_noise_tests(tests)
    else:
        terminal.print_verdicts(verdicts)
    failed = is_failed(verdicts) or not all(test.is_fine for test in tests)
    if failed:
        raise typer.Exit(BROKEN_CLAIM)
