"""A client of the service, with the verbs of the library: `veilset.connect(url, token=...)`.

It needs nothing of what the server needs. A request has a key of its own, so that one that is sent again, because the
connection broke, is paid for once.
"""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen
from uuid import uuid4

from veilset.errors import BadCall, BudgetExceeded, VeilsetError
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.service.documents import result_of

_TRIES = 3
_SECONDS_TO_WAIT = 60.0
_LONGEST_WAIT_BETWEEN_LOOKS = 5.0
_NOT_SECURE = ("127.0.0.1", "localhost", "::1")

Kind = TypeVar("Kind", Release, Published)


class ServiceUnavailable(VeilsetError):  # noqa: N818 - reads as what happened
    """A service that cannot be reached, or does not answer."""


class Client:
    """A service, for one user; made by `connect`."""

    def __init__(self, url: str, *, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadCall(f"{url!r} is no address of a service; give one such as https://veilset.example.org")
        if parts.scheme == "http" and parts.hostname not in _NOT_SECURE:
            raise BadCall("a token sent by http can be read on its way; give an https address")
        self._url, self._token = url.rstrip("/"), token

    def __repr__(self) -> str:
        return f"Client({self._url!r})"

    def datasets(self) -> list[dict[str, Any]]:
        """The datasets that I have to do with, and what is left of their budgets."""
        found: list[dict[str, Any]] = self._call("GET", "/datasets")
        return found

    def forecast(self, dataset: str, *, epsilon: object, k: int = 100, **wanted: object) -> dict[str, Any]:
        """What a release would be worth, before anything is spent."""
        given = {name: value for name, value in wanted.items() if value is not None}
        query = urlencode(
            [("epsilon", str(epsilon)), ("k", str(k)), *((n, str(v)) for n, v in given.items())]
        )
        expected: dict[str, Any] = self._call("GET", f"/datasets/{quote(dataset)}/forecast?{query}")
        return expected

    def mine(self, dataset: str, *, epsilon: object, **wanted: object) -> Release:
        """Frequent itemsets, as `veilset.mine` finds them; waits until they are told."""
        return self._released(Release, dataset, "mine", epsilon, wanted)

    def items(self, dataset: str, *, epsilon: object, k: int, **wanted: object) -> Release:
        """The most frequent items, as `veilset.items` finds them; waits until they are told."""
        return self._released(Release, dataset, "items", epsilon, {"k": k, **wanted})

    def publish(self, dataset: str, *, epsilon: object, **wanted: object) -> Published:
        """A whole dataset, as `veilset.publish` makes it; waits until it is told."""
        return self._released(Published, dataset, "publish", epsilon, wanted)

    def _released(
        self, kind: type[Kind], dataset: str, task: str, epsilon: object, wanted: dict[str, object]
    ) -> Kind:
        """Ask, wait, fetch. `key` names the request, where it is to survive this program."""
        key = str(wanted.pop("key", None) or uuid4().hex)
        body: dict[str, object] = {"dataset": dataset, "task": task, "epsilon": str(epsilon)}
        body |= {name: _plain(value) for name, value in wanted.items() if value is not None}
        job = self._call("POST", "/releases", body, {"Idempotency-Key": key})
        while job["state"] == "waiting":
            time.sleep(min(max(job["told_at"] - time.time(), 0.05), _LONGEST_WAIT_BETWEEN_LOOKS))
            job = self._call("GET", f"/releases/{job['id']}")
        if job["state"] != "done":
            error = BudgetExceeded if job["state"] == "refused" else VeilsetError
            raise error(f"the request {job['id']} ended as {job['state']}: {job['message']}")
        result = result_of(self._call("GET", f"/releases/{job['id']}/result"))
        if not isinstance(result, kind):
            raise ServiceUnavailable("the service answered with something else than was asked for")
        return result

    def _call(self, method: str, path: str, body: object = None, heads: dict[str, str] | None = None) -> Any:  # noqa: ANN401 - whatever the route answers
        """One call; one that changes nothing, or has a key, is tried again where the connection breaks."""
        sent = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **(heads or {})}
        content = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}/api/v1{path}", content, sent, method=method)  # noqa: S310 - http or https
        return _tried_again(lambda: _answer(request), self._url)


def _plain(value: object) -> object:
    return value if isinstance(value, int | str) else str(value)


def _answer(request: Request) -> Any:  # noqa: ANN401
    try:
        with urlopen(request, timeout=_SECONDS_TO_WAIT) as response:  # noqa: S310 - http or https
            return json.loads(response.read())
    except HTTPError as error:
        with error:
            raise _complaint_of(error.code, error.read()) from None


def _complaint_of(status: int, content: bytes) -> VeilsetError:
    """What the service said, as the library would have said it."""
    try:
        message = str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        message = f"the service answered with status {status}"
    if status == 409:
        return BudgetExceeded(message)
    return ServiceUnavailable(message) if status >= 500 else BadCall(message)


def _tried_again(call: Callable[[], Any], url: str) -> Any:  # noqa: ANN401
    failure: object = None
    for number in range(_TRIES):
        try:
            return call()
        except (URLError, ConnectionError, TimeoutError) as error:
            failure = getattr(error, "reason", error)
            time.sleep(0.2 * number)
    raise ServiceUnavailable(f"the service at {url} cannot be reached ({failure}); see that it runs")


def connect(url: str, *, token: str) -> Client:
    """A client of a service, with the verbs of the library.

    >>> connect("https://veilset.example.org", token="vst_...")
    Client('https://veilset.example.org')
    """
    return Client(url, token=token)
