"""Every number that `planned` was tuned with, in one place.

None of them is private, and none changes what epsilon promises: a share decides how much a question gets of a budget
that refuses what would exceed it. What they change is how well the answer fits; `benchmarks.constants` measures that.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise

from veilset.errors import BadCall
from veilset.methods.shared.cells import FLIPPED
from veilset.methods.shared.marginals import GROWTH, noise_of_marginal

_Number = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The tuning of `planned`; the sentence below a field starts with the number that it has by default.

    >>> Settings(largest_group=10, largest_basis=8).most_carriers
    20
    """

    # Scouting: about which support, and whether few items carry the answer
    max_size: int = 12
    """12 items in an itemset at most, unless the caller allows fewer."""
    share_for_kth: Fraction = Fraction(3, 100)
    """3/100 of epsilon for the support of the k-th itemset."""
    share_for_rank: Fraction = Fraction(1, 20)
    """1/20 of epsilon for the number of items that are as frequent as the k-th itemset."""
    margin: Fraction = Fraction(11, 10)
    """11/10 of k is the rank of the itemset whose support items and pairs are compared with."""
    floor_in_scales: float = 2.5
    """2.5 scales of noise below its noisy value, the k-th support is at its lowest."""
    largest_group: int = 14
    """14 items at most in the marginal, where there is one alone."""
    largest_basis: int = 12
    """12 items at most in each marginal, where there may be several."""
    groups_of_carriers: int = 2
    """2 groups of the largest size have room for all items that carry a dense answer."""
    cap_over_average: float = 1.5
    """1.5 times the part of the answer that an average transaction contains is a cap that transactions fit under."""
    scouted_size: float = 2.5
    """2.5 items are in an itemset of the answer, when marginals are first compared with capped counts."""

    # Item selection, where few items carry the answer
    most_for_selection: Fraction = Fraction(1, 2)
    """1/2 of the remaining epsilon at most for a draw that selects items, or pairs of them."""
    usual_size: int = 3
    """3 items are in the itemset for which the error of a marginal is predicted."""
    noise_of_a_draw: float = 6.0
    """6 scales from the bar is the worst misplaced item, where items are selected in one draw."""
    expected_bases: int = 6
    """6 marginals are expected, before pairs are known."""
    expected_basis_size: int = 8
    """8 items are expected in each of them."""
    crowded: float = 0.8
    """0.8 items, at most, for each scale of noise: one draw selects well where items are no denser than that."""
    steepness: float = 2.0
    """2 parts of the answer are lost for each part of the k-th support by which counts err."""
    lost_with_an_item: float = 0.04
    """0.04 of the answer is lost with each item that is left out."""
    spare_items: int = 3
    """3 items more than the noisy rank says may be as frequent."""
    number_matters_from: float = 0.5
    """0.5 of the transactions contain the k-th itemset, or more: then their number may be asked for once more."""
    number_matters_below: float = 0.03
    """0.03 of the k-th support is an error of marginals below which it is: they find the answer, supports are left."""

    # Marginals (see `methods.shared.marginals`)
    marginal_growth: float = GROWTH
    """0.8: one item more multiplies the variance of supports by 2 to this power."""
    marginal_flip: float = FLIPPED
    """0.05 is the probability that a transaction of a rare cell differs in an item from one of a frequent cell."""

    # Levelwise: single items
    share_for_lengths: Fraction = Fraction(3, 100)
    """3/100 of epsilon for the histogram of lengths."""
    share_for_each_length: Fraction = Fraction(1, 100)
    """1/100 of epsilon for each length of one class, where nearly all transactions are in it."""
    share_for_tilts: Fraction = Fraction(1, 100)
    """1/100 of epsilon for how unlike long and short transactions are, where enough items stand out from noise."""
    share_for_items: Fraction = Fraction(2, 5)
    """2/5 of the remaining epsilon at most for the supports of all items."""
    good_enough: float = 0.25
    """0.25 of the support is an error that is good enough, since what is near the threshold is measured twice."""
    least_part: Fraction = Fraction(3, 10)
    """3/10 of its share is the least that a stage gets, however good its error would be."""
    items_within_noise: float = 2.0
    """2 scales of noise below the k-th support, an item may still matter."""
    items_per_k: int = 2
    """2 items for each of the k itemsets are kept at most."""
    most_items: int = 400
    """400 items are combined to pairs at most; as many are kept, or k where that is more."""
    least_items: int = 2
    """2 items are kept at least, however rare they seem."""

    # Levelwise: candidates of one size
    share_for_largest: Fraction = Fraction(1, 200)
    """1/200 of epsilon for the largest support of a size."""
    share_for_overlap: Fraction = Fraction(3, 200)
    """3/200 of epsilon for a containment histogram."""
    least_share: Fraction = Fraction(1, 10)
    """1/10 of the remaining epsilon at least for the candidates of one size."""
    most_share: Fraction = Fraction(1, 2)
    """1/2 of the remaining epsilon at most for the candidates of one size."""
    weight_of_refinement: float = 1.5
    """1.5 times its cube-root share for the refinement, which has to make up for larger sizes as well."""
    least_histograms_left: int = 10
    """10 times the price of a containment histogram must remain, or candidates are not measured."""
    largest_within_noise: float = 4.0
    """4 scales of noise below the support in question, the most frequent itemset of a size is surely too rare."""
    searched_from: Fraction = Fraction(1, 1000)
    """1/1000 of the transactions: the search for the most frequent itemset of a size goes no lower."""
    candidates_per_k: tuple[int, ...] = (16, 8, 4, 2)
    """16 candidates for each of the k itemsets, or 8, or 4, where the error stays negligible; else 2."""
    negligible: float = 0.1
    """0.1 of the support is an error that allows more candidates."""
    least_likely: float = 0.02
    """0.02 is the chance to be in the answer that a candidate must exceed."""
    worth_extending: float = 0.1
    """0.1 is the chance to be in the answer that the subsets of a larger candidate must exceed."""
    possible_from: float = 0.5
    """0.5 of the support in question: an itemset that cannot reach this much is forgotten."""
    out_of_question: float = 1e-4
    """0.0001 is the chance to reach that below which it is forgotten."""
    values_matter: float = 4.0
    """4 times the support in question is what the cap of candidates is best for: frequent ones are measured once."""
    always_uncertain: float = 0.05
    """0.05 of the answer is taken to be uncertain even where the posterior is not: it is no better than its model."""

    # Refinement
    certain_below: float = 0.02
    """0.02 is the chance to be in the answer below which an itemset is certainly out."""
    certain_above: float = 0.98
    """0.98 is the chance to be in the answer above which an itemset is certainly in."""
    uncertain_per_k: int = 2
    """2 uncertain itemsets for each of the k are measured in the refinement at most."""
    likely: float = 0.5
    """0.5 is the chance with which an itemset is taken to be in the answer."""
    likely_enough: float = 0.25
    """0.25 is the chance above which marginals are made to cover an itemset."""
    most_in_bases: int = 60
    """60 items at most in all marginals together; with more, they cannot win."""
    most_pairs_in_bases: int = 150
    """150 pairs at most to be covered by marginals; with more, they cannot win."""

    # Overlap: how many itemsets a transaction contains
    unevenness: float = 0.4
    """0.4 of what the average itemset loses under a cap is how far the loss of one departs from it, to choose a cap."""
    unevenness_of_roots: float = 0.2
    """0.2 is the same where one of n itemsets counts 1 / sqrt(n), which falls half as fast as 1 / n on a log scale."""
    usual_factor: float = 0.5
    """0.5 is the mean absolute logarithm of how a class of the histogram departs from the model."""
    known_total_within: float = 0.25
    """0.25 is the standard deviation of the logarithm of a total of supports that were measured."""
    expected_total_within: float = 1.0
    """1 is that of the total of candidates, which only their subsets tell of."""
    typical_width: float = 0.65
    """0.65 is the standard deviation of a typical log-normal law of the model."""
    width_within: float = 0.4
    """0.4 is the standard deviation of that width, before any answer."""

    unevenness_of_a_tilt: float = 0.2
    """0.2 of what the average itemset loses under a cap is what the tilt of an itemset does not tell of its loss."""

    # Prior: ln of how much more frequent an itemset is than independence would have it
    usual_lift: float = 0.5
    """0.5 is its usual median; a fit departs from it as far as answers make it."""
    usual_width: float = 0.6
    """0.6 is its usual standard deviation."""
    lift_of_pairs: float = 0.7
    """0.7 is the median for pairs before any was measured."""
    width_of_pairs: float = 1.5
    """1.5 is the standard deviation for pairs before any was measured: they can be anything."""
    lift_of_larger: float = 0.3
    """0.3 is the median for larger itemsets before any of their size was measured."""
    width_of_larger: float = 0.7
    """0.7 is the standard deviation for larger itemsets, which follow from pairs."""
    surprising_share: float = 0.05
    """0.05 of the itemsets follow no usual law: how frequent they are says little about the others."""
    surprising_width: float = 1.5
    """1.5 is the standard deviation for those, whatever the fitted one is."""
    bound_over_rarest: float = 1.1
    """1.1 times the support of its rarest subset is the most that an itemset can have, apart from noise."""
    slack_in_deviations: float = 2.0
    """2 median deviations of single items are added to that for pairs."""

    # The answer
    least_chance: float = 0.5
    """0.5 is the chance to reach a given threshold with which an itemset is released."""

    def __post_init__(self) -> None:
        for name in {field.name for field in fields(self)} - _OF_EITHER_SIGN:
            _check_positive(name, getattr(self, name))
        for name in _PROPER_SHARES:
            if not getattr(self, name) < 1:
                raise BadCall(f"{name} = {getattr(self, name)} is no proper share; give less than 1")
        for lower, upper in _IN_ORDER:
            if getattr(self, lower) > getattr(self, upper):
                raise BadCall(
                    f"{lower} = {getattr(self, lower)} is above {upper} = {getattr(self, upper)}; swap them"
                )
        if any(more <= fewer for more, fewer in pairwise(self.candidates_per_k)):
            raise BadCall(f"candidates_per_k = {self.candidates_per_k} does not fall; give the largest first")

    @property
    def most_carriers(self) -> int:
        """The most items that may carry a dense answer."""
        return self.groups_of_carriers * self.largest_group

    @property
    def noise_of_several_marginals(self) -> float:
        """The error to expect of several marginals before they are known, in scales at epsilon 1."""
        return self.expected_bases * self.noise_of_marginal(self.expected_basis_size, self.usual_size)

    @property
    def noise_of_pairs_and_marginals(self) -> float:
        """The error of a draw of pairs and of what follows, where each has its best share."""
        return (math.sqrt(self.noise_of_a_draw) + math.sqrt(self.noise_of_several_marginals)) ** 2

    def noise_of_marginal(self, items: int, size: int) -> float:
        """The error to expect of an itemset of a size from a marginal of some items, in scales of its noise."""
        return noise_of_marginal(items, size, growth=self.marginal_growth)

    def largest_size(self, allowed: int | None) -> int:
        """The most items in an itemset, given what the caller allows."""
        return min(allowed or self.max_size, self.max_size)

    def prior_law(self, size: int) -> tuple[float, float]:
        """Median and standard deviation of the prior for a size of which nothing was measured."""
        if size == 2:
            return self.lift_of_pairs, self.width_of_pairs
        return self.lift_of_larger, self.width_of_larger


_OF_EITHER_SIGN = {"usual_lift", "lift_of_pairs", "lift_of_larger"}
_PROPER_SHARES = (
    "share_for_kth",
    "share_for_rank",
    "most_for_selection",
    "lost_with_an_item",
    "number_matters_from",
    "number_matters_below",
    "marginal_flip",
    "share_for_lengths",
    "share_for_each_length",
    "share_for_tilts",
    "share_for_items",
    "share_for_largest",
    "share_for_overlap",
    "most_share",
    "searched_from",
    "least_likely",
    "worth_extending",
    "possible_from",
    "out_of_question",
    "always_uncertain",
    "certain_above",
    "likely",
    "likely_enough",
    "surprising_share",
    "least_chance",
)
_IN_ORDER = (
    ("largest_basis", "largest_group"),
    ("least_share", "most_share"),
    ("certain_below", "certain_above"),
    ("least_items", "most_items"),
)


def _check_positive(name: str, value: _Number | Iterable[_Number]) -> None:
    """Raise BadCall unless a number, or each of several, is above 0."""
    numbers = tuple(value) if isinstance(value, Iterable) else (value,)
    if not numbers or not all(number > 0 for number in numbers):
        raise BadCall(f"{name} = {value} is not possible; give numbers above 0")


DEFAULT = Settings()
