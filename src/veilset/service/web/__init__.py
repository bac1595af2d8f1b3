"""The API and the pages: they parse, call the core once, and show what comes of it. The only importer of FastAPI."""
