"""Measured values as distributions: from a table to the cells that kernels take."""
