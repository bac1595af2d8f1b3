"""Where few items carry the answer: select them, and ask for their marginals.

Privacy argument. Neighbours differ by one privacy unit of c transactions. What remains buys, one after another:

1. the items: one draw of the exponential mechanism over sets of items, on a score of sensitivity c that is not monotone
   (`ask_frequent_items`); or where items crowd together, a draw for each on its support, monotone with sensitivity c;
2. where they are too many for one marginal, which of their pairs matter: one more draw over sets (`ask_frequent_of`),
   of pairs of the items selected;
3. where most transactions contain the answer, their number once more, whose error is in every support:
   sensitivity c;
4. the marginals of w groups of these items, in each of which a transaction counts in one cell: sensitivity c, 1 / w of
   the rest each.

How items are selected, and how many, follows from earlier answers (`planned.item_selection`); groups follow from the
pairs. All else is post-processing.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from veilset.gate import Curator
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.planned.answer import Answer, most_frequent
from veilset.methods.planned.item_selection import (
    ItemDraws,
    OneMarginal,
    SeveralMarginals,
    choose_selection,
)
from veilset.methods.planned.scouting import DenseScouting, Scouting
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.several_marginals import Measured, averaged
from veilset.wording import counted, ordinal


def ask_dense(curator: Curator, scouting: DenseScouting) -> Answer:
    """Select the items that carry the answer, and ask for their marginals: one, or several."""
    selection = choose_selection(scouting)
    items = ask_carriers(curator, scouting, selection.items)
    if isinstance(selection, OneMarginal):
        return _ask_one_marginal(curator, scouting, items, selection)
    return _ask_several_marginals(curator, scouting, items, selection)


def ask_carriers(curator: Curator, scouting: DenseScouting, draws: ItemDraws) -> tuple[int, ...]:
    """The items that are as frequent as the k-th itemset, or a few more; or as many of the most frequent items."""
    if draws.is_one_draw:
        return curator.ask_frequent_items(
            scouting.compared_rank,
            domain=scouting.domain,
            least=min(scouting.fewest_items, draws.most),
            most=draws.most,
            epsilon=draws.epsilon,
        )
    every_item = Domain(items=scouting.domain.items, max_size=1)
    drawn = curator.ask_best(draws.most, domain=every_item, epsilon=draws.epsilon)
    return tuple(sorted(item for (item,) in drawn.itemsets))


def _ask_one_marginal(
    curator: Curator, scouting: DenseScouting, items: tuple[int, ...], selection: OneMarginal
) -> Answer:
    """The best itemsets by the marginal of all items."""
    scouting = ask_better_number(curator, scouting, epsilon=selection.for_number)
    measured = ask_marginals(curator, scouting, [items], epsilon=selection.for_marginal)
    note = (
        "one transaction contains much of the answer, so it was looked for among "
        f"{counted(len(items), 'item')}, counted together in one marginal; {_carriers(scouting)}"
    )
    return Answer.of(scouting, most_frequent(scouting, measured), (note,))


def _ask_several_marginals(
    curator: Curator, scouting: DenseScouting, items: tuple[int, ...], selection: SeveralMarginals
) -> Answer:
    """Which pairs of the items matter, then the best itemsets by marginals that hold all of these pairs."""
    pairs = curator.ask_frequent_of(
        scouting.compared_rank,
        Itemsets.of(combinations(items, 2)),
        domain=scouting.domain,
        epsilon=selection.for_pairs,
    )
    bases = dense_bases(scouting, items, pairs)
    scouting = ask_better_number(curator, scouting, epsilon=selection.for_number)
    measured = ask_marginals(curator, scouting, bases, epsilon=selection.for_marginals)
    note = (
        "one transaction contains much of the answer, so it was looked for among "
        f"{counted(len(items), 'item')}, counted in {counted(len(bases), 'marginal')} that hold "
        f"{counted(len(pairs), 'frequent pair')} of them; {_carriers(scouting)}"
    )
    return Answer.of(scouting, most_frequent(scouting, measured), (note,))


def ask_better_number(curator: Curator, scouting: DenseScouting, *, epsilon: Fraction) -> DenseScouting:
    """With the number of transactions asked for once more, where that is worth something: the better one counts."""
    if epsilon == 0:
        return scouting
    number = curator.ask_number(epsilon=epsilon)
    return replace(scouting, preliminaries=replace(scouting.preliminaries, number=number))


def dense_bases(scouting: DenseScouting, items: Sequence[int], pairs: Sequence[Itemset]) -> list[Basis]:
    """The groups of items whose marginals are asked for: all items, all pairs."""
    return basis_set(items, pairs, largest=scouting.settings.largest_basis)


def ask_marginals(
    curator: Curator, scouting: Scouting, bases: Sequence[Basis], *, epsilon: Fraction
) -> dict[Itemset, Measured]:
    """Ask for marginals that share epsilon evenly: what they say of every itemset within one of them."""
    marginals = [curator.ask_marginal(basis, epsilon=epsilon / len(bases)) for basis in bases]
    return averaged(
        bases,
        marginals,
        number=scouting.preliminaries.number,
        max_size=scouting.domain.max_size,
        flip=scouting.settings.marginal_flip,
    )


def _carriers(scouting: DenseScouting) -> str:
    """How many items carry the answer, in words."""
    noun = "item is" if scouting.rank == 1 else "items are"
    return f"about {scouting.rank} {noun} as frequent as the {ordinal(scouting.k)} itemset"
