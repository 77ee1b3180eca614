"""How good probabilities are: scores, figures, a report."""
