"""Raw data and exact counts live here; who may import it stands in the contract on raw data in pyproject.toml."""
