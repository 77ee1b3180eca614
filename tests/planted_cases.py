"""Attacks for the workers of the fuzzer: this module imports nothing that takes long."""

import os
import time


def prepare():
    pass


def attack(case):
    """Do what the case is called."""
    kind = case.partition(":")[0]
    if kind == "hang":
        time.sleep(600)
    if kind == "crash":
        os._exit(3)
    return f"a violation\nof {case}" if kind == "wrong" else None
