"""The same small catalogue in files of every format, with units, masks and texts, for the tests of the command line."""

import bz2
import gzip
import lzma
from pathlib import Path

import astropy.units as u
import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
from astropy.table import MaskedColumn, Table

COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
FILES = ("t.csv", "t.tsv", "t.ecsv", "t.fits", "t.vot", "t.parquet", "plain.parquet", "t.arrow", "stream.arrows")
WITH_UNITS = ("t.ecsv", "t.fits", "t.vot", "t.parquet")


def make_catalogue(n_rows: int = 240, seed: int = 0) -> Table:
    """Two magnitudes with errors, one of them asymmetric; a count with holes; a flag; names, identifiers, classes."""
    random = np.random.default_rng(seed)
    is_star = random.random(n_rows) < 0.5
    g = 20 + np.where(is_star, 0.6, -0.6) + random.normal(0, 0.7, n_rows)
    size = np.where(is_star, 1.0, 2.0) + random.normal(0, 0.5, n_rows)
    table = Table()
    table["objid"] = np.arange(n_rows, dtype=np.int64) + 1_237_648_720_693_755_001  # needs all of its 19 digits
    table["name"] = [f"J{i:04d}, no. {i}" if i % 5 else "" for i in range(n_rows)]
    table["g"] = MaskedColumn(g, mask=random.random(n_rows) < 0.1, unit=u.mag)
    table["e_g"] = random.uniform(0.05, 0.3, n_rows) * u.mag
    table["size"] = size * u.arcsec
    table["size_err1"] = random.uniform(0.1, 0.3, n_rows) * u.arcsec
    table["size_err2"] = -random.uniform(0.1, 0.3, n_rows) * u.arcsec
    table["visits"] = MaskedColumn(random.integers(1, 9, n_rows), mask=random.random(n_rows) < 0.1)
    table["variable"] = random.random(n_rows) < 0.3
    table["kind"] = np.where(is_star, "star", "galaxy")
    table["sure"] = np.where(random.random(n_rows) < 0.2, 0.8, 1.0)
    return table


def write_everywhere(table: Table, folder: Path) -> None:
    """Write the table in all formats, and some of them compressed."""
    table.write(folder / "t.csv", format="ascii.csv")
    table.write(folder / "t.tsv", format="ascii.basic", delimiter="\t")
    table.write(folder / "t.ecsv", format="ascii.ecsv")
    table.write(folder / "t.fits", format="fits")
    table.write(folder / "t.vot", format="votable")
    table.write(folder / "t.parquet", format="parquet")
    plain = as_arrow(table)
    pyarrow.parquet.write_table(plain, folder / "plain.parquet", row_group_size=100)
    with pyarrow.ipc.new_file(folder / "t.arrow", plain.schema) as writer:
        writer.write_table(plain, max_chunksize=100)
    with pyarrow.ipc.new_stream(folder / "stream.arrows", plain.schema) as writer:
        writer.write_table(plain, max_chunksize=100)


def as_arrow(table: Table) -> pyarrow.Table:
    """The table without units, by way of Python's own types."""
    columns = {}
    for name in table.colnames:
        mask = getattr(table[name], "mask", np.zeros(len(table), dtype=bool))
        values = np.ma.getdata(np.asarray(table[name].value)).tolist()
        columns[name] = [None if hidden else value for value, hidden in zip(values, mask, strict=True)]
    return pyarrow.table(columns)


def compress(path: Path, suffix: str) -> Path:
    """A compressed copy beside a file."""
    copy = path.with_name(f"{path.name}.{suffix}")
    if suffix == "zst":
        with pyarrow.output_stream(str(copy), compression="zstd") as stream:
            stream.write(path.read_bytes())
    else:
        copy.write_bytes(COMPRESSORS[suffix](path.read_bytes()))
    return copy
