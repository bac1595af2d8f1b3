"""Hardened machines and small memories: `python -m benchmarks.fire hardened` and `... memory [--limits N]`.

Commands where the package and the home cannot be written, without HOME and TMPDIR, as a user without rights, without a
network, on one core, in a sandbox without `getrandom`; how much memory they take at most. And commands under limits on
memory from 200 MB up: exit code 0, 2 or 3 and at most one line of complaint, whatever the libraries do.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import polars as pl

import veilset
from benchmarks.fire.page import Row

SMALL_MACHINE = 512 << 20
ANOTHER_USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
NO_RANDOMNESS = "a sandbox without getrandom"
"""The one machine on which no release can be made."""
IN_SANDBOX = """
import errno, runpy, sys
sys.path.insert(0, sys.argv.pop(1))
from entropy_probe import refuse_getrandom
refuse_getrandom(errno.ENOSYS)
runpy.run_module("veilset", run_name="__main__")
"""


def bare(folder: Path, **more: str) -> dict[str, str]:
    """An environment with nothing but where to find programs and packages."""
    site = sysconfig.get_paths()["purelib"]
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join([str(folder), site]), **more}


def read_only_package(folder: Path) -> Path:
    """A copy of the package of which nothing can be written, by nobody: where a cache would go there is a file."""
    source = Path(veilset.__file__).parent
    shutil.copytree(source, folder / "veilset", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "veilset" / "raw" / "kernels" / "__pycache__").write_text("", encoding="ascii")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return folder


def machines(folder: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """What commands are started with on each machine, and their environment."""
    python = [sys.executable]
    nothing = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}
    read_only = "mount -o bind,ro /tmp /tmp && mount -o bind,ro /var/tmp /var/tmp && mount -o bind,ro /dev/shm /dev/shm"
    tests = str(Path(__file__).resolve().parents[2] / "tests")
    return {
        "package and home that cannot be written": (python, bare(folder, **nothing)),
        "no folder that can be written": (
            ["unshare", "-r", "-m", "sh", "-c", f'{read_only} && exec "$@"', "sh", *python],
            bare(folder, **nothing),
        ),
        "no HOME, no TMPDIR": (python, bare(folder)),
        "another user, without rights": ([*ANOTHER_USER, *_python_for_all()], bare(folder)),
        "no network": (["unshare", "-r", "-n", *python], bare(folder)),
        "one core": (["taskset", "-c", "0", *python], bare(folder)),
        NO_RANDOMNESS: ([*python, "-c", IN_SANDBOX, tests], bare(folder)),
    }


def _python_for_all() -> list[str]:
    """An interpreter of this version that every user may run."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return [f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else sys.executable]


def run(start: list[str], environment: dict[str, str], call: list[str]) -> tuple[int, str, int]:
    """The exit code of a command, what it said on stderr, and the most memory it had."""
    words = call if IN_SANDBOX in start else ["-m", "veilset", *call]
    process = subprocess.Popen(
        [*start, *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    said = process.stderr.read() if process.stderr else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said, used.ru_maxrss << 10


def campaign(arguments: list[str]) -> list[Row]:
    """Every machine."""
    argparse.ArgumentParser(prog="python -m benchmarks.fire hardened").parse_args(arguments)
    rows, largest, tried = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="veilset-hardened-") as name:
        Path(name).chmod(0o755)
        data = Path(name) / "data.dat"
        data.write_text("1 2 3\n2 3\n7\n" * 300, encoding="ascii")
        package = read_only_package(Path(name) / "package")
        call = [str(data), "--epsilon", "1", "--k", "3", "--public-items", "--quiet", "--json"]
        for machine, (start, environment) in machines(package).items():
            ends = [run(start, environment, [task, *call]) for task in ("mine", "items")]
            expected = 2 if machine == NO_RANDOMNESS else 0
            for code, said, memory in ends:
                largest, tried = max(largest, memory), tried + 1
                if code != expected:
                    print(f"{machine}: {code} {said.strip().splitlines()[-1:]}", flush=True)
            held = sum(code == expected and len(said.splitlines()) <= 1 for code, said, _ in ends)
            worst = "nothing: refused in one line before anything is spent" if expected else "nothing"
            rows.append(Row(machine, len(ends), held, worst, "python -m benchmarks.fire hardened"))
        for path in [package, *package.rglob("*")]:
            path.chmod(0o755)
    worst = f"nothing: at most {largest / 2**20:.0f} MB, compilation of kernels included"
    is_small = tried if largest < SMALL_MACHINE else 0
    return [*rows, Row("a machine of 512 MB", tried, is_small, worst, "python -m benchmarks.fire hardened")]


def memory_campaign(arguments: list[str]) -> list[Row]:
    """Limits on memory over formats."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire memory")
    parser.add_argument("--limits", type=int, default=12)
    given = parser.parse_args(arguments)
    tried = held = 0
    with tempfile.TemporaryDirectory(prefix="veilset-memory-") as name:
        for data, options in sources(Path(name)).items():
            call = [
                "items",
                str(data),
                *options,
                "--epsilon",
                "1",
                "--k",
                "3",
                "--public-items",
                "--quiet",
                "--json",
            ]
            for place in range(given.limits):
                megabytes = round(200 * 15 ** (place / (given.limits - 1)))
                code, lines = limited(call, megabytes << 20)
                tried += 1
                if code in {0, 2, 3} and lines <= 1:
                    held += 1
                else:
                    print(f"{data.name} with {megabytes} MB: exit code {code}, {lines} lines", flush=True)
    worst = "nothing: refused before anything is spent, in most cases; else what was spent until then"
    command = f"python -m benchmarks.fire memory --limits {given.limits}"
    return [Row("a limit on memory, from 200 MB to 3 GB", tried, held, worst, command)]


def sources(folder: Path) -> dict[Path, list[str]]:
    """A file of each kind, some MB large, and how it is read."""
    rows = [[(place * step) % 997 for step in range(1, 2 + place % 9)] for place in range(200_000)]
    lists = pl.DataFrame({"items": rows})
    long = lists.with_row_index("who").explode("items")
    named = ["--owner", "who", "--item", "items"]
    lists.write_parquet(folder / "lists.parquet")
    lists.write_ipc(folder / "lists.arrow")
    long.write_csv(folder / "long.csv")
    long.write_parquet(folder / "long.parquet")
    (folder / "lines.dat").write_text(
        "".join(" ".join(map(str, row)) + "\n" for row in rows), encoding="ascii"
    )
    return {
        folder / "lists.parquet": [],
        folder / "lists.arrow": [],
        folder / "long.csv": named,
        folder / "long.parquet": named,
        folder / "lines.dat": [],
    }


def limited(call: list[str], limit: int) -> tuple[int, int]:
    """The exit code under a limit, and the lines of complaint beside those of a promise."""
    ended = subprocess.run(
        [sys.executable, "-m", "veilset", *call],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return ended.returncode, len(ended.stderr.splitlines())
