"""The pages in a real browser: what an owner, an analyst and an auditor do, by clicks and keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from pages import CHROMIUM
from service_cases import PASSWORD, ROWS, Site, Team
from veilset.service.core import Service
from veilset.service.settings import ServiceSettings

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

PATIENCE = 120_000
"""120 seconds for whatever a page waits for: other tests may keep the machine busy."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about, such as what a policy forbids."""
    return []


def logged_in(
    browser: Browser,
    site: Site,
    name: str,
    complaints: list[str],
    *,
    width: int = 1280,
    password: str = PASSWORD,
) -> Page:
    """A page of somebody who logged in."""
    context = browser.new_context(viewport={"width": width, "height": 900}, base_url=site.url)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto("/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Log out").wait_for()
    return page


def overflows(page: Page) -> bool:
    """Whether a page is wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def register_by_clicks(owner: Page, file: Path) -> None:
    """Upload a file, describe it, give anna an allowance."""
    owner.get_by_role("link", name="Register data").click()
    owner.get_by_label("Upload a file").set_input_files(file)
    expect(owner.get_by_text("clicks.dat is there")).to_be_visible()
    owner.get_by_label("Short name").fill("clicked")
    owner.get_by_label("Title").fill("Clicked <b>together</b>")
    owner.get_by_role("button", name="Register").click()
    expect(owner.get_by_role("alert")).to_contain_text("in another dataset, too (")
    assert owner.get_by_label("Title").input_value() == "Clicked <b>together</b>"
    owner.get_by_label("no, nobody is in any of them").check()
    owner.get_by_label("all that occur").check()
    owner.get_by_text("What is public anyway").click()
    for label, value in (("About how many transactions", "900"), ("About how many items", "4")):
        owner.get_by_label(label).fill(value)
    owner.get_by_label("Items in a transaction").fill("2")
    owner.get_by_role("button", name="Register").click()
    expect(owner.get_by_role("heading", name="Clicked <b>together</b>")).to_be_visible()
    expect(owner.get_by_text("data: ready")).to_be_visible()
    owner.get_by_label("Analyst").select_option("anna")
    owner.get_by_label("epsilon", exact=True).fill("2")
    owner.get_by_role("button", name="Set allowance").click()
    expect(owner.get_by_role("cell", name="anna")).to_be_visible()


def test_an_owner_registers_data_and_an_analyst_asks(
    browser: Browser, site: Site, complaints: list[str], tmp_path: Path
) -> None:
    """The first steps, an upload, an allowance; a forecast, a request, its progress, the release, a refusal."""
    file = tmp_path / "clicks.dat"
    file.write_text(
        ROWS + ROWS.splitlines(keepends=True)[0]
    )  # other data: the ledger refuses a second budget for it
    owner = logged_in(browser, site, "olga", complaints)
    owner.goto("/welcome")
    register_by_clicks(owner, file)

    analyst = logged_in(browser, site, "anna", complaints, width=380)
    analyst.goto("/ask/clicked")
    analyst.get_by_label("How many").fill("5")
    expect(analyst.locator("#found")).to_contain_text("%")
    assert not overflows(analyst)
    analyst.get_by_label("Epsilon, exactly").fill("3")
    expect(analyst.get_by_text("This costs more than you have left.")).to_be_visible()
    expect(analyst.get_by_role("button", name="Ask and pay")).to_be_disabled()
    analyst.get_by_label("Epsilon, exactly").fill("1.5")
    expect(analyst.locator("#after")).to_have_text("epsilon 0.5")
    analyst.get_by_role("button", name="Ask and pay").click()
    expect(analyst.get_by_role("heading", name="What is common in clicked")).to_be_visible()
    assert not overflows(analyst)
    analyst.get_by_label("Search itemsets").fill("7")
    assert (
        analyst.locator("#itemsets tbody tr:visible").count() < analyst.locator("#itemsets tbody tr").count()
    )
    analyst.get_by_role("button", name="count").press("Enter")
    assert analyst.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    with analyst.expect_download() as download:
        analyst.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename.endswith(".csv")
    assert analyst.goto("/people").status == 403  # type: ignore[union-attr]
    expect(analyst.get_by_role("alert")).to_contain_text("does not allow")
    assert [each for each in complaints if "403" not in each and "400" not in each] == []


def test_the_first_owner_is_led_to_the_first_steps(
    browser: Browser, tmp_path: Path, complaints: list[str]
) -> None:
    """A new service: the password that is told once, four steps, a form without what nobody set up, a new user."""
    service = Service(ServiceSettings(folder=tmp_path / "new").complete())
    password = service.people.first_password()
    assert password is not None
    with Site(Team(service), has_workers=False) as new:
        page = logged_in(browser, new, "admin", complaints, password=password)
        expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
        assert page.get_by_role("listitem").count() == 4
        page.get_by_role("link", name="Register data").click()
        assert page.locator("[name=source]:visible, [name=same_people_as]").count() == 0
        expect(page.get_by_label("Delta, for all releases")).to_be_visible()
        page.get_by_label("only those of this public list").check()
        expect(page.get_by_label("The public list")).to_be_visible()
        expect(page.get_by_label("Delta, for all releases")).to_be_hidden()
        page.goto("/people")
        page.get_by_label("Name").fill("anna")
        page.get_by_role("button", name="Add").click()
        told = page.locator("#secret").inner_text()
        analyst = logged_in(browser, new, "anna", complaints, password=told, width=380)
        expect(analyst.get_by_text("an owner must give you an allowance")).to_be_visible()
    service.close()
    assert complaints == []


def test_an_auditor_sees_the_books_and_no_answers(
    browser: Browser, site: Site, complaints: list[str]
) -> None:
    """The time line of the ledger, who did what; of a release the questions and the promise."""
    with site.client("analyst") as client:
        heads = {"Idempotency-Key": "for-the-auditor"}
        body = {"dataset": "stores", "epsilon": "1", "k": 3}
        job = client.post("/api/v1/releases", json=body, headers=heads).json()["id"]
    site.team.wait_until_told(job)
    page = logged_in(browser, site, "adam", complaints)
    page.get_by_role("link", name="Ledger").click()
    expect(page.get_by_text("Every entry is as it was written")).to_be_visible()
    expect(page.get_by_role("list").filter(has_text="reserved").first).to_be_visible()
    page.goto(f"/releases/{job}")
    expect(page.get_by_text("What was answered is not shown to you")).to_be_visible()
    assert page.locator("#itemsets").count() == 0
    assert complaints == []


@pytest.mark.parametrize("width", [380, 1280])
def test_no_page_is_wider_than_its_window(
    browser: Browser, site: Site, complaints: list[str], width: int
) -> None:
    """From a phone to a desk; every field has a label, and the browser complains about nothing."""
    page = logged_in(browser, site, "olga", complaints, width=width)
    for path in (
        "/",
        "/welcome",
        "/register",
        "/data/stores",
        "/ask/stores",
        "/releases",
        "/ledger",
        "/people",
        "/me",
    ):
        page.goto(path)
        assert not overflows(page), path
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
            ".filter(each => !each.labels.length && !each.ariaLabel && !each.getAttribute('aria-label')).length"
        )
        assert (path, unnamed) == (path, 0)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert complaints == []
