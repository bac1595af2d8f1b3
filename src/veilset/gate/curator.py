"""The Curator: the one door between raw data and everybody else.

Every `ask_` method is one question. It pays (or raises BudgetExceeded and has nothing to look at), looks, adds noise
and returns a noisy answer; the charge is the row of the trace. A question's sensitivity is stated for one transaction
and multiplied by the number of transactions that one privacy unit may have.
"""

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, cast

from veilset.gate.accounting.amplification import SampleAccount, SampledEngine, drawable_rate
from veilset.gate.mechanisms import Mechanism
from veilset.gate.questions.counts import CountQuestions
from veilset.gate.questions.partitions import PartitionQuestions
from veilset.gate.questions.prefix_tree import PrefixTreeQuestions
from veilset.gate.questions.selections import SelectionQuestions

if TYPE_CHECKING:
    from veilset.raw.engines import Engine


class Curator(CountQuestions, SelectionQuestions, PrefixTreeQuestions, PartitionQuestions):
    """Answers questions about private transactions within a budget: counts, ranks, and whole structures."""

    def on_sample(self, rate: Fraction, *, epsilon: Fraction) -> "Curator":
        """A curator over a random sample, drawn once; what it is asked costs at most epsilon here, all together.

        Every transaction is in the sample with probability `rate`, which is public or paid for. Its questions
        cost what they say on the sample and less here: see `gate.accounting.amplification`. Its budget tells what
        they may cost on the sample, its trace rows stand among the charges of this curator. The first of them that
        this curator's budget pays for draws the sample; until then there is none.
        """
        drawn = drawable_rate(rate)
        sample = SampledEngine(self._alphabet, rate=drawn, draw=partial(self._noise.sample_keys, rate=drawn))

        def pay(question: str, mechanism: Mechanism) -> None:
            sample.draw_from(self._pay(question, mechanism))

        account = SampleAccount(
            self.budget, rate=drawn, transactions=self.unit.transactions, epsilon=epsilon, pay=pay
        )
        return Curator(cast("Engine", sample), budget=account, noise=self._noise, unit=self.unit)
