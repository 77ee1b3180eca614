"""Tables with errors, the ways to test on them, and the classifiers that are compared."""
