"""The API, under /api/v1: each route says what it needs, calls the core once and answers in JSON."""

from veilset.service.web.api.audit import audit_api
from veilset.service.web.api.datasets import datasets_api
from veilset.service.web.api.people import people_api
from veilset.service.web.api.releases import releases_api

API_ROUTERS = (people_api, datasets_api, releases_api, audit_api)
"""All routes of the API, by subject."""
