"""Try to refute the guarantees: statistical lower bounds on epsilon, for what ships and for what was printed."""
