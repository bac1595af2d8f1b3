"""The documentation site and what a release needs: pages made from code, pictures, lists of figures, checks."""
