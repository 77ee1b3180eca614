"""Files: saved models, and tables."""
