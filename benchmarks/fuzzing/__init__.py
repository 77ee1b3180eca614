"""Random attacks on probforest; `benchmarks/fuzz.py` runs them.

`cases` knows the kinds of attack (`calls`, `laws`, `model_files`, `kills`) and runs one case of one kind, which is made
of nothing but a seed and its number. `workers` runs cases in processes of their own, which may crash or hang; `hunt`
shares the time between the kinds. `values` and `problems` make random tables and models, `spoilers` makes one thing
wrong with them, `answers` says what a sane answer is.
"""
