"""`veilset.audit(...)`: try to refute the guarantees, in one call."""

from collections.abc import Callable

from veilset.arguments import exact_number, instance, truth
from veilset.audit.runner import cases, printed_cases
from veilset.audit.self_test import NoiseTest, check_noise
from veilset.audit.verdicts import Verdict
from veilset.errors import BadCall
from veilset.gate import Epsilon, SecureNoise
from veilset.integers import whole
from veilset.results.views import view
from veilset.wording import shown

MOST_SAMPLES = 10_000_000
"""10 million runs on each database: more than anybody waits for."""


def refute(
    subject: str,
    *,
    epsilon: Epsilon = 1,
    printed: bool = False,
    samples: int = 1000,
    seed: int = 7,
    progress: Callable[[int, int], None] | None = None,
) -> list[Verdict] | list[NoiseTest]:
    """Try to refute the guarantees: lower bounds on epsilon, each against the claim.

    Args:
        subject: a name from `veilset.METHODS`, or "questions", "commands", "noise" or "all".
        epsilon: the epsilon that is claimed.
        printed: audit the forms printed in papers that leak, not ours.
        samples: runs on each database; 0 for nothing but what is computed.
        seed: the same seed gives the same figures, but for commands, which run with the noise that ships.
        progress: is told how many cases are done, and how many there are.

    >>> found = refute("svt", samples=0)
    >>> {verdict.verdict for verdict in found if verdict.method == "svt"}
    {'holds'}
    """
    name = instance(
        subject, str, "what to audit", give='the name of a method, or "questions", "noise" or "all"'
    )
    claim = exact_number(epsilon, "epsilon", such_as="0.5")
    runs, first = (
        whole(samples, "samples", least=0, most=MOST_SAMPLES),
        whole(seed, "the seed", least=0, most=2**63 - 1),
    )
    if progress is not None and not callable(progress):
        raise BadCall(f"progress is {shown(progress)}; give a function, or leave it out")
    if truth(printed, "printed"):
        planned = printed_cases(name, epsilon=claim, samples=runs, seed=first)
    elif name == "noise":
        return check_noise(SecureNoise())
    else:
        planned = cases(name, epsilon=claim, samples=runs, seed=first, shell=view("shell"))
    found = []
    for number, case in enumerate(planned, start=1):
        found.append(case())
        if progress is not None:
            progress(number, len(planned))
    return found
