"""The API against its own description: no failure of the server, no answer that is not described."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from service_cases import Site, make_team

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 2


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service of its own: what is tried changes it."""
    team = make_team(
        tmp_path_factory.mktemp("described"), is_read=True, has_tokens=True, logins_per_minute=10**6
    )
    with Site(team, has_workers=False) as site:
        yield site
    team.service.close()


@pytest.mark.parametrize("role", ["owner", "analyst"])
def test_every_answer_is_described(described: Site, role: str) -> None:
    """Whatever is sent: what fits the description, and what does not."""
    schema = schemathesis.openapi.from_dict(described.app.openapi())
    for operation in schema.get_all_operations():
        _try(operation.ok(), described, role)  # type: ignore[union-attr]


def _try(operation: schemathesis.APIOperation, site: Site, role: str) -> None:  # type: ignore[type-arg]
    quiet = settings(
        max_examples=EXAMPLES,
        database=None,
        suppress_health_check=list(HealthCheck),
        deadline=None,
        derandomize=True,
    )

    @quiet
    @given(case=operation.as_strategy())
    def tried(case: schemathesis.Case[Any]) -> None:
        heads = {"authorization": f"Bearer {site.team.tokens[role]}"}
        case.call_and_validate(base_url=site.url, headers=heads, checks=CHECKS)

    tried()
