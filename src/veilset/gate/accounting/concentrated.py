"""What several questions with Gaussian noise cost together: added up as rho, and converted to epsilon once.

Discrete Gaussian noise makes a question rho-zCDP (`gate.zcdp`), and such questions add up to the sum of their rho, also
where each is chosen by the answers before it. All of them together are (E, delta)-private, with the E at which
`gate.zcdp` turns their sum into that delta. So a question costs by how much it raises E: the second at the same price
has less noise than the first. Delta is paid once, by the first.

Between them stand pure questions. One that is epsilon-private has a Renyi divergence of at most epsilon at every order,
so it adds epsilon to the bound on the divergence of all answers at every alpha, and with it to the epsilon of the
conversion, exactly: costs add up in whatever order questions are asked.
"""

from fractions import Fraction

from veilset.errors import BadCall
from veilset.gate.approximate_mechanisms import check_delta
from veilset.gate.mechanisms import check_share
from veilset.gate.zcdp import largest_rho


class GaussianPurse:
    """What the questions with Gaussian noise have cost by now, and what the next one may have.

    >>> purse = GaussianPurse(Fraction(1, 10**9))
    >>> first = purse.rho_for(Fraction(1, 10))
    >>> purse.pay(Fraction(1, 10), first)
    >>> 2.5 < purse.rho_for(Fraction(1, 10)) / first < 3
    True
    """

    def __init__(self, delta: Fraction) -> None:
        check_delta(delta)
        self.delta = delta
        self._epsilon = Fraction(0)
        self._rho = Fraction(0)

    def rho_for(self, epsilon: Fraction) -> Fraction:
        """The rho of a question that raises what all of them cost by epsilon."""
        check_share(epsilon)
        return largest_rho(epsilon=self._epsilon + epsilon, delta=self.delta) - self._rho

    def pay(self, epsilon: Fraction, rho: Fraction) -> None:
        """Add a question, or raise BadCall where it has more than its price allows."""
        if type(rho) is not Fraction or not 0 < rho <= self.rho_for(epsilon):
            raise BadCall(
                "a question with Gaussian noise must have the rho that its price allows; ask for it anew"
            )
        self._epsilon += epsilon
        self._rho += rho
