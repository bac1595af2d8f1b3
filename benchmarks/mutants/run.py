"""How changes are run: warm processes in private copies, and for each change the tests that can notice it."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue

from benchmarks.mutants.changes import PACKAGE, Change
from benchmarks.mutants.reach import Reach, is_of_module, merged, outdated
from benchmarks.mutants.results import Now, Result, Store
from benchmarks.mutants.tree import ROOT, digests_of_tests, environment, private_copy, sources_digest
from benchmarks.mutants.warm import BROKEN, SURVIVED, Answer, Timed, Worker

KEPT = ROOT / "build" / "mutants"
"""What is kept from run to run."""


def reach_of_tests() -> Reach:
    """Which tests run which lines: known from earlier, but for files of tests that are new or have changed since."""
    path, new = KEPT / "reach.json", KEPT / "reach-new.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    now = {"sources": sources_digest(ROOT), "files": digests_of_tests(ROOT)}
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    files = outdated(known, now)
    if files is None or files:
        print(
            f"running {'all tests' if files is None else ', '.join(files)} once, to see which lines each runs"
        )
        with private_copy() as copy:
            command = [sys.executable, "-m", "benchmarks.mutants.reach", str(new), *(files or ())]
            if subprocess.run(command, cwd=copy, env=environment(copy), check=False).returncode != 0:
                sys.exit("tests fail without any change; nothing can be said about changes")
        found = json.loads(new.read_text(encoding="utf-8"))
        known = merged(known if files else {}, found, now)
        path.write_text(json.dumps(known), encoding="utf-8")
    return Reach.of(known)


@contextmanager
def worker_pool(number: int) -> Iterator["SimpleQueue[Worker]"]:
    """Warm processes, each in a copy of its own; whoever takes one puts it back."""
    with ExitStack() as stack:
        free: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(number):
            worker = Worker(stack.enter_context(private_copy()))
            stack.callback(worker.close)
            free.put(worker)
        yield free


class Run:
    """Everything that running one change needs."""

    def __init__(self, reach: Reach, texts: dict[str, str], *, seconds: float) -> None:
        self._reach, self._texts, self._seconds = reach, texts, seconds

    def groups_for(self, change: Change) -> list[Timed]:
        """Which tests run for a change: those of its module, and then others, whose files are seldom needed."""
        every = self._reach.tests_for(change, self._texts)
        tests = self._reach.within(every, change.module, seconds=self._seconds)
        own = [test for test in tests if is_of_module(test, change.module)]
        groups = own, [test for test in tests if test not in own]
        return [self._reach.timed(group) for group in groups if group]

    def check(self, changes: Sequence[Change], free: "SimpleQueue[Worker]") -> None:
        """Run the tests of all changes on the tree as it is: what fails or is not found would kill everything."""
        tests = sorted({test for change in changes for group in self.groups_for(change) for test in group})
        worker = free.get()
        told = worker.run("", None, [self._reach.timed(tests)])
        free.put(worker)
        if told.outcome != SURVIVED:
            sys.exit(f"without any change: {told.outcome} by {told.by}; nothing can be said about changes")
        print(f"{len(tests)} tests pass without any change in {told.seconds:.0f} s", flush=True)

    def run(self, change: Change, free: "SimpleQueue[Worker]") -> tuple[Answer, int]:
        """Run the tests of one change, if there are any; also tells how many."""
        groups = self.groups_for(change)
        worker = free.get()
        try:
            told = worker.run(str(PACKAGE / change.module), change.text, groups)
        finally:
            free.put(worker)
        return told, sum(map(len, groups))


def run_all(changes: Sequence[Change], run: Run, store: Store, now: Now, *, workers: int) -> None:
    """Run changes and keep what comes out; prints survivors, and from time to time how far it is."""
    start = time.perf_counter()
    with worker_pool(workers) as free, _stopping_at_once(workers) as threads:
        run.check(changes, free)
        waiting = {threads.submit(run.run, change, free): change for change in changes}
        for number, done in enumerate(as_completed(waiting), start=1):
            change, (told, tests) = waiting[done], done.result()
            if told.outcome == BROKEN:
                sys.exit(f"{change.key}: {told.by}; this is a mistake in benchmarks.mutants")
            kept = told.outcome, told.by, told.seconds, now.allowed, tests
            store.add(Result(change.key, *kept, now.modules[change.module], now.suite))
            if told.outcome == SURVIVED or number % 100 == 0:
                spent = time.perf_counter() - start
                print(f"{number} of {len(changes)}, {spent:.0f} s: {told.outcome}: {change.key}", flush=True)


@contextmanager
def _stopping_at_once(number: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that begin nothing new once an error, or somebody, has stopped the run."""
    with ThreadPoolExecutor(number) as threads:
        try:
            yield threads
        finally:
            threads.shutdown(cancel_futures=True)
