"""Arrow arrays over NumPy's memory, and the other way round."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from veilset.arrow_arrays import integers, numpy_of, text_array


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("size", [0, 5])
def test_integers_go_there_and_back(kind: type, size: int) -> None:
    """Also a part of an array, and every second value of one."""
    values: npt.NDArray[Any] = np.arange(size, dtype=kind)
    assert integers(values).equals(pa.array(values))
    assert integers(values[::2]).to_pylist() == values[::2].tolist()
    assert numpy_of(pa.array(values)).tolist() == values.tolist()
    assert numpy_of(pa.array(values)[1:4]).tolist() == values[1:4].tolist()
    assert numpy_of(pa.array(values)).dtype == kind


def test_truth_values_can_be_changed() -> None:
    """They are copied anyway, since Arrow has eight in a byte."""
    found = numpy_of(pa.array([True, False, True])[1:])
    found[0] = True
    assert found.tolist() == [True, True]


def test_words_go_there_and_back() -> None:
    """Empty ones, and letters of several bytes; a control: what Arrow makes of them itself."""
    words = ["milk", "", "crème", "ßé"]
    assert text_array(words).equals(pa.array(words, pa.large_string()))
    assert text_array([]).to_pylist() == []


def test_reading_and_writing_do_not_import_pandas(tmp_path: Path) -> None:
    """It takes longer than reading a small file; a control: `to_numpy` does import it."""
    call = """
import sys, pyarrow as pa
from veilset.raw.read import read
open("a.dat", "w").write("1 2\\n2\\n"); open("a.csv", "w").write("milk,bread\\nmilk\\n")
read("a.dat"); read("a.csv")
print("pandas" in sys.modules)
pa.array([1]).to_numpy()
print("pandas" in sys.modules)
"""
    run = subprocess.run(
        [sys.executable, "-c", call], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout.split() == ["False", "True"]
