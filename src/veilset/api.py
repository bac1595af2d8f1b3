"""The verbs of the library: each opens a Curator on transactions, runs one method, returns its release."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, overload

import numpy as np

from veilset.arguments import a_path, either
from veilset.errors import BadCall
from veilset.gate import Curator, DatasetAccount, Delta, Epsilon, Noise, SecureNoise, tells_spent
from veilset.integers import whole
from veilset.itemsets import Itemsets
from veilset.methods import Method, find_method
from veilset.methods.shared.preliminaries import SHARE_FOR_NUMBER
from veilset.opening import Access, ItemChoice, as_transactions
from veilset.raw.read import over
from veilset.raw.read.vocabulary import AlphabetSource
from veilset.raw.transactions import Transactions
from veilset.request import MOST_IN_RELEASE, PerOwner, PublishRequest, Request, Support
from veilset.results.estimates import Estimates
from veilset.results.promise import Origin
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.taxonomy import FAN_OUT, Taxonomy

NOTHING_NAMED = "no item is held by enough transactions to be named at this epsilon and delta"
NO_ITEMS = "there are no items"


def mine(  # noqa: PLR0913 - all keyword-only, each documented
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon | None = None,
    k: int | None = None,
    min_support: Support | None = None,
    method: str | None = None,
    max_size: int | None = None,
    max_len: int | None = None,
    alphabet: AlphabetSource | None = None,
    public_items: bool = False,
    delta: Delta | None = None,
    per_owner: PerOwner | None = None,
    public_count: int | None = None,
    transactions: int | None = None,
    noise: Noise | None = None,
    account: DatasetAccount | None = None,
) -> Release:
    """Frequent itemsets under differential privacy.

    Which items may be named is a choice that is demanded: exactly one of `alphabet`, `public_items` and `delta`, unless
    the data was read with an alphabet.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget of this release; 0.1 means one tenth. Smaller protects more. May be left out where
            the account has an allowance for each release.
        k: how many itemsets, at most 10,000.
        min_support: only itemsets at least this frequent; below 1 a share of the transactions, else a count. 1.0
            could mean both, and is refused.
        method: a name from `veilset.METHODS`.
        max_size: the most items in an itemset.
        max_len: another name of `max_size`: mlxtend's.
        alphabet: a public list of the items, or the path of a file of them; other items are left out.
        public_items: True where the items of this data are public anyway. The promise is conditional on that.
        delta: find the items privately; the probability with which the promise may fail, such as 1e-9.
        per_owner: how many transactions of one person may count, where persons have several; "auto" to have it
            chosen privately, for up to 5 % of epsilon.
        public_count: the number of transactions, where it is public anyway. Otherwise a small share of
            epsilon pays for a noisy one.
        transactions: another name of `public_count`.
        noise: `SeededNoise(seed)` for tests and evaluation; the release is then not private.
        account: who pays: a dataset of a ledger, `veilset.Ledger(url).dataset(name)`. All that the release may cost is
            reserved there first.

    >>> from veilset import SeededNoise
    >>> baskets = [["bread", "milk"]] * 900 + [["beer"]] * 50
    >>> release = mine(baskets, epsilon=1, k=3, public_items=True, noise=SeededNoise(7))
    >>> [found.items for found in release.itemsets]
    [('bread',), ('milk',), ('bread', 'milk')]
    >>> release.spent, release.is_private
    (Fraction(1, 1), False)
    """
    request = Request.of(k=k, min_support=min_support, max_size=either(max_size=max_size, max_len=max_len))
    access = Access(
        epsilon=epsilon,
        noise=SecureNoise() if noise is None else noise,
        items=ItemChoice(alphabet, public_items, delta),
        per_owner=per_owner,
        transactions=either(public_count=public_count, transactions=transactions),
        account=account,
    )
    return run_method(find_method(method, task="mine"), request, access, data)


def items(  # noqa: PLR0913 - as in `mine`
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon | None = None,
    k: int,
    method: str | None = None,
    alphabet: AlphabetSource | None = None,
    public_items: bool = False,
    delta: Delta | None = None,
    per_owner: PerOwner | None = None,
    public_count: int | None = None,
    transactions: int | None = None,
    noise: Noise | None = None,
    account: DatasetAccount | None = None,
) -> Release:
    """The k most frequent items under differential privacy: itemsets of one item each.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget of this release, as in `mine`.
        k: how many items, at most 10,000.
        method: a name from `veilset.METHODS` whose task is "items".
        alphabet: a public list of the items, or the path of a file of them; other items are left out.
        public_items: True where the items of this data are public anyway; see `mine`.
        delta: find the items privately; see `mine`.
        per_owner: how many transactions of one person may count, where persons have several; "auto" to have it
            chosen privately, for up to 5 % of epsilon.
        public_count: the number of transactions, where it is public anyway.
        transactions: another name of `public_count`.
        noise: `SeededNoise(seed)` for tests and evaluation; the release is then not private.
        account: who pays: a dataset of a ledger, `veilset.Ledger(url).dataset(name)`. All that the release may cost is
            reserved there first.

    >>> from veilset import SeededNoise
    >>> baskets = [["bread", "milk"]] * 900 + [["beer"]] * 300
    >>> release = items(baskets, epsilon=1, k=2, public_items=True, noise=SeededNoise(7))
    >>> sorted(found.items for found in release.itemsets)
    [('bread',), ('milk',)]
    """
    request = Request.of(k=whole(k, "k, the number of items,", least=1, most=MOST_IN_RELEASE), max_size=1)
    access = Access(
        epsilon=epsilon,
        noise=SecureNoise() if noise is None else noise,
        items=ItemChoice(alphabet, public_items, delta),
        per_owner=per_owner,
        transactions=either(public_count=public_count, transactions=transactions),
        account=account,
    )
    return run_method(find_method(method, task="items"), request, access, data)


@overload
def run_method(method: Method, request: Request, access: Access, data: object) -> Release: ...


@overload
def run_method(method: Method, request: PublishRequest, access: Access, data: object) -> Published: ...


def run_method(
    method: Method, request: Request | PublishRequest, access: Access, data: object
) -> Release | Published:
    """Run one method on a Curator of its own; it may spend what is left of epsilon by then.

    Where a ledger pays, all that may be spent is reserved in it before, and settled after.
    """
    held, asked = as_transactions(data, access.items.alphabet), request.to_dict()
    with access.spending(held, task=method.task, method=method.name, request=asked) as spending:
        curator = access.curator_for(request, held, spending.budget)
        with tells_spent(lambda: curator.budget.charges):
            if curator.alphabet_size == 0:
                result = _without_items(method, request, curator)
            else:
                result = method.run(curator, request, epsilon=curator.budget.left)
        if isinstance(result, Release):
            spending.facts.update(_public_facts(result, items=curator.alphabet_size))
    return result.made(Origin(datetime.now(UTC).date().isoformat(), asked, spending.record))


def _public_facts(release: Release, *, items: int) -> dict[str, float]:
    """About how much data there is, by what a release says; for forecasts of later ones."""
    rows = max(release.transactions.value, 1)
    held = sum(found.support for found in release.itemsets if len(found.items) == 1)
    return {"rows": rows, "items": items, "length": max(held / rows, 0.1)}


def _without_items(
    method: Method, request: Request | PublishRequest, curator: Curator
) -> Release | Published:
    """What there is to say of data without an item that may be named: how many transactions it has, at most."""
    notes = (NOTHING_NAMED if curator.alphabet_is_found else NO_ITEMS,)
    if isinstance(request, PublishRequest):
        nothing = Itemsets.of([]), np.empty(0, np.int64)
        return Published.of(curator, *nothing, method=method.name, notes=notes)
    number = curator.ask_number(epsilon=curator.budget.total * SHARE_FOR_NUMBER)
    return Release.of(curator, Estimates.none(), method=method.name, number=number, notes=notes)


def publish(  # noqa: PLR0913 - as in `mine`
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    epsilon: Epsilon | None = None,
    method: str | None = None,
    fan_out: int = FAN_OUT,
    taxonomy: str | Path | None = None,
    alphabet: AlphabetSource | None = None,
    public_items: bool = False,
    delta: Delta | None = None,
    per_owner: PerOwner | None = None,
    noise: Noise | None = None,
    account: DatasetAccount | None = None,
) -> Published:
    """A whole dataset under differential privacy: mining it costs nothing more.

    Args:
        data: what `veilset.read` returned, or anything that it reads.
        epsilon: the privacy budget; all of it is spent. May be left out where the account has an allowance.
        method: a name from `veilset.METHODS`, of the task "publish".
        fan_out: for `diffpart`, how many items, and groups of items, make a group; groups follow the alphabet's order.
        taxonomy: for `diffpart`, a file with a public hierarchy of the items, such as product categories, to follow in
            place of that order. One line an item: its name and its categories, the nearest first.
        alphabet: a public list of the items, or the path of a file of them; other items are left out.
        public_items: True where the items of this data are public anyway; see `mine`.
        delta: find the items privately; see `mine`. Does not go with a taxonomy.
        per_owner: how many transactions of one person may count, where persons have several; "auto" to have it
            chosen privately, for up to 5 % of epsilon.
        noise: `SeededNoise(seed)` for tests and evaluation; the dataset is then not private.
        account: who pays: a dataset of a ledger; see `mine`.

    >>> from veilset import SeededNoise
    >>> baskets = [["bread", "milk"]] * 900 + [["beer"]] * 400
    >>> published = publish(baskets, epsilon=1, public_items=True, noise=SeededNoise(7))
    >>> [items for items, copies in published.to_frame().iter_rows() if copies > 100]
    [['beer'], ['bread', 'milk']]
    >>> published.spent, published.is_private
    (Fraction(1, 1), False)
    """
    request, chosen, held = (
        PublishRequest(fan_out=fan_out),
        find_method(method, task="publish"),
        as_transactions(data),
    )
    if taxonomy is not None:
        a_path(taxonomy, "taxonomy")
        if delta is not None:
            raise BadCall("a taxonomy lists the items in public; give it as the alphabet, too, and no delta")
        listed = held if alphabet is None else over(held, alphabet)
        request = replace(request, taxonomy=Taxonomy.read(taxonomy, listed.alphabet.names, fan_out=fan_out))
    access = Access(
        epsilon=epsilon,
        noise=SecureNoise() if noise is None else noise,
        items=ItemChoice(alphabet, public_items, delta),
        per_owner=per_owner,
        account=account,
    )
    return run_method(chosen, request, access, held)
