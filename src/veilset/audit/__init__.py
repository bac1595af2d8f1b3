"""Try to refute the guarantees: lower bounds on epsilon, for what ships and for what was printed."""
