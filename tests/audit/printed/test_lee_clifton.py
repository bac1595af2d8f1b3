"""The sparse vector technique as printed: its law, against running it."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from laws import fits
from veilset.audit import geometric
from veilset.audit.printed import lee_clifton


def test_the_answers_have_the_law_of_the_mechanism() -> None:
    """Against running it: noise on the threshold once, on each support, and a comparison."""
    supports, for_threshold, for_each = [8, 12, 10], 0.2, 0.4
    law = {
        answers: lee_clifton.chance_of_answers(
            supports, answers, for_threshold=for_threshold, for_each_question=for_each
        )
        for answers in product([False, True], repeat=3)
    }
    rng = np.random.default_rng(3)
    thresholds = lee_clifton.SVT_THRESHOLD + geometric.draw(rng, for_threshold, 30_000)
    noisy = [count + geometric.draw(rng, for_each, 30_000) for count in supports]
    drawn = Counter(zip(*((column >= thresholds).tolist() for column in noisy), strict=True))
    assert sum(law.values()) == pytest.approx(1)
    assert fits(drawn, law)
