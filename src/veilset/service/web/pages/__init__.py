"""The pages for people: plain HTML from the server, so that a strict policy can forbid every inline script and style.

Each page says what it needs, calls the core, and fills a template; forms lead back to a page. Whatever is shown is
escaped by the templates. What moves by itself (forecasts, progress, sorting) is one small script over pages that work
without it.
"""

from veilset.service.web.pages.datasets import dataset_pages
from veilset.service.web.pages.filling import problem_page
from veilset.service.web.pages.ledger import ledger_pages
from veilset.service.web.pages.people import people_pages
from veilset.service.web.pages.releases import release_pages

__all__ = ["PAGE_ROUTERS", "problem_page"]

PAGE_ROUTERS = (people_pages, dataset_pages, release_pages, ledger_pages)
"""All pages, by subject."""
