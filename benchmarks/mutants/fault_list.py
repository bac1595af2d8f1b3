"""Faults made by hand: mistakes that somebody could make in the gate, each with what it would leak.

A fault is a module, the function or class where it stands, a short text that stands there exactly once, what takes its
place, and what then leaks. Texts are short so that they are easily moved to where the code has gone: how long their
lines are and how they are broken does not matter.
"""

from dataclasses import dataclass

NONE = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """`original`, which stands once within `inside` of a module, becomes `replacement`; then `leak` leaks."""

    module: str
    inside: str
    original: str
    replacement: str
    leak: str

    @property
    def name(self) -> str:
        """What is changed, in a line."""
        return f"{self.module} {self.inside}: {self.original} -> {self.replacement or 'nothing'}"


_COUNTS, _SELECTIONS = "gate/questions/counts.py", "gate/questions/selections.py"
_BASE, _PARTITIONS, _TREE = (
    "gate/questions/base.py",
    "gate/questions/partitions.py",
    "gate/questions/prefix_tree.py",
)
_MECHANISMS, _NOISE, _ZCDP = "gate/mechanisms.py", "gate/noise.py", "gate/zcdp.py"
_BUDGET, _CHAINS = "gate/accounting/budget.py", "gate/accounting/parallel.py"
_SAMPLE, _PURSE = "gate/accounting/amplification.py", "gate/accounting/concentrated.py"
_FLOORED, _SVT = "gate/selection/floored_supports.py", "gate/selection/sparse_vector.py"
_ZEROS, _TEST, _SUBSETS = (
    "gate/selection/zero_counts.py",
    "gate/selection/noisy_test.py",
    "gate/selection/subsets.py",
)
_NAMING, _UNNAMED = "gate/selection/item_discovery.py", "gate/discovery.py"
_TRUNCATION = "raw/cuts/truncation.py"

MONOTONE = "a draw whose scores can move apart costs twice the epsilon that was paid"
PERSONS = "a person of c transactions is protected c times less than promised"

FAULTS: tuple[Fault, ...] = (
    # A draw that is not monotone, priced as if it were.
    Fault(_SELECTIONS, "ask_matching_rank", "is_monotone=False", "is_monotone=True", MONOTONE),
    Fault(_SELECTIONS, "ask_frequent_items", "is_monotone=False", "is_monotone=True", MONOTONE),
    Fault(_SELECTIONS, "ask_frequent_of", "is_monotone=False", "is_monotone=True", MONOTONE),
    Fault(_MECHANISMS, "Exponential.rate", "(1 if self.is_monotone else 2)", "1", MONOTONE),
    # The number of transactions of a person, forgotten in each place.
    Fault(_BASE, "_noisy", "sensitivity * self.unit.transactions", "sensitivity", PERSONS),
    Fault(_SELECTIONS, "ask_best", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_best_of", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_matching_rank", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_frequent_items", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_frequent_of", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_truncating_length", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_above_kth", "self.unit.transactions", "1", PERSONS),
    Fault(_SELECTIONS, "ask_search", "self.unit.transactions", "1", PERSONS),
    Fault(
        _SELECTIONS,
        "ask_above_kth",
        "AboveThreshold(k, self.unit.transactions",
        "AboveThreshold(k, 1",
        "nothing, but the trace states a sensitivity that was not used",
    ),
    Fault(_TREE, "ask_prefix_tree", "depth * self.unit.transactions", "depth", PERSONS),
    Fault(
        _PARTITIONS, "ask_partitions", "ChainedLaplace(self.unit.transactions", "ChainedLaplace(1", PERSONS
    ),
    Fault(_COUNTS, "ask_root_counts", "most * self.unit.transactions**2", "most", PERSONS),
    Fault(
        _COUNTS,
        "ask_root_counts",
        "self.unit.transactions**2",
        "self.unit.transactions",
        "a person of c transactions is protected by a root of c less than promised",
    ),
    Fault(
        "gate/curator.py",
        "on_sample",
        "self.unit.transactions",
        "1",
        "the price of a sample is that of one transaction",
    ),
    Fault(
        _SAMPLE,
        "chance_of_a_unit",
        '1 - (1 - rate) ** whole(transactions, "the number of transactions of a unit", least=1)',
        "rate",
        "the same",
    ),
    Fault(_UNNAMED, "ask_alphabet", "self.unit.transactions", "1", PERSONS),
    Fault(_NAMING, "naming_noise", "transactions * WHOLE_WEIGHT", "WHOLE_WEIGHT", PERSONS),
    Fault(
        _NAMING,
        "noise_and_threshold",
        "[transactions * weight",
        "[weight",
        "a person's own items are named too often",
    ),
    Fault(
        _NAMING,
        "noise_and_threshold",
        "transactions * chance",
        "chance",
        "a person's own items are named too often",
    ),
    # Sensitivities.
    Fault(
        _TRUNCATION,
        "l1_sensitivity",
        "candidates.items()",
        "sorted(candidates.items())[: max(1, len(candidates) - 1)]",
        "supports of the largest size are not reckoned with",
    ),
    Fault(
        _TRUNCATION,
        "l1_sensitivity",
        "math.comb(longest, size)",
        "math.comb(longest - 1, size)",
        "one item of a transaction is not reckoned with",
    ),
    Fault(
        _TRUNCATION,
        "l1_sensitivity",
        "min(math.comb(longest, size), number)",
        "min(longest, number)",
        "pairs are reckoned like items",
    ),
    Fault(
        _TRUNCATION,
        "OnlyItems.longest",
        "np.unique(self.items).size",
        "max(1, np.unique(self.items).size - 1)",
        "one of the chosen items is not reckoned with",
    ),
    Fault(
        _COUNTS,
        "ask_reshaped_supports",
        "sensitivity=len(itemsets)",
        "sensitivity=1",
        "all supports that a split transaction moves but one",
    ),
    Fault(
        _COUNTS,
        "ask_capped_counts",
        "sensitivity=most",
        "sensitivity=1",
        "all itemsets of a transaction but one",
    ),
    Fault(
        _COUNTS,
        "ask_normalised_supports",
        "sensitivity=limit",
        "sensitivity=1",
        "all items of a transaction but one",
    ),
    Fault(_COUNTS, "ask_total", "sensitivity=most", "sensitivity=1", "all that a transaction adds but 1"),
    Fault(
        _TREE,
        "ask_prefix_tree",
        "depth * self.unit.transactions",
        "self.unit.transactions",
        "all levels of a path but one",
    ),
    Fault(
        _COUNTS,
        "ask_supports",
        "len(set(itemsets)) < len(itemsets)",
        "False",
        "an itemset that stands twice is told twice, at the price of one",
    ),
    Fault(
        "gate/questions/door.py",
        "check_countable",
        "or 0 in itemsets.number_by_size()",
        "",
        "pieces of a split hold the empty itemset: it moves by their number",
    ),
    # Caps and truncations.
    Fault(
        _COUNTS,
        "ask_capped_counts",
        "most=most, steps",
        "most=most + 1, steps",
        "one itemset more than was paid for",
    ),
    Fault(
        _COUNTS,
        "ask_total",
        "limit=most) return ExactCounts(lengths.values @ np.arange(most + 1)[:, None])",
        "limit=most + 1)\n            return ExactCounts(lengths.values @ np.arange(most + 2)[:, None])",
        "one item more than was paid for",
    ),
    Fault(
        _COUNTS,
        "root_weights",
        "whole * most //",
        "whole * (most + 1) //",
        "weights of one itemset more than was paid for",
    ),
    Fault(
        _COUNTS,
        "root_weights",
        "min(WEIGHT_STEPS, math.isqrt(whole * most // max(number, 1)))",
        "WEIGHT_STEPS",
        "no cap at all",
    ),
    Fault(
        _COUNTS,
        "ask_normalised_supports",
        "np.array([limit], np.int64)",
        "np.array([limit + 1], np.int64)",
        "one item more than was paid for",
    ),
    Fault(
        _TRUNCATION,
        "KeepRandom.apply",
        "self.limit",
        "self.limit + 1",
        "a truncation keeps one item too many",
    ),
    Fault(
        _TRUNCATION, "KeepBest.apply", "self.limit", "self.limit + 1", "a truncation keeps one item too many"
    ),
    Fault(
        _TRUNCATION,
        "DropLonger.apply",
        "self.limit",
        "self.limit + 1",
        "a truncation keeps rows one item too long",
    ),
    Fault(
        "raw/cuts/similar_cut.py",
        "KeepSimilar.apply",
        "self.limit",
        "self.limit + 1",
        "a truncation keeps one item too many",
    ),
    Fault(
        "raw/cuts/smart_cut.py",
        "KeepSmart.apply",
        "self.limit",
        "self.limit + 1",
        "a truncation keeps one item too many",
    ),
    Fault(
        "raw/cuts/owners.py",
        "_kept_of_crowded",
        "< limit",
        "<= limit",
        "a person has one transaction more than promised",
    ),
    Fault(
        "raw/cuts/owners.py",
        "keep_per_owner",
        "np.diff(owners, prepend=-1)",
        "np.arange(1, owners.size + 1)",
        "every transaction is taken for a person",
    ),
    # Noise.
    Fault(
        _MECHANISMS,
        "DiscreteLaplace.scale",
        "/ self.epsilon",
        "/ (2 * self.epsilon)",
        "noise of half the scale",
    ),
    Fault(
        _NOISE,
        "SecureNoise.discrete_laplace",
        "float_at_least(scale)",
        "float_at_least(scale / 2)",
        "noise of half the scale",
    ),
    Fault(
        _NOISE,
        "SecureNoise.discrete_gaussian",
        "float_at_least(scale)",
        "float_at_least(scale / 2)",
        "noise of half the scale",
    ),
    Fault(_NOISE, "SeededNoise.discrete_laplace", "up - down", "up - 1", "noise that only ever adds"),
    Fault(
        "rationals.py",
        "float_at_least",
        "nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)",
        "nearest",
        "a hair more than epsilon",
    ),
    Fault(
        _NOISE,
        "SecureNoise.keys",
        "secrets.token_bytes(16)",
        "bytes(16)",
        "which items and transactions are kept is no secret",
    ),
    Fault(
        _NOISE,
        "SecureNoise.below",
        "secrets.randbelow(bound)",
        "secrets.randbelow(bound) // 2",
        "the better half of candidates is drawn",
    ),
    Fault(
        _NOISE,
        "SeededNoise",
        "is_private = False",
        "is_private = True",
        "a release that anybody can repeat calls itself private",
    ),
    Fault(
        "gate/approximate_mechanisms.py",
        "DiscreteGaussian.scale",
        "(2 * self.rho)",
        "(4 * self.rho)",
        "twice the rho that was paid",
    ),
    Fault(_ZCDP, "gaussian_scale", "(2 * rho)", "(4 * rho)", "twice the rho that was paid"),
    Fault(
        _ZCDP,
        "largest_rho",
        "> delta:",
        "> 2 * delta:",
        "twice the delta that was paid, where floating point errs",
    ),
    Fault(_ZCDP, "delta_of", "/ beyond_one", NONE, "a delta that is stated too small"),
    # The budget.
    Fault(
        _BASE, "PaidLooks._pay", "self.budget.charge(question, mechanism)", "pass", "everything, for nothing"
    ),
    Fault(
        _BUDGET,
        "Budget._pay",
        "cost.epsilon > self.left",
        "cost.epsilon > self.total",
        "the whole budget, again for every question",
    ),
    Fault(_BUDGET, "Budget._pay", "cost.delta > self.delta_left", "False", "delta is spent without end"),
    Fault(
        _BUDGET,
        "Account._enter",
        "self._spent += cost.epsilon",
        "self._spent = cost.epsilon",
        "only the last question is paid",
    ),
    Fault(
        _BUDGET,
        "Account._enter",
        "self._spent_delta += cost.delta",
        "self._spent_delta = cost.delta",
        "only the last delta is paid",
    ),
    Fault(
        _BUDGET,
        "Account.explain",
        "cost_of(explained) != cost_of(paid)",
        "False",
        "what was paid is lowered afterwards",
    ),
    Fault(_PURSE, "rho_for", "- self._rho", NONE, "every Gaussian question has the rho of all"),
    Fault(_PURSE, "pay", "self._rho += rho", "pass", "every Gaussian question has the rho of all"),
    Fault(
        _PURSE, "pay", "0 < rho <= self.rho_for(epsilon)", "0 < rho", "a question has any rho at any price"
    ),
    # Chains of partitions.
    Fault(_CHAINS, "Chains.charge", "sum(largest) > self.limit", "False", "chains of tests without end"),
    Fault(
        _CHAINS,
        "Chains.charge",
        "*self._ways[pair // len(prices)],",
        "*(),",
        "a chain forgets what it has spent",
    ),
    Fault(
        _PARTITIONS,
        "Partitions._split",
        "ways[passed.runs]",
        "ways[np.zeros(passed.keys.size, np.int64)]",
        "a chain takes the way of another one",
    ),
    Fault(
        _PARTITIONS,
        "Partitions._check",
        "np.unique(split.partitions).size != split.partitions.size",
        "False",
        "a partition is asked twice at the price of one",
    ),
    Fault(_PARTITIONS, "Partitions._test", "self._account.sensitivity", "1", PERSONS),
    Fault(
        _PARTITIONS,
        "SizeTest.__post_init__",
        "self.epsilon <= 0 or",
        NONE,
        "a test at a negative price pays back",
    ),
    # Samples.
    Fault(
        _SAMPLE,
        "SampledEngine.draw_from",
        "self._sample is None",
        "True",
        "a second sample, which nobody paid for",
    ),
    Fault(
        _SAMPLE,
        "SampledEngine.__init__",
        "int(rate * 2**KEY_BITS)",
        "int(2 * rate * 2**KEY_BITS)",
        "a sample twice as large as was paid for",
    ),
    Fault(
        _SAMPLE,
        "SampleAccount.charge",
        "after - before",
        "price_of(mechanism.epsilon, chance=self._chance)",
        "each question on a sample is priced alone",
    ),
    Fault(
        _SAMPLE,
        "SampleAccount.charge",
        "cost.epsilon > self.left",
        "False",
        "questions on a sample without end",
    ),
    Fault(_SAMPLE, "SampleAccount.charge", "cost.delta > 0", "False", "delta on a sample is discarded"),
    Fault(
        _SAMPLE,
        "price_of",
        "math.ceil((price + _ERROR)",
        "math.floor((price - _ERROR)",
        "a price that is rounded down",
    ),
    # Candidates that nobody has.
    Fault(
        _FLOORED,
        "draw_from_domain",
        "domain.size - len(scores.listed)",
        "max(0, k - len(scores.listed))",
        "only itemsets that the data holds are drawn",
    ),
    Fault(
        _FLOORED,
        "floored_supports",
        "max(0, kth_support(engine, domain, k) - margin)",
        "max(0, 2 * kth_support(engine, domain, k) - margin)",
        "a floor that rises by 2",
    ),
    Fault(
        _FLOORED,
        "floored_supports",
        "int(found.supports[-1])",
        "int(found.supports[-1]) - 1",
        "which of equal itemsets are listed first",
    ),
    Fault(
        _FLOORED,
        "_draw_unlisted",
        "itemset not in scores.listed and",
        NONE,
        "an itemset of the list is drawn from the block",
    ),
    Fault(
        _SELECTIONS,
        "ask_largest_support",
        "[max(floor, largest)]",
        "[largest]",
        "a support that jumps from 0 to the floor",
    ),
    Fault(
        _SELECTIONS,
        "ask_truncating_length",
        "steps=WEIGHT_STEPS",
        "steps=1",
        "scores in steps are drawn as if they were whole",
    ),
    Fault(
        "gate/selection/exponential.py",
        "draw_scores",
        "x = rate *",
        "x = 2 * rate *",
        "draws at twice the rate that was paid",
    ),
    Fault(_SUBSETS, "draw_subset", "rate=rate", "rate=2 * rate", "draws at twice the rate that was paid"),
    # Zero counts.
    Fault(_TREE, "_Growth._below", "int(starts[-1])", "places.size", "which paths somebody has"),
    Fault(
        _PARTITIONS,
        "Partitions._test",
        "tested.number",
        "listed.size",
        "which combinations somebody has",
    ),
    Fault(
        _TEST,
        "draw_passing",
        "draw_number_passing(zeros, threshold=test.threshold",
        "draw_number_passing(zeros, threshold=test.threshold + 1",
        "zeros pass a higher threshold than ones",
    ),
    Fault(
        _TEST,
        "draw_passing",
        "passing_zeros, threshold=test.threshold",
        "passing_zeros, threshold=test.threshold + 1",
        "a count at the threshold is no zero",
    ),
    Fault(
        _TEST,
        "draw_passing",
        "noisy >= test.threshold",
        "counts.counts.values >= test.threshold",
        "the exact count decides who passes",
    ),
    Fault(
        _TEST,
        "draw_passing",
        "np.argsort(places)",
        "np.arange(places.size)",
        "what is seen stands before what is not",
    ),
    Fault(
        _ZEROS,
        "draw_number_passing",
        "exponent=rate * threshold",
        "exponent=rate * (threshold + 1)",
        "fewer zeros pass than counts of one would",
    ),
    Fault(_ZEROS, "draw_passing_noise", "more >= 0", "more > 0", "a count at the threshold is no zero"),
    # Comparisons with a threshold.
    Fault(
        _SVT,
        "sparse_vector",
        "(epsilon - for_threshold) / k",
        "epsilon / k",
        "the share of the threshold is spent twice",
    ),
    Fault(
        _SVT,
        "sparse_vector",
        "(epsilon - for_threshold) / k",
        "epsilon - for_threshold",
        "each of k answers costs what all may",
    ),
    Fault(
        _SVT,
        "sparse_vector",
        "noisy.threshold(sensitivity / for_threshold)",
        "noisy.threshold(Fraction(1, 1000))",
        "a threshold without noise",
    ),
    Fault(
        _SVT,
        "in_blocks",
        "noisy_threshold = noisy.threshold(sensitivity / for_threshold)",
        "noisy_threshold = noisy_threshold if account else noisy.threshold(sensitivity / for_threshold)",
        "one threshold for all blocks",
    ),
    Fault(_SVT, "in_blocks", "left -= block.for_last", "pass", "the support that ends a block is free"),
    Fault(
        _SVT, "_block", "_rounded_down(left / wanted, step)", "left", "one comparison takes all that is left"
    ),
    # Naming items.
    Fault(
        _NAMING,
        "noise_and_threshold",
        "place * FINENESS - weight",
        "place * FINENESS",
        "a threshold that forgets what the unit itself weighs",
    ),
    Fault(
        _NAMING,
        "noise_and_threshold",
        "length * noise_tail",
        "noise_tail",
        "one of a unit's own items is reckoned with",
    ),
    Fault(
        _NAMING,
        "named_items",
        "noisy >= mechanism.threshold",
        "noisy >= mechanism.threshold // 2",
        "half the threshold",
    ),
    Fault(
        _NAMING,
        "named_items",
        "noisy >= mechanism.threshold",
        "weights.values[held] >= mechanism.threshold",
        "the exact weight decides who is named",
    ),
    Fault(
        _NAMING,
        "naming_noise",
        "float_at_least(scale)), delta / 2)",
        "float_at_least(scale)), delta)",
        "half of delta is spent twice",
    ),
    Fault(
        _NAMING, "noise_tail", "(least - 1) / scale", "(least + 1) / scale", "a tail that is stated too small"
    ),
    Fault(
        _NAMING,
        "_root_weight",
        "WHOLE_WEIGHT * WHOLE_WEIGHT // length",
        "WHOLE_WEIGHT * WHOLE_WEIGHT",
        "items of a long transaction weigh as much as of a short one",
    ),
    # Exact values that leave.
    Fault(
        _SELECTIONS,
        "ask_above_kth",
        "account=compared.account",
        "account=(epsilon / (1 + int(supports.max())),)",
        "an exact support in the trace",
    ),
    Fault(
        _TREE,
        "ask_prefix_tree",
        "mechanism=mechanism, threshold=threshold",
        "mechanism=mechanism, threshold=int(exact.counts.max())",
        "an exact count in the answer",
    ),
    Fault(
        _FLOORED,
        "ExactScores.__repr__",
        '"ExactScores(private)"',
        'f"ExactScores({self.listed})"',
        "exact supports in an error or a log",
    ),
    Fault(
        _UNNAMED,
        "ask_alphabet",
        "key=_by_name(engine, named.items)",
        "key=lambda place: -int(weights.values[named.items[place]])",
        "the order of names is that of exact weights",
    ),
    Fault(
        _BUDGET,
        "tells_spent",
        "epsilon {epsilon} was spent",
        "epsilon {epsilon} was spent: {error!r}",
        "whatever an error quotes, in a note",
    ),
)

_TEN = (
    ("ask_frequent_items", "is_monotone=False"),
    ("_noisy", "sensitivity * self.unit.transactions"),
    ("draw_from_domain", "domain.size - len(scores.listed)"),
    ("l1_sensitivity", "math.comb(longest, size)"),
    ("KeepRandom.apply", "self.limit"),
    ("Chains.charge", "*self._ways[pair // len(prices)],"),
    ("SampleAccount.charge", "after - before"),
    ("sparse_vector", "noisy.threshold(sensitivity / for_threshold)"),
    ("noise_and_threshold", "place * FINENESS - weight"),
    ("ask_prefix_tree", "mechanism=mechanism, threshold=threshold"),
)
TEN = tuple(fault for fault in FAULTS if (fault.inside, fault.original) in _TEN)
"""One of each kind: price, unit, candidates, sensitivity, truncation, account, sample, threshold, names, trace."""
