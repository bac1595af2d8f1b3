"""How results are shown: on a terminal, and as pages that load nothing."""
