"""On a real Spark, where a Java is found that it runs on: a worker dies in the middle of a release."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import spark_cluster
import veilset as vs

PROGRAM = Path(spark_cluster.__file__)


def java_is_found() -> bool:
    """Java 17 or newer."""
    java = shutil.which("java")
    if java is None:
        return False
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    return version is not None and int(version[1]) >= 17


def _without_sessions() -> dict[str, str]:
    """The environment without what a session of Spark Connect, started by other tests of this process, leaves in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}


@pytest.mark.skipif(not java_is_found(), reason="no Java 17 or newer")
def test_a_worker_that_dies_in_the_middle_of_a_release_changes_nothing(tmp_path: Path) -> None:
    """Two workers, of which one is killed: the release is that of one machine. One test, since Spark starts slowly."""
    rng = np.random.default_rng(4)
    rows = [
        sorted({int(item) for item in rng.zipf(1.8, rng.integers(0, 7)) if item < 9}) for _ in range(1_500)
    ]
    table = tmp_path / "baskets.parquet"
    pyarrow.parquet.write_table(pa.table({"items": pa.array(rows, pa.list_(pa.int64()))}), table)
    sources = [str(PROGRAM.parents[1] / "src"), str(PROGRAM.parent)]
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(table)],
        capture_output=True,
        text=True,
        check=False,
        # Kernels run uncompiled: on few rows that takes less time than to load compiled ones in every worker.
        env={**_without_sessions(), "PYTHONPATH": os.pathsep.join(sources), "NUMBA_DISABLE_JIT": "1"},
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    told = json.loads(ran.stdout)
    expected = json.loads(json.dumps(spark_cluster.release_of(vs.read(table)), default=str))
    assert told["release"] == expected
    assert told["alive"] == 1
    assert told["answers"] > spark_cluster.KILLED_AT
