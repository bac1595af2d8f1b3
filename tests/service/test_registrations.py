"""Where data comes from: places that the settings name, and nowhere else. Workers read it for real."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import sail
from service_cases import OWNER, Team, make_team
from veilset.errors import BadCall, BudgetExceeded
from veilset.service.registrations import Registration, checked_registration, source_of
from veilset.service.settings import ServiceSettings

QUERY = Registration(
    source="query",
    connection="shop",
    query="select customer, item from sales",
    owner="customer",
    item="item",
    items="public",
    unit="person",
    different_people=True,
)
FOLDER = Registration(source="folder", file="days", items="public", unit="transaction", different_people=True)
ON_SPARK = Registration(
    source="spark", path="s3a://lake/baskets/day=1", items="public", unit="transaction", different_people=True
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A service with a worker that may read a database, a folder of Parquet and a place on a cluster."""
    folder = tmp_path_factory.mktemp("shop")
    sales = [(person, item) for person in range(60) for item in ("tea", "milk")[: 1 + person % 2]]
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE sales (customer INTEGER, item TEXT)")
        database.executemany("INSERT INTO sales VALUES (?, ?)", sales)
    database.close()
    baskets = pl.DataFrame({"items": [["a", "b"], ["a"], ["c"]] * 100})
    (folder / "lake").mkdir()
    baskets.write_parquet(folder / "lake" / "baskets.parquet")
    team = make_team(
        folder,
        release_every=0.2,
        connections={"shop": f"sqlite:///{folder / 'shop.db'}"},
        spark_paths=(str(folder / "lake"),),
        spark_master=sail.address(),
    )
    days = team.service.settings.uploads / "days"
    days.mkdir()
    for day in range(2):
        baskets.write_parquet(days / f"{day}.parquet")
    team.service.dispatcher.start()
    yield team
    team.service.close()


def read_by_worker(team: Team, name: str, told: Registration) -> Registration:
    """The dataset as a worker found it."""
    team.service.register(OWNER, name, told, epsilon="10", delta="0")
    team.wait_until_read(name)
    dataset = team.service.catalogue.get(name)
    assert (dataset.state, dataset.detail) == ("ready", "")
    return dataset.told


def test_data_is_read_from_a_database_and_from_a_folder(shop: Team) -> None:
    """The query is stored as it is run; how many items there are is known, since they are public."""
    told = read_by_worker(shop, "web", QUERY)
    assert told.query == "SELECT customer, item FROM sales"
    assert told.items_read == 2
    assert read_by_worker(shop, "days", FOLDER).items_read == 3
    job = shop.wait_until_told(shop.ask(OWNER, key="of-a-query", dataset="web", epsilon="5").id)
    assert (job.state, job.detail) == ("done", "")


def test_data_on_a_cluster_stays_there_and_is_asked(shop: Team) -> None:
    """What lies on the server is a mark that it was read."""
    path = f"{shop.service.settings.spark_paths[0]}/baskets.parquet"
    assert read_by_worker(shop, "lake", replace(ON_SPARK, path=path)).items_read == 3
    assert shop.service.settings.encoded_file("lake").stat().st_size < 100
    job = shop.wait_until_told(shop.ask(OWNER, key="on-spark", dataset="lake", epsilon="5").id)
    assert (job.state, job.detail) == ("done", "")


SETTINGS = ServiceSettings(
    spark_paths=("s3a://lake/baskets/",), connections={"shop": "sqlite:///shop.db"}
).complete()


@pytest.mark.parametrize(
    "path",
    [
        "s3a://lake/other",
        "s3a://lake/baskets-of-others/x",
        "s3a://lake/baskets/../other",
        "s3a://lake/baskets//x",
        "s3a://lake/baskets/%2e%2e/x",
        "s3a://lake/baskets/{a,b}",
        "s3a://lake/baskets/a b",
        "file:///etc/passwd",
        "/etc/passwd",
        "s3a://lake/baskets/\0",
    ],
)
def test_a_path_on_a_cluster_is_below_one_of_the_settings(path: str) -> None:
    """And does not lead up again, in whichever way it is written."""
    assert source_of(ON_SPARK, SETTINGS)["source"] == ON_SPARK.path
    with pytest.raises(BadCall, match="not below one that the settings"):
        checked_registration(replace(ON_SPARK, path=path), SETTINGS)


@pytest.mark.parametrize("query", ["DELETE FROM sales", "SELECT 1; SELECT 2", "SELECT load_extension('x')"])
def test_a_query_is_refused_before_anybody_connects(query: str) -> None:
    """There is no database at that address, and nobody notices."""
    with pytest.raises(BadCall, match=r"a query is one SELECT|do without it"):
        checked_registration(replace(QUERY, query=query), SETTINGS)


def test_a_folder_with_a_link_elsewhere_is_refused(tmp_path: Path) -> None:
    """Whoever may write into it must not make the service read other files."""
    settings = ServiceSettings(folder=tmp_path, data_folders=(tmp_path / "data",)).complete()
    (tmp_path / "data" / "days").mkdir(parents=True)
    assert source_of(FOLDER, settings)["source"].endswith("days")
    (tmp_path / "data" / "days" / "x.parquet").symlink_to("/etc/passwd")
    with pytest.raises(BadCall, match="lies elsewhere"):
        checked_registration(FOLDER, settings)
    (tmp_path / "data" / "out").symlink_to(tmp_path)
    with pytest.raises(BadCall, match="no such folder"):
        checked_registration(replace(FOLDER, file="out"), settings)


def test_a_second_dataset_says_whose_people_it_has(team: Team) -> None:
    """Without that it is refused, and nothing of it is in the ledger."""
    told = Registration(file="baskets.dat", items="public", unit="transaction")
    with pytest.raises(BadCall, match=r"in another dataset, too \(stores\)"):
        team.service.register(OWNER, "again", told, epsilon="1", delta="0")
    assert list(team.service.ledger.balances()) == ["stores"]


def test_datasets_with_the_same_people_pay_together(team: Team) -> None:
    """What waits for one counts for the other at the door, and what is left is the least of both."""
    told = Registration(file="baskets.dat", items="public", unit="transaction", same_people_as=("stores",))
    team.service.register(OWNER, "again", told, epsilon="1000", delta="0")
    team.service.catalogue.set_state("again", "ready")
    assert team.service.ledger.balances()["again"].people_of == ["stores"]
    assert team.service.budget("again").left.epsilon == 100
    team.ask(OWNER, key="of-again", dataset="again", epsilon="70")
    assert team.service.budget("stores").left.epsilon == 30
    with pytest.raises(BudgetExceeded, match="epsilon 30 is left of epsilon 100"):
        team.ask(OWNER, key="of-stores", epsilon="31")
    team.ask(OWNER, key="of-stores", epsilon="30")
    with pytest.raises(BudgetExceeded, match="epsilon 0 is left"):
        team.ask(OWNER, key="of-again-2", dataset="again", epsilon="1")


def test_datasets_with_different_people_pay_apart_and_the_promise_says_so(shop: Team) -> None:
    """The owner's word reaches the ledger with every release, also where the data is the same."""
    told = Registration(file="baskets.dat", items="public", unit="transaction", different_people=True)
    read_by_worker(shop, "apart", told)
    shop.wait_until_read()
    for dataset in ("stores", "apart"):
        job = shop.wait_until_told(shop.ask(OWNER, key=f"apart-{dataset}", dataset=dataset).id)
        assert (job.state, job.detail) == ("done", "")
    document = shop.service.document(OWNER, job.id)
    assert document["ledger"]["declared"]
    assert shop.service.budget("stores").spent.epsilon == pytest.approx(0.1, abs=0.1)
