"""The paper's experiments, with the comparisons that it leaves out: `probforest experiments`.

`cases` makes the data, `contenders` are the classifiers, `studies` says which of them meet on what, `report` writes
tables and `figures` draws them.
"""
