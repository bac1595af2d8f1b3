"""Try to refute the guarantees: lower bounds on epsilon, for what ships and for what was printed.

The package can be called: `veilset.audit("planned", samples=0)` is `veilset.audit.verb.refute`.
"""

from veilset.callable_packages import make_callable

make_callable(__name__, home="veilset.audit.verb", verb="refute")
