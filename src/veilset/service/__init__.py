"""The service: a curator for a team. Raw data stays on the server; analysts meet pages and an API.

Nothing here opens the gate but `worker`, a process of its own, through the verbs of the library: every release is paid
for by the ledger before anything is looked at. Everything else handles names, requests, budgets and what was released.
Imports nothing by itself: `client` needs none of the libraries that the server needs.
"""
