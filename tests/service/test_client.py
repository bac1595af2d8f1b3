"""The client: the verbs of the library, over the network."""

import pytest

import veilset as vs
from service_cases import Site
from veilset.errors import BadCall, BudgetExceeded
from veilset.service.client import ServiceUnavailable

WRONG = "vst_wrong"


def test_the_verbs_return_what_the_library_returns(site: Site) -> None:
    """Releases and published datasets, which a ledger paid for."""
    client = vs.connect(site.url, token=site.team.tokens["analyst"])
    assert "stores" in [each["name"] for each in client.datasets()]
    assert client.forecast("stores", epsilon=0.5, k=3)["is_affordable"]
    release = client.mine("stores", epsilon=1, k=3)
    assert isinstance(release, vs.Release)
    assert release.ledger is not None
    assert len(client.items("stores", epsilon="1/2", k=2)) == 2
    published = client.publish("stores", epsilon=1)
    assert isinstance(published, vs.Published)
    assert published.to_frame().height > 0


def test_a_request_with_a_key_is_paid_for_once(site: Site) -> None:
    """Also from another program."""
    first, second = (
        vs.connect(site.url, token=site.team.tokens["analyst"]).mine(
            "stores", epsilon=1, k=3, key="week-46-a"
        )
        for _ in range(2)
    )
    assert first.ledger == second.ledger


def test_errors_are_those_of_the_library(site: Site) -> None:
    """With what the service said."""
    client = vs.connect(site.url, token=site.team.tokens["analyst"])
    with pytest.raises(BudgetExceeded, match="is left of"):
        client.mine("stores", epsilon=10_000, k=3)
    with pytest.raises(BadCall, match="no dataset"):
        client.mine("nothing", epsilon=1, k=3)
    with pytest.raises(BadCall, match="log in"):
        vs.connect(site.url, token=WRONG).datasets()


def test_a_token_is_not_sent_where_it_can_be_read(site: Site) -> None:
    """Http is for this machine only; an address is an address."""
    for url, complaint in (
        ("http://example.org", "https"),
        ("ftp://x", "no address"),
        ("example", "no address"),
    ):
        with pytest.raises(BadCall, match=complaint):
            vs.connect(url, token=WRONG)
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        vs.connect("http://127.0.0.1:9", token=WRONG).datasets()
    assert site.url.startswith("http://127.0.0.1")
