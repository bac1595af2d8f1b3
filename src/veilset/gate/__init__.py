"""The only way out: a Curator answers questions about raw data, within a budget, with noise.

What is listed here is for everybody. The modules below are the gate's own: nobody outside needs more than this.
"""

from veilset.gate.accounting.amplification import (
    SampleAccount,
    affordable,
    chance_of_a_unit,
    drawable_rate,
    price_of,
)
from veilset.gate.accounting.budget import (
    LEAST_EPSILON,
    Account,
    Budget,
    Delta,
    Epsilon,
    exact_delta,
    exact_epsilon,
    tells_spent,
)
from veilset.gate.accounting.ledger import Ledger
from veilset.gate.accounting.ledger_account import DatasetAccount, LedgerRecord, LedgerWarning, Reservation
from veilset.gate.accounting.ledger_balance import Amount, Booked, DatasetBalance, payers_of, readable
from veilset.gate.accounting.ledger_checks import UNITS, LedgerRefusal, WarningSink
from veilset.gate.accounting.ledger_entries import Entry
from veilset.gate.answers import (
    Chosen,
    Discovery,
    FoundItems,
    GaussianCounts,
    NoisyCount,
    NoisyCounts,
    NoisyHistogram,
    NormalisedCounts,
    SubPartitions,
)
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming, NamingLaw
from veilset.gate.curator import Curator
from veilset.gate.discovery import UnnamedCurator
from veilset.gate.draws import Noise
from veilset.gate.mechanisms import (
    AboveThreshold,
    ChainedLaplace,
    DiscreteLaplace,
    Exponential,
    Mechanism,
    OnSample,
)
from veilset.gate.noise import SecureNoise, SeededNoise
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.persons import PersonCurator
from veilset.gate.questions.base import PrivacyUnit
from veilset.gate.questions.counts import LARGEST_MARGINAL
from veilset.gate.questions.partitions import Partitions, Refinement, SizeTest
from veilset.gate.selection.floored_supports import MOST_SCORED
from veilset.gate.selection.free_refusals import (
    SHARE_FOR_SEARCH_THRESHOLD,
    CandidateSequence,
    SearchOutcome,
    SearchState,
)
from veilset.gate.selection.item_discovery import (
    expected_threshold,
    naming_mechanism,
    naming_noise,
    weights_by_length,
)
from veilset.gate.selection.length_scores import WEIGHT_STEPS
from veilset.gate.selection.sparse_vector import COMPARISON_STEPS
from veilset.gate.trace import Charge
from veilset.raw.cuts.similar_cut import KeepSimilar
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.split import Split
from veilset.raw.cuts.truncation import (
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    OnlyItems,
    Reshape,
    Truncation,
)
from veilset.raw.transactions import Item

__all__ = [
    "COMPARISON_STEPS",
    "LARGEST_MARGINAL",
    "LEAST_EPSILON",
    "MOST_SCORED",
    "SHARE_FOR_SEARCH_THRESHOLD",
    "UNITS",
    "WEIGHT_STEPS",
    "AboveThreshold",
    "Account",
    "Amount",
    "Booked",
    "Budget",
    "CandidateSequence",
    "ChainedLaplace",
    "Charge",
    "Chosen",
    "Curator",
    "DatasetAccount",
    "DatasetBalance",
    "Delta",
    "Discovery",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DropLonger",
    "Entry",
    "Epsilon",
    "Exponential",
    "FoundItems",
    "GaussianCounts",
    "Item",
    "ItemNaming",
    "KeepAll",
    "KeepBest",
    "KeepRandom",
    "KeepSimilar",
    "KeepSmart",
    "Ledger",
    "LedgerRecord",
    "LedgerRefusal",
    "LedgerWarning",
    "Mechanism",
    "NamingLaw",
    "Noise",
    "NoisyCount",
    "NoisyCounts",
    "NoisyHistogram",
    "NoisyTree",
    "NormalisedCounts",
    "OnSample",
    "OnlyItems",
    "Partitions",
    "PersonCurator",
    "PrivacyUnit",
    "Refinement",
    "Reservation",
    "Reshape",
    "SampleAccount",
    "SearchOutcome",
    "SearchState",
    "SecureNoise",
    "SeededNoise",
    "SizeTest",
    "Split",
    "SubPartitions",
    "Truncation",
    "UnnamedCurator",
    "WarningSink",
    "affordable",
    "chance_of_a_unit",
    "drawable_rate",
    "exact_delta",
    "exact_epsilon",
    "expected_threshold",
    "naming_mechanism",
    "naming_noise",
    "payers_of",
    "price_of",
    "readable",
    "tells_spent",
    "weights_by_length",
]
