"""The API: what it answers, and what it makes of input that means harm."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import httpx
import polars as pl
import pytest

from pages import HOSTILE
from service_cases import PASSWORD, STORES, Site, told_lines, wait_until
from veilset.results.release import Release

ASK = {"dataset": "stores", "epsilon": "1", "k": 3}


def asked(client: httpx.Client, key: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """A request, when its end is told."""
    answer = client.post("/api/v1/releases", json={**ASK, **changes}, headers={"Idempotency-Key": key})
    assert answer.status_code == 202, answer.text
    with client.stream("GET", f"/api/v1/releases/{answer.json()['id']}/events") as stream:
        told: dict[str, Any] = told_lines("".join(stream.iter_text()))[-1]
    return told


def test_a_release_is_asked_for_watched_and_downloaded(site: Site) -> None:
    """In every form; the JSON is a release of the library."""
    with site.client("analyst") as client:
        job = asked(client, "download-1")
        assert job["state"] == "done"
        files = {
            form: client.get(f"/api/v1/releases/{job['id']}/download/{form}")
            for form in ("json", "csv", "parquet", "xlsx", "html")
        }
    assert {form: file.status_code for form, file in files.items()} == dict.fromkeys(files, 200)
    release = Release.from_dict(json.loads(files["json"].content))
    assert release.is_private
    frame = release.to_frame()
    assert pl.read_parquet(BytesIO(files["parquet"].content)).equals(frame)
    assert files["csv"].text.count("\n") == len(release) + 1
    assert "itemsets" in ZipFile(BytesIO(files["xlsx"].content)).read("xl/workbook.xml").decode()
    assert "attachment" in files["html"].headers["content-disposition"]


def test_a_published_dataset_has_its_own_forms(site: Site) -> None:
    """Parquet and JSON."""
    with site.client("analyst") as client:
        job = asked(client, "publish-1", task="publish", k=None)
        forms = ("json", "parquet", "csv")
        found = [client.get(f"/api/v1/releases/{job['id']}/download/{form}").status_code for form in forms]
    assert found == [200, 200, 400]


def test_rules_and_a_comparison_cost_nothing(site: Site) -> None:
    """The budget is the same before and after."""
    with site.client("analyst") as client:
        one, other = asked(client, "compare-1"), asked(client, "compare-2")
        before = client.get("/api/v1/datasets/stores").json()["budget"]
        assert isinstance(client.get(f"/api/v1/releases/{one['id']}/rules").json(), list)
        compared = client.get(f"/api/v1/compare/{one['id']}/{other['id']}").json()
        assert "in_both" in compared
        assert client.get("/api/v1/datasets/stores").json()["budget"] == before


def test_an_auditor_reads_the_trace_and_not_the_answer(site: Site) -> None:
    """Unless it was granted."""
    with site.client("analyst") as client:
        job = asked(client, "audited-1")["id"]
    with site.client("auditor") as auditor:
        trace = auditor.get(f"/api/v1/releases/{job}/trace").json()
        assert "itemsets" not in trace
        assert trace["trace"]
        assert auditor.get(f"/api/v1/releases/{job}/result").status_code == 403
        assert auditor.get("/api/v1/ledger/verify").json()["is_sound"]
        site.team.service.people.change("adam", sees_releases=True)
        assert auditor.get(f"/api/v1/releases/{job}/result").status_code == 200
        site.team.service.people.change("adam", sees_releases=False)


def test_a_retry_is_the_same_request_and_another_body_is_refused(quiet_site: Site) -> None:
    """By the key."""
    with quiet_site.client("analyst") as client:
        heads = {"Idempotency-Key": "the-same-key"}
        answers = [client.post("/api/v1/releases", json=ASK, headers=heads).json()["id"] for _ in range(3)]
        assert len(set(answers)) == 1
        assert client.post("/api/v1/releases", json={**ASK, "k": 4}, headers=heads).status_code == 409
        assert client.post("/api/v1/releases", json=ASK).status_code == 422


def test_who_asks_for_too_much_is_told_what_is_left(quiet_site: Site) -> None:
    """Nothing waits for it."""
    with quiet_site.client("analyst") as client:
        heads = {"Idempotency-Key": "much-too-much"}
        answer = client.post("/api/v1/releases", json={**ASK, "epsilon": "1000"}, headers=heads)
    assert answer.status_code == 409
    assert "is left of epsilon 100" in answer.json()["error"]


@pytest.mark.parametrize(
    "change",
    [
        {"k": 16},
        {"k": 5, "max_size": 1},
        {"k": 5, "task": "items"},
        {"k": None},
        {"k": 3, "task": "items", "max_size": 2},
        {"epsilon": "1/10000000"},
        {"epsilon": "0"},
        {"epsilon": "1/0"},
        {"epsilon": "1e-400"},
        {"min_support": "0"},
        {"min_support": "1.0"},
        {"delta": "1e-9"},
        {"method": "nothing"},
        {"method": "tps-em"},
        {"task": "publish", "k": None, "method": "planned:nothing"},
    ],
)
def test_what_cannot_be_answered_is_refused_at_the_door(quiet_site: Site, change: dict[str, Any]) -> None:
    """With a sentence; nothing waits, nothing is paid. The data has 4 items, which are public."""
    service = quiet_site.team.service
    service.catalogue.tell_items("stores", 4)
    with quiet_site.client("analyst") as client:
        before = client.get("/api/v1/datasets/stores").json()["budget"]
        heads = {"Idempotency-Key": "refused-at-the-door"}
        answer = client.post("/api/v1/releases", json={**ASK, **change}, headers=heads)
        assert answer.status_code == 400, answer.text
        assert len(answer.json()["error"]) > 30
        assert client.get("/api/v1/datasets/stores").json()["budget"] == before
    assert "refused-at-the-door" not in {job.key for job in service.jobs.of_datasets(["stores"])}


def test_a_forecast_looks_at_nothing_and_costs_nothing(quiet_site: Site) -> None:
    """It says what to expect and what would be left."""
    with quiet_site.client("analyst") as client:
        before = client.get("/api/v1/datasets/stores").json()["budget"]["left"]
        told = client.get("/api/v1/datasets/stores/forecast", params={"epsilon": "1/2", "k": 3}).json()
        assert 0 < told["found"] <= 1
        assert told["is_affordable"]
        assert client.get("/api/v1/datasets/stores").json()["budget"]["left"] == before


NEW = {
    "file": "baskets.dat",
    "items": "public",
    "unit": "transaction",
    "epsilon": "1",
    "different_people": True,
}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": HOSTILE}, 422),
        ({"name": "../stores"}, 422),
        ({"name": "a" * 10_000_000}, 422),
        ({"file": "../service.db"}, 400),
        ({"file": "/etc/passwd"}, 400),
        ({"file": "baskets.dat\0.csv"}, 400),
        ({"file": "..\\service.db"}, 400),
        ({"file": "nothing.dat"}, 400),
        ({"query": "SELECT 1"}, 400),
        ({"source": "query", "file": "", "connection": "shop", "query": "SELECT 1"}, 400),
        ({"source": "query", "file": "", "connection": "sqlite:///service.db", "query": "SELECT 1"}, 400),
        ({"source": "folder", "file": "."}, 400),
        ({"source": "folder", "file": "nothing"}, 400),
        ({"source": "spark", "file": "", "path": "s3a://lake/x"}, 400),
        ({"connection_string": "postgresql://x"}, 422),
        ({"different_people": False}, 400),
        ({"same_people_as": ["stores"]}, 400),
        ({"same_people_as": ["nothing"], "different_people": False}, 400),
        ({"unit": "person"}, 400),
        ({"owner": "customer"}, 400),
        ({"per_owner": 3}, 400),
        ({"items": "private"}, 400),
        ({"epsilon": "9" * 10_000_000}, 422),
        ({"epsilon": "NaN"}, 422),
        ({"epsilon": "1/0"}, 400),
        ({"items": "list"}, 400),
        ({"format": "pickle"}, 422),
        ({"rows": -1}, 422),
    ],
)
def test_a_dataset_that_cannot_be_meant_is_refused(
    quiet_site: Site, change: dict[str, Any], status: int
) -> None:
    """HTML, paths elsewhere, very long strings, SQL where none is taken."""
    with quiet_site.client("owner") as client:
        answer = client.post("/api/v1/datasets", json={"name": "other", **NEW, **change})
        assert answer.status_code == status
        assert len(answer.text) < 2000
        assert "other" not in [each["name"] for each in client.get("/api/v1/datasets").json()]


@pytest.mark.parametrize("name", ["..%2Fservice.db", ".hidden", "a%00b", "x" * 200, "a%2Fb"])
def test_a_file_is_uploaded_to_its_folder_and_nowhere_else(quiet_site: Site, name: str) -> None:
    """Names that lead elsewhere are refused."""
    with quiet_site.client("owner") as client:
        assert client.put(f"/api/v1/files/{name}", content=b"1 2").status_code in {404, 422}


def test_a_file_is_not_replaced_and_not_larger_than_allowed(quiet_site: Site) -> None:
    """What was uploaded of a file that is too large is gone."""
    settings = quiet_site.team.service.settings
    with quiet_site.client("owner") as client:
        assert client.put("/api/v1/files/new.dat", content=b"1 2").status_code == 201
        assert client.put("/api/v1/files/new.dat", content=b"3").status_code == 400
        object.__setattr__(settings, "largest_upload_mb", 1)
        assert client.put("/api/v1/files/big.dat", content=b"1" * (2 << 20)).status_code == 413
    assert sorted(path.name for path in settings.uploads.iterdir() if "big" in path.name) == []


def test_a_title_with_html_is_shown_as_text(quiet_site: Site) -> None:
    """On every page that shows it."""
    service = quiet_site.team.service
    with quiet_site.client("owner") as client:
        body = {"name": "hostile", **NEW, "title": HOSTILE[:100]}
        assert client.post("/api/v1/datasets", json=body).status_code == 201
        for path in ("/", "/data/hostile", "/ask/hostile", "/welcome"):
            html = client.get(path).text
            assert "<script>alert" not in html
            assert "<img src=x" not in html
        assert "&lt;/script&gt;" in client.get("/data/hostile").text
    assert service.catalogue.get("hostile").told.title == HOSTILE[:100]
    assert STORES.title == "Stores"


def test_items_with_html_are_shown_as_text(site: Site) -> None:
    """In the table, the network and the rules of a release; in a sheet a name is no formula."""
    service = site.team.service
    names = [HOSTILE.replace(",", ""), "=1+1", "milk"]
    lines = f'"{names[0].replace(chr(34), chr(34) * 2)}",{names[1]},{names[2]}\n' * 500
    (service.settings.uploads / "hostile.csv").write_text(lines)
    with site.client("owner") as client:
        body = {
            **NEW,
            "name": "items",
            "file": "hostile.csv",
            "epsilon": "100",
            "format": "basket",
            "separator": ",",
        }
        assert client.post("/api/v1/datasets", json=body).status_code == 201
        wait_until(lambda: service.catalogue.get("items").state != "reading")
        assert service.catalogue.get("items").detail == ""
        job = asked(client, "hostile-1", dataset="items", epsilon="50", k=7)["id"]
        html = client.get(f"/releases/{job}").text
        sheet = ZipFile(BytesIO(client.get(f"/api/v1/releases/{job}/download/xlsx").content))
    assert html.count("&lt;script&gt;alert(1)") > 3
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<f>" not in sheet.read("xl/worksheets/sheet1.xml").decode()


def test_a_user_is_made_changed_and_locked_out(quiet_site: Site) -> None:
    """By an owner."""
    with quiet_site.client("owner") as client, quiet_site.client() as nobody:
        body = {"name": "carl", "role": "analyst", "password": PASSWORD}
        assert client.post("/api/v1/users", json=body).status_code == 201
        assert client.post("/api/v1/users", json=body).status_code == 400
        login = {"name": "carl", "password": PASSWORD}
        assert nobody.post("/api/v1/login", json=login).status_code == 200
        assert client.patch("/api/v1/users/carl", json={"is_active": False}).json()["is_active"] is False
        assert nobody.post("/api/v1/login", json=login).status_code == 401
        amount = client.put("/api/v1/datasets/stores/allowances/carl", json={"epsilon": "1/3"}).json()
        assert amount == {"epsilon": "1/3", "delta": "0"}


def test_a_token_is_made_listed_and_revoked(quiet_site: Site) -> None:
    """Its secret is told once."""
    with quiet_site.client("analyst") as client:
        token = client.post("/api/v1/tokens", json={"label": "x", "scope": "read"}).json()["token"]
        rows = client.get("/api/v1/tokens").json()
        assert token.split("_")[1] in [row["id"] for row in rows]
        assert token.split("_", 2)[2] not in json.dumps(rows)
        with quiet_site.client(token=token) as other:
            assert other.get("/api/v1/datasets").status_code == 200
            assert other.post("/api/v1/releases", json=ASK).status_code == 403
            assert client.delete(f"/api/v1/tokens/{token.split('_')[1]}").status_code == 204
            assert other.get("/api/v1/datasets").status_code == 401


def test_a_body_without_an_end_is_not_read(quiet_site: Site) -> None:
    """Neither one that is too large, nor one that does not say how large it is."""
    with quiet_site.client("analyst") as client:
        answers = [
            client.post("/api/v1/releases", content=b" " * (17 << 20)).status_code,
            client.post("/api/v1/releases", content=iter([b"{", b"}"])).status_code,
        ]
    assert answers == [413, 413]


def test_metrics_count_and_tell_nothing_else(quiet_site: Site) -> None:
    """Requests by what is told of them, answers by status."""
    with quiet_site.client("owner") as client:
        text = client.get("/metrics").text
    assert 'veilset_requests{state="waiting"}' in text
    assert "stores" not in text


def test_raising_a_total_leaves_its_reason_in_the_ledger(quiet_site: Site) -> None:
    """With who raised it."""
    with quiet_site.client("owner") as client:
        body = {"epsilon": "200", "reason": "a second year"}
        assert client.post("/api/v1/datasets/stores/total", json=body).status_code == 200
        assert client.post("/api/v1/datasets/stores/total", json={**body, "epsilon": "1"}).status_code == 400
        reasons = [
            json.loads(entry["details"]).get("reason") for entry in client.get("/api/v1/ledger").json()
        ]
    assert "olga: a second year" in reasons
