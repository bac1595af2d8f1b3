"""The only way out: a Curator answers questions about raw data, within a budget, with noise."""

from veilset.gate.accounting.amplification import SampleAccount, chance_of_a_unit, drawable_rate, price_of
from veilset.gate.accounting.budget import LEAST_EPSILON, Budget, Epsilon, exact_epsilon
from veilset.gate.answers import (
    Chosen,
    Found,
    NoisyCount,
    NoisyCounts,
    NoisyHistogram,
    NormalisedCounts,
    SubPartitions,
)
from veilset.gate.curator import Curator
from veilset.gate.mechanisms import Charge, DiscreteLaplace, Exponential, Mechanism, OnSample
from veilset.gate.noise import Noise, SecureNoise, SeededNoise
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.questions.base import PrivacyUnit
from veilset.gate.questions.partitions import Partitions, Refinement, SizeTest
from veilset.gate.selection.floored_supports import MOST_SCORED
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
    "LEAST_EPSILON",
    "MOST_SCORED",
    "Budget",
    "Charge",
    "Chosen",
    "Curator",
    "DiscreteLaplace",
    "DropLonger",
    "Epsilon",
    "Exponential",
    "Found",
    "Item",
    "KeepAll",
    "KeepBest",
    "KeepRandom",
    "KeepSimilar",
    "KeepSmart",
    "Mechanism",
    "Noise",
    "NoisyCount",
    "NoisyCounts",
    "NoisyHistogram",
    "NoisyTree",
    "NormalisedCounts",
    "OnSample",
    "OnlyItems",
    "Partitions",
    "PrivacyUnit",
    "Refinement",
    "Reshape",
    "SampleAccount",
    "SecureNoise",
    "SeededNoise",
    "SizeTest",
    "Split",
    "SubPartitions",
    "Truncation",
    "chance_of_a_unit",
    "drawable_rate",
    "exact_epsilon",
    "price_of",
]
