"""The process that looks at data, and the only part of the service that does: `python -m veilset.service.worker`.

It takes orders as lines of JSON and answers each with one. Data is read once, into a file in the encoded form; every
worker maps that file into memory, so that all of them share one copy. Memory is limited: who needs more fails, and the
server goes on. A worker holds the lock of its own file for as long as it lives, however it ends: by that the server
knows that it is dead. When its orders end, because the server did, it finishes what was paid for and leaves.
"""

import fcntl
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from veilset import (
    BudgetExceeded,
    Ledger,
    Transactions,
    VeilsetError,
    items,
    mine,
    publish,
    read,
    write_encoded,
)
from veilset.service.documents import document_of
from veilset.writing import write_whole

_VERBS: dict[str, Callable[..., Any]] = {"mine": mine, "items": items, "publish": publish}

_held: dict[tuple[str, int], Transactions] = {}
"""The data of the last dataset, by its file and when that was written."""


def main() -> None:
    """Answer orders until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not be taken for an answer
    orders = sys.stdin
    settings = json.loads(orders.readline())
    limit = settings["memory_mb"] << 20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with Path(settings["lock"]).open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer_orders(orders, answers)


def answer_orders(orders: IO[str], answers: IO[str]) -> None:
    """One answer for each order: how it ended, what whoever asked is told, and what the owner is told beside."""
    _tell(answers, {"state": "ready"})
    for line in orders:
        _tell(answers, outcome_of(json.loads(line)))


def outcome_of(order: dict[str, Any]) -> dict[str, str]:
    """Do as ordered. What an error says can be about the data: it is for the owner's eyes."""
    try:
        told = _read(order) if order["task"] == "read" else _release(order)
    except BudgetExceeded as refusal:
        return {"state": "refused", "message": str(refusal), "detail": ""}
    except MemoryError:
        return {"state": "failed", "message": _ASK, "detail": "it took more memory than a worker may have"}
    except VeilsetError as error:
        return {"state": "failed", "message": _ASK, "detail": str(error)}
    except Exception as error:  # noqa: BLE001 - a worker answers, whatever happens
        return {"state": "failed", "message": _ASK, "detail": f"{type(error).__name__}, for veilset to mend"}
    return {"state": "done", "message": "", "detail": "", **told}


_ASK = "the work failed; the owner of the data can see why, and the ledger says what it cost"


def _read(order: dict[str, Any]) -> dict[str, str]:
    """Read data as its owner described it, and keep it in the encoded form; on a cluster it stays there.

    How many items there are is told where they are public, on the owner's word, and else not.
    """
    data = _data_at(order)
    if order["options"].get("engine") == "spark":
        write_whole(order["data"], order["job"])  # marks when it was read: whoever held it reads it again
    else:
        write_encoded(data, order["data"])
    return {"items": str(len(data.alphabet))} if order["tells_items"] else {}


def _data_at(order: dict[str, Any]) -> Transactions:
    return read(order["source"], alphabet=order["alphabet"] or None, **order["options"])


def _release(order: dict[str, Any]) -> dict[str, str]:
    """Ask, on the account of the dataset, under the request's own number: it can be paid for once."""
    ledger = Ledger(order["ledger"], who=order["who"], must_exist=True)
    account = ledger.dataset(order["dataset"], warn=_warn).for_release(
        reference=order["job"], different_people=order["different_people"]
    )
    result = _VERBS[order["task"]](_data_of(order), account=account, **order["request"])
    write_whole(order["result"], json.dumps(document_of(result), ensure_ascii=False))
    return {}


def _data_of(order: dict[str, Any]) -> Transactions:
    """The data of a dataset, mapped or on its cluster; the last one is held."""
    key = (order["data"], Path(order["data"]).stat().st_mtime_ns)
    if key not in _held:
        _held.clear()
        _held[key] = _data_at(order) if "source" in order else read(order["data"])
    return _held[key]


def _warn(message: str) -> None:
    """Warnings of the ledger are for the owner: they go to the log of the server."""
    sys.stderr.write(f"{message}\n")


def _tell(answers: IO[str], answer: dict[str, str]) -> None:
    try:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    except BrokenPipeError:  # the server is gone; what was paid for lies in its file
        sys.exit(0)


if __name__ == "__main__":
    main()
