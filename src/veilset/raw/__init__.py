"""Raw data and exact counts live here; nothing outside `gate`, `exact` and `api` may import it."""
