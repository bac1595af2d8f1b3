"""The verbs of the library: each opens a Curator on transactions, runs one method, returns its release."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from veilset.errors import BadCall
from veilset.gate import (
    LEAST_EPSILON,
    Budget,
    Curator,
    Epsilon,
    Noise,
    PrivacyUnit,
    SecureNoise,
    exact_epsilon,
)
from veilset.methods import Method, find_method
from veilset.raw.cuts.owners import keep_per_owner
from veilset.raw.engines.local import LocalEngine
from veilset.raw.read import read
from veilset.raw.transactions import Transactions
from veilset.request import MOST_TRANSACTIONS, PublishRequest, Request, Support
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.taxonomy import FAN_OUT, Taxonomy


def mine(  # noqa: PLR0913 - all keyword-only, each documented
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon,
    k: int | None = None,
    min_support: Support | None = None,
    method: str | None = None,
    max_size: int | None = None,
    per_owner: int | None = None,
    transactions: int | None = None,
    noise: Noise | None = None,
) -> Release:
    """Frequent itemsets under epsilon-differential privacy.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget of this release; 0.1 means one tenth. Smaller protects more.
        k: how many itemsets.
        min_support: only itemsets at least this frequent; below 1 a share of the transactions, else a count.
        method: a name from `veilset.METHODS`.
        max_size: the most items in an itemset.
        per_owner: how many transactions of one person may count, where persons have several.
        transactions: the number of transactions, where it is public anyway. Otherwise a small share of
            epsilon pays for a noisy one.
        noise: `SeededNoise(seed)` for tests and evaluation; the release is then not private.

    >>> from veilset import SeededNoise
    >>> release = mine([["bread", "milk"]] * 900 + [["beer"]] * 50, epsilon=1, k=3, noise=SeededNoise(7))
    >>> [found.items for found in release.itemsets]
    [('bread',), ('milk',), ('bread', 'milk')]
    >>> release.spent, release.is_private
    (Fraction(1, 1), False)
    """
    request = Request.of(k=k, min_support=min_support, max_size=max_size)
    chosen = find_method(method, task="mine")
    return _release(
        chosen, request, data, epsilon=epsilon, per_owner=per_owner, transactions=transactions, noise=noise
    )


def items(
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon,
    k: int,
    method: str | None = None,
    per_owner: int | None = None,
    transactions: int | None = None,
    noise: Noise | None = None,
) -> Release:
    """The k most frequent items under epsilon-differential privacy: itemsets of one item each.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget of this release, as in `mine`.
        k: how many items.
        method: a name from `veilset.METHODS` whose task is "items".
        per_owner: how many transactions of one person may count, where persons have several.
        transactions: the number of transactions, where it is public anyway.
        noise: `SeededNoise(seed)` for tests and evaluation; the release is then not private.

    >>> from veilset import SeededNoise
    >>> release = items([["bread", "milk"]] * 900 + [["beer"]] * 300, epsilon=1, k=2, noise=SeededNoise(7))
    >>> sorted(found.items for found in release.itemsets)
    [('bread',), ('milk',)]
    """
    request = Request.of(k=k, max_size=1)
    chosen = find_method(method, task="items")
    return _release(
        chosen, request, data, epsilon=epsilon, per_owner=per_owner, transactions=transactions, noise=noise
    )


def _release(
    method: Method,
    request: Request,
    data: Transactions | Any,  # noqa: ANN401
    *,
    epsilon: Epsilon,
    noise: Noise | None,
    per_owner: int | None,
    transactions: int | None,
) -> Release:
    """Run one method on a Curator of its own; it may spend all of epsilon."""
    curator = open_curator(
        data, epsilon=epsilon, per_owner=per_owner, transactions=transactions, noise=noise or SecureNoise()
    )
    return method.run(curator, request, epsilon=curator.budget.total)


def publish(
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon,
    method: str | None = None,
    fan_out: int = FAN_OUT,
    taxonomy: str | Path | None = None,
    per_owner: int | None = None,
    noise: Noise | None = None,
) -> Published:
    """A whole dataset under epsilon-differential privacy: mining it costs nothing more.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget; all of it is spent.
        method: a name from `veilset.METHODS`, of the task "publish".
        fan_out: how many items, and groups of items, make a group; groups follow the alphabet's order.
        taxonomy: a file with a public hierarchy of the items, such as product categories, to follow in place
            of that order. One line an item: its name and its categories, the nearest first.
        per_owner: how many transactions of one person may count, where persons have several.
        noise: `SeededNoise(seed)` for tests and evaluation; the dataset is then not private.

    >>> from veilset import SeededNoise
    >>> published = publish([["bread", "milk"]] * 900 + [["beer"]] * 400, epsilon=1, noise=SeededNoise(7))
    >>> [items for items, copies in published.to_frame().iter_rows() if copies > 100]
    [['beer'], ['bread', 'milk']]
    >>> published.spent, published.is_private
    (Fraction(1, 1), False)
    """
    request = PublishRequest(fan_out=fan_out)
    chosen = find_method(method, task="publish")
    held = _as_transactions(data)
    if taxonomy is not None:
        request = replace(request, taxonomy=Taxonomy.read(taxonomy, held.alphabet.names, fan_out=fan_out))
    curator = open_curator(held, epsilon=epsilon, per_owner=per_owner, noise=noise or SecureNoise())
    return chosen.run(curator, request, epsilon=curator.budget.total)


def open_curator(
    data: Transactions | Any,  # noqa: ANN401
    *,
    epsilon: Epsilon,
    noise: Noise,
    per_owner: int | None = None,
    transactions: int | None = None,
    threads: int | None = None,
) -> Curator:
    """A Curator over transactions, with a budget of epsilon; counts on all cores, or on `threads` of them."""
    budget = Budget(exact_epsilon(epsilon))
    if transactions is not None and not 0 <= transactions <= MOST_TRANSACTIONS:
        raise BadCall(
            f"{transactions} transactions are not possible; give the public number, or leave it out"
        )
    held = _as_transactions(data)
    unit = _unit_of(held, per_owner)
    if budget.total / unit.transactions < LEAST_EPSILON:
        raise BadCall(
            f"epsilon {budget.total} for {unit.transactions} transactions of one person is less than "
            f"{LEAST_EPSILON} for each; give more, or let fewer count"
        )
    if held.owners is not None:
        held = keep_per_owner(held, unit.transactions, noise.keys(len(held)))
    engine = LocalEngine(held, threads=threads)
    return Curator(engine, budget=budget, noise=noise, unit=unit, public_number=transactions)


def _as_transactions(data: Transactions | Any) -> Transactions:  # noqa: ANN401
    return data if isinstance(data, Transactions) else read(data)


def _unit_of(held: Transactions, per_owner: int | None) -> PrivacyUnit:
    """Who is protected, and with how many transactions each."""
    if held.owners is None:
        if per_owner is not None:
            raise BadCall("a limit per owner was given, but the data names no owner of several transactions")
        return PrivacyUnit("transaction", 1)
    if per_owner is None or per_owner < 1:
        raise BadCall(
            "one person may own several transactions here: say how many of each may count (at least 1) with "
            "per_owner, on the command line --per-owner; noise grows with it"
        )
    return PrivacyUnit("owner", per_owner)
