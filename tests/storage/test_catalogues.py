"""Tables in files: the same numbers from every format, and back."""

import builtins
import importlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

import probforest.storage.catalogues.catalogue as catalogue_module
import probforest.storage.catalogues.output as output_module
from catalogue_files import FILES, WITH_UNITS, as_arrow, compress, make_catalogue, write_everywhere
from probforest.storage.catalogues import check_output_name, columnar, delimited, open_catalogue, open_output

TABLE = make_catalogue()
NUMBERS = ["g", "e_g", "size", "size_err1", "size_err2", "visits", "variable"]
OTHERS = ["objid", "name", "kind"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_everywhere(TABLE, folder)
    return folder


def all_of(catalogue, numbers=NUMBERS, others=OTHERS):
    chunks = list(catalogue.chunks(numbers, others))
    tables = [pyarrow.concat_tables([getattr(chunk, part) for chunk in chunks]) for part in ("numbers", "others")]
    return pyarrow.table({name: table.column(name) for table in tables for name in table.column_names})


def matrix(table, names=NUMBERS):
    return np.column_stack([table.column(name).cast("float64").to_numpy() for name in names])


EXPECTED = matrix(as_arrow(TABLE))


def check_content(table):
    np.testing.assert_array_equal(matrix(table), EXPECTED)
    assert table.column("objid").to_pylist() == TABLE["objid"].tolist()
    assert [name or "" for name in table.column("name").to_pylist()] == TABLE["name"].tolist()
    assert table.column("kind").to_pylist() == TABLE["kind"].tolist()


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_numbers(folder, name, monkeypatch):
    monkeypatch.setattr(catalogue_module, "MOST_ROWS", 100)  # several pieces
    monkeypatch.setattr(catalogue_module, "LEAST_ROWS", 10)
    with open_catalogue(folder / name) as catalogue:
        assert catalogue.names == TABLE.colnames
        assert catalogue.n_rows in (len(TABLE), None)
        table = all_of(catalogue)
        check_content(table)
        assert table.schema.field("g").type == pyarrow.float64()
        check_content(catalogue.whole())
        assert {name: str(unit) for name, unit in catalogue.units.items()} == (
            {"g": "mag", "e_g": "mag", "size": "arcsec", "size_err1": "arcsec", "size_err2": "arcsec"}
            if name in WITH_UNITS
            else {}
        )


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("name", ["t.csv", "t.ecsv", "t.fits", "t.vot", "t.parquet", "t.arrow", "stream.arrows"])
def test_compressed_files(folder, name, suffix):
    path = compress(folder / name, suffix)
    with open_catalogue(path) as catalogue:
        check_content(all_of(catalogue))
        check_content(catalogue.whole())
        copy = catalogue._source
    assert path.exists()
    assert copy == path or not copy.exists()  # a decompressed copy is gone


def test_content_counts_more_than_the_name(folder, tmp_path):
    for name in ("t.fits", "plain.parquet", "t.vot", "t.ecsv", "t.csv"):
        copy = tmp_path / (name.replace(".", "_") + ".dat")
        copy.write_bytes((folder / name).read_bytes())
        with open_catalogue(copy) as catalogue:
            check_content(all_of(catalogue))


@pytest.mark.parametrize(
    "name",
    ["o.csv", "o.tsv", "o.csv.gz", "o.csv.zst", "o.parquet", "o.arrow", "o.fits", "o.fits.gz", "o.vot", "o.ecsv.xz"],
)
def test_what_is_written_is_read_again(folder, tmp_path, name):
    with open_catalogue(folder / "t.fits") as catalogue:
        whole, units = catalogue.whole(), catalogue.units
    with open_output(tmp_path / name, units) as output:
        output.write(whole.slice(0, 100))
        output.write(whole.slice(100))
    assert os.listdir(tmp_path) == [name]
    with open_catalogue(tmp_path / name) as catalogue:
        check_content(catalogue.whole())
        if name.endswith((".fits", ".fits.gz", ".vot", ".ecsv.xz")):
            assert str(catalogue.units["size"]) == "arcsec"


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.tsv.csv", ","), ("a.csv.tsv", "\t"), ("a.TSV", "\t"), ("tsv.csv", ",")]
)
def test_the_ending_of_a_name_says_what_is_between_columns(tmp_path, name, delimiter):
    with open_output(tmp_path / name) as output:
        output.write(pyarrow.table({"one": [1], "two": [2]}))
    lines = (tmp_path / name).read_text().splitlines()
    assert lines == [f'"one"{delimiter}"two"', f"1{delimiter}2"]


def test_text_with_commas_quotes_and_other_letters_survives(tmp_path):
    words = ["a,b", 'say "x"', "Ångström λ", "two\nlines", "", "NA", "007"]
    for name in ("o.csv", "o.parquet", "o.ecsv"):
        with open_output(tmp_path / name) as output:
            output.write(pyarrow.table({"word": words, "number": range(len(words))}))
        with open_catalogue(tmp_path / name) as catalogue:
            found = [word or "" for word in all_of(catalogue, ["number"], ["word"]).column("word").to_pylist()]
        assert found == words


def csv(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def column(tmp_path, text, name, **roles):
    with open_catalogue(csv(tmp_path, text)) as catalogue:
        return all_of(catalogue, roles.get("numbers", []), roles.get("others", [name])).column(name).to_pylist()


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiters_comments_blanks_and_byte_order_marks(tmp_path, delimiter):
    text = "\ufeff# made by hand\n#\na, b \n1, 2.5\n\n--,+3\n, NA\n".replace(",", delimiter)
    assert column(tmp_path, text, "a", numbers=["a", "b"], others=[]) == [1.0, None, None]
    assert column(tmp_path, text, "b", numbers=["a", "b"], others=[]) == [2.5, 3.0, None]


BLANKS = {
    "names": "ra  dec   kind\n1.0 2.0 star\n  3e0\t+4 'red dwarf'  \n",
    "a comment above": "# made by hand\nra dec kind\n1 2 star\n3 4 'red dwarf'\n",
    "names in a comment": "# made by hand, in a hurry\n# ra dec kind\n1 2 star\n3 4 'red dwarf'\n",
    "topcat": '#  ra  dec  kind\n  1.0 2.0 star\n  3.0 4.0 "red dwarf"\n',
    "a comment further down": '#ra dec kind\n1 2 star\n\n# the next night\n3 4 "red dwarf"',
    "lines of windows": '# ra dec kind\r\n1 2 star\r\n3 4 "red dwarf"\r\n',
    "commas in a comment of names": '# ra, dec, kind\n1 2 star\n3 4 "red dwarf"\n',
    "commas in names": None,
    "commas": "#ra,dec,kind\n1,2,star\n3,4,red dwarf\n",
    "tabs": "# ra\tdec\tkind\n1\t2\tstar\n3\t4\tred dwarf\n",
}
BLANKS["commas in names"] = BLANKS["names"].replace("dec  ", '"dec(J2000, deg)"')


@pytest.mark.parametrize("form", BLANKS)
def test_tables_with_blanks_and_names_in_a_comment(tmp_path, form):
    with open_catalogue(csv(tmp_path, BLANKS[form])) as catalogue:
        ra, dec, kind = catalogue.names
        assert (ra, dec.removesuffix("(J2000, deg)"), kind) == ("ra", "dec", "kind")
        table = all_of(catalogue, [ra, dec], [kind])
        assert catalogue.whole().num_rows == 2
    assert table.column(ra).to_pylist() == [1.0, 3.0]
    assert table.column(dec).to_pylist() == [2.0, 4.0]
    assert table.column(kind).to_pylist() == ["star", "red dwarf"]


def test_missing_values_and_identifiers_between_blanks(tmp_path):
    text = '# id g\n007 1.5\n12 nan\n13 --\n14 ""\n'
    assert column(tmp_path, text, "g", numbers=["g"], others=[]) == [1.5, None, None, None]
    assert column(tmp_path, text, "id") == ["007", "12", "13", "14"]


def test_what_numpy_and_astropy_write_is_read(tmp_path):
    from astropy.table import Table

    rows = np.arange(12.0).reshape(4, 3)
    np.savetxt(tmp_path / "numpy.txt", rows, header="made by numpy\na b c")
    np.savetxt(tmp_path / "commas.txt", rows, header="a,b,c", delimiter=",")
    table = Table(rows, names=["a", "b", "c"])
    table.write(tmp_path / "basic.dat", format="ascii.basic")
    table.write(tmp_path / "commented.dat", format="ascii.commented_header")
    table.write(tmp_path / "fixed.txt", format="ascii.fixed_width", delimiter=None)
    for path in tmp_path.iterdir():
        with open_catalogue(path) as catalogue:
            np.testing.assert_array_equal(matrix(all_of(catalogue, ["a", "b", "c"], []), ["a", "b", "c"]), rows)


MANY = "".join(f"  {i}   {i}\n" for i in range(130_000))  # more than the megabyte that tells the types


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_blanks_go_through_in_pieces(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("probforest.storage.catalogues.delimited._BLOCK", 1 << 18)
    with open_catalogue(compress(csv(tmp_path, f"# id x\n{MANY}S-1 2\n"), suffix)) as catalogue:
        pieces = list(catalogue.chunks(["x"], ["id"]))
    assert len(pieces) > 1
    assert {str(piece.others.schema.field("id").type) for piece in pieces} == {"string"}
    assert pieces[-1].others.column("id")[-1].as_py() == "S-1"


def test_an_error_far_down_between_blanks_is_found(tmp_path):
    with (
        open_catalogue(csv(tmp_path, f"# id x\n\n{MANY}1 oops\n")) as catalogue,
        pytest.raises(ValueError, match="'x' must hold numbers, but has 'oops' in row 130001"),
    ):
        list(catalogue.chunks(["x"], []))
    with open_catalogue(csv(tmp_path, f"# id x\n\n{MANY}1\n")) as catalogue:
        for read in (catalogue.whole, lambda: list(catalogue.chunks(["x"], []))):
            with pytest.raises(ValueError, match="line 130003 has 1 fields, but the table has 2 columns: '1'"):
                read()


def test_identifiers_in_csv_keep_all_digits_and_zeros(tmp_path):
    big = 2**62 + 1
    assert column(tmp_path, f"id\n{big}\n1\n", "id") == [big, 1]
    assert column(tmp_path, "id\n007\n12\n", "id") == ["007", "12"]
    assert column(tmp_path, f"id\n{big}\n1.5\n", "id") == [str(big), "1.5"]  # a float would lose digits of it
    assert column(tmp_path, "id\n1\n\n2.5\nNA\n", "id") == [1.0, 2.5, None]
    assert column(tmp_path, "id,x\n5,\n,1\n", "id") == [5, None]
    for words in (["1.5", "00123"], ["0.1234567890123456789", "1"], ["1e400", "2.5"]):  # what a float would change
        assert column(tmp_path, "id\n" + "\n".join(words) + "\n", "id") == words
    many = "".join(f"{i}\n" for i in range(200_000))
    assert column(tmp_path, f"id\n{big}\n{many}2.5\n", "id")[0] == str(big)  # the batches of both are far apart


def test_blanks_around_missing_values(tmp_path):
    assert column(tmp_path, "a,b\n1,2\n   ,1\n  NA ,1\n", "a", numbers=["a"], others=[]) == [1.0, None, None]


def test_a_feature_that_is_kept_has_its_own_type(tmp_path):
    big = 2**53 + 1
    pyarrow.parquet.write_table(pyarrow.table({"n": [big, 1], "flag": [True, False]}), tmp_path / "t.parquet")
    for path in (tmp_path / "t.parquet", csv(tmp_path, f"n,flag\n{big},true\n1,false\n")):
        with open_catalogue(path) as catalogue:
            (chunk,) = catalogue.chunks(["n", "flag"], ["n", "flag"])
        assert chunk.numbers.column("n").to_pylist() == [float(big), 1.0]
        assert chunk.others.column("n").to_pylist() == [big, 1]
        assert chunk.numbers.column("flag").to_pylist() == [1.0, 0.0]
    with open_catalogue(csv(tmp_path, "n\n007\n12\n")) as catalogue:
        (chunk,) = catalogue.chunks(["n"], ["n"])
    assert chunk.numbers.column("n").to_pylist() == [7.0, 12.0]
    assert chunk.others.column("n").to_pylist() == ["007", "12"]


def test_types_of_csv_hold_to_the_end(tmp_path):
    """The first rows, from which types are guessed, are numbers; what comes later is not."""
    many = "".join(f"{i},{i}\n" for i in range(200_000))
    path = csv(tmp_path, f"id,x\n{many}S-1,2\n")
    with open_catalogue(path) as catalogue:
        pieces = list(catalogue.chunks(["x"], ["id"]))
    assert len(pieces) > 1
    assert {str(piece.others.schema.field("id").type) for piece in pieces} == {"string"}
    assert pieces[-1].others.column("id")[-1].as_py() == "S-1"
    path = csv(tmp_path, f"id,x\n{many}1,oops\n")
    with (
        open_catalogue(path) as catalogue,
        pytest.raises(ValueError, match=r"'x' must hold numbers, but has 'oops' in row 200001"),
    ):
        list(catalogue.chunks(["x"], []))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# only comments\n", "no line with names"),
        ("a,a\n1,2\n", "two columns with the name 'a'"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ("1.5,2.5\n3,4\n", "numbers in its first row"),
        ("1.5 2.5\n3 4\n", "numbers in its first row"),
        (
            "# a b c\n1.5 2.5\n",
            "numbers in its first row; expected the names of its columns. The comment above it does not",
        ),
        ("ra dec g\n1 2 3\n\n# more\n4 5\n", "line 5 has 2 fields, but the table has 3 columns: '4 5'"),
        ("ra ra\n1 2\n", "two columns with the name 'ra'"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, but the table has 2"),
        ("# x\na,b\n1,2\n3\n", "line 4 has 1 fields"),
        (b"a,b\xe9\n1,2\n", "not UTF-8 text"),
        ("<html><body>404</body></html>", "not a VOTable"),
        (b"\x00\x01\x02" * 100, "not a table that can be read"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cut", "cut short or damaged|CRC|damaged"),
    ],
)
def test_bad_text(tmp_path, text, message):
    with pytest.raises(ValueError, match=message), open_catalogue(csv(tmp_path, text)) as catalogue:
        catalogue.whole()


def test_text_over_several_lines_where_the_sample_ends(tmp_path):
    """The first megabyte, from which types are guessed, ends inside of a quoted text."""
    for n_bytes in (2**20 - 40, 2**20 - 20, 2**20 - 3):
        start = "x,word\n" + "1,short\n" * ((n_bytes - 8) // 8)
        path = csv(tmp_path, start + '2,"first line\nsecond line, with a comma\nthird line"\n' * 3)
        with open_catalogue(path) as catalogue:
            table = all_of(catalogue, ["x"], ["word"])
        assert table.column("word")[-1].as_py() == "first line\nsecond line, with a comma\nthird line"
        assert table.num_rows == (n_bytes - 8) // 8 + 3


def test_other_encodings_are_refused_where_they_matter(tmp_path):
    path = csv(tmp_path, b"a,word\n1,caf\xe9\n")
    with open_catalogue(path) as catalogue, pytest.raises(ValueError, match="UTF-8"):
        catalogue.whole()
    with open_catalogue(path) as catalogue, pytest.raises(ValueError, match="UTF-8"):
        list(catalogue.chunks(["a"], ["word"]))


def test_an_error_in_a_row_far_down_is_found(tmp_path):
    many = "".join(f"{i},{i}\n" for i in range(200_000))
    path = csv(tmp_path, f"id,x\n{many}1,2,3\n")
    with open_catalogue(path) as catalogue, pytest.raises(ValueError, match="line 200002 has 3 fields"):
        list(catalogue.chunks(["x"], []))


@pytest.mark.parametrize("name", ["t.fits", "t.parquet", "t.arrow", "stream.arrows", "t.vot", "t.ecsv", "t.csv.gz"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.8])
def test_cut_files_are_refused(folder, tmp_path, name, share):
    if name == "t.csv.gz":
        compress(folder / "t.csv", "gz")
    content = (folder / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=name), open_catalogue(path) as catalogue:
        list(catalogue.chunks(NUMBERS, OTHERS))


def test_text_in_a_column_of_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"g": ["1.5", "x"], "r": [1, 2]}), path)
    with (
        open_catalogue(path) as catalogue,
        pytest.raises(ValueError, match=r"'g' must hold numbers, but has the text 'x' in row 2"),
    ):
        list(catalogue.chunks(["g"], []))


def test_columns_with_several_values_a_row_are_skipped(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"g": [1.5], "spectrum": [[1.0, 2.0]]}), path)
    with open_catalogue(path) as catalogue:
        assert catalogue.names == ["g"]
        assert "more than one value a row" in catalogue.skipped["spectrum"]
        with pytest.raises(ValueError, match="'spectrum' can't be used"):
            list(catalogue.chunks(["spectrum"], []))
    table = make_catalogue(5)
    table["spectrum"] = np.zeros((5, 3))
    table.write(tmp_path / "t.fits")
    with open_catalogue(tmp_path / "t.fits") as catalogue:
        assert "more than one value" in catalogue.skipped["spectrum"]


def test_unknown_columns_have_a_hint(folder):
    with open_catalogue(folder / "t.fits") as catalogue:
        with pytest.raises(ValueError, match=r"no column 'G'\. Did you mean 'g'\?"):
            catalogue.refuse_unknown(["G"])
        with pytest.raises(ValueError, match=r"no column 'zzzzz' \(nor yyyyy\)\. There is objid, name, g"):
            catalogue.refuse_unknown(["zzzzz", "yyyyy"])


def test_a_fits_file_without_a_table(tmp_path):
    from astropy.io import fits

    fits.PrimaryHDU(np.zeros((3, 3))).writeto(tmp_path / "image.fits")
    with pytest.raises(ValueError, match="has no table"):
        open_catalogue(tmp_path / "image.fits")


def test_a_name_that_promises_another_format(tmp_path):
    (tmp_path / "t.fits").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is named like a FITS file, but begins like plain text"):
        open_catalogue(tmp_path / "t.fits")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="is a folder without tables"):
        open_catalogue(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        open_catalogue(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [("out", "must end in"), ("out.txt", "must end in"), ("out.parquet.gz", "compressed inside already")],
)
def test_bad_names_of_outputs(tmp_path, name, message):
    with pytest.raises(ValueError, match=message):
        check_output_name(tmp_path / name)


AWKWARD = {
    "int8": pyarrow.array([-128, 127, None, 1], pyarrow.int8()),
    "uint8": pyarrow.array([255, 0, None, 63], pyarrow.uint8()),
    "int16": pyarrow.array([16959, -32768, None, 32767], pyarrow.int16()),
    "uint32": pyarrow.array([999_999, 2**32 - 1, None, 0], pyarrow.uint32()),
    "int64": pyarrow.array([999_999, -(2**63), None, 2**63 - 1], pyarrow.int64()),
    "uint64": pyarrow.array([1, 2, None, 3], pyarrow.uint64()),
    "bool": pyarrow.array([True, False, None, False]),
    "whole_bool": pyarrow.array([True, False, True, False]),
    "decimal": pyarrow.array([1, 2, None, 3], pyarrow.decimal128(5, 1)),
    "half": pyarrow.array(np.array([1.5, 2.5, 0.25, 1.0], dtype=np.float16)),
    "category": pyarrow.array(["x", "y", None, "x"]).dictionary_encode(),
    "view": pyarrow.array(["x", "y", None, "z"], pyarrow.string_view()),
    "nothing": pyarrow.nulls(4),
}


@pytest.mark.parametrize("name", ["o.fits", "o.vot", "o.ecsv", "o.parquet", "o.csv"])
def test_awkward_types_keep_their_values(tmp_path, name):
    source = tmp_path / "source.arrow"
    with pyarrow.ipc.new_file(source, pyarrow.table(AWKWARD).schema) as writer:
        writer.write_table(pyarrow.table(AWKWARD))
    with open_catalogue(source) as catalogue, open_output(tmp_path / name) as output:
        for chunk in catalogue.chunks([], catalogue.names):
            output.write(chunk.others)
    with open_catalogue(tmp_path / name) as catalogue:
        table = catalogue.whole()
    for key, values in AWKWARD.items():
        found = table.column(key).to_pylist()
        for expected, value in zip(values.to_pylist(), found, strict=True):
            is_missing = value is None or value == "" or value != value
            assert is_missing if expected is None else value == expected, (key, found)


def test_dictionaries_that_change_between_batches(tmp_path):
    batches = [pyarrow.record_batch({"c": pyarrow.array(words).dictionary_encode()}) for words in (["x", "y"], ["z"])]
    with pyarrow.ipc.new_stream(tmp_path / "t.arrows", batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    with open_catalogue(tmp_path / "t.arrows") as catalogue, open_output(tmp_path / "o.arrow") as output:
        for chunk in catalogue.chunks([], ["c"]):
            output.write(chunk.others)
    with open_catalogue(tmp_path / "o.arrow") as catalogue:
        assert catalogue.whole().column("c").to_pylist() == ["x", "y", "z"]


def test_missing_values_of_fits_are_told_before_they_are_scaled(tmp_path):
    from astropy.io import fits

    scaled = fits.Column("scaled", "I", null=-32768, array=np.array([100, -32768, 5], dtype=np.int16))
    unsigned = fits.Column("unsigned", "I", null=-32768, bzero=32768, array=np.array([7, 0, 9], dtype=np.uint16))
    logical = fits.Column("logical", "L", array=np.array([True, False, True]))
    hdu = fits.BinTableHDU.from_columns([scaled, unsigned, logical])
    hdu.writeto(tmp_path / "t.fits")
    fits.setval(tmp_path / "t.fits", "TSCAL1", value=0.01, ext=1)
    fits.setval(tmp_path / "t.fits", "TZERO1", value=0.0, ext=1)
    with open_catalogue(tmp_path / "t.fits") as catalogue:
        table = catalogue.whole()
    assert table.column("scaled").to_pylist() == [pytest.approx(1.0), None, pytest.approx(0.05)]
    assert table.column("unsigned").to_pylist() == [7, None, 9]
    assert table.column("logical").to_pylist() == [True, False, True]
    text = fits.TableHDU.from_columns([fits.Column("a", "I5", null="-99", ascii=True, array=np.array([1, -99, 3]))])
    text.writeto(tmp_path / "text.fits")
    with open_catalogue(tmp_path / "text.fits") as catalogue:
        assert catalogue.whole().column("a").to_pylist() == [1, None, 3]


def test_letters_that_fits_lacks(tmp_path):
    with (
        pytest.raises(ValueError, match="'word' has characters that FITS can't store"),
        open_output(tmp_path / "o.fits") as output,
    ):
        output.write(pyarrow.table({"word": ["λ"]}))


@pytest.mark.parametrize("name", ["o.fits", "o.vot", "o.ecsv"])
def test_texts_that_would_need_too_much_memory(tmp_path, monkeypatch, name):
    monkeypatch.setattr(output_module, "_MOST_LETTERS", 1000)
    message = r"'word' has a text of 100 characters, .* Leave it out, or write CSV"
    with open_output(tmp_path / name) as output:
        output.write(pyarrow.table({"word": ["x" * 100, *"abcdefgh"]}))
        with pytest.raises(ValueError, match=message):
            output.write(pyarrow.table({"word": [None, "i"]}))


READ_DAMAGED = """
import sys
from probforest.storage.catalogues import open_catalogue
for path in 8 * sys.argv[1:]:
    try:
        with open_catalogue(path) as catalogue:
            list(catalogue.chunks(["x"], ["id"]))
    except ValueError as problem:
        assert "cut short or damaged" in str(problem), problem
    else:
        raise AssertionError
"""


def test_a_damaged_file_does_not_keep_the_program_from_ending(tmp_path):
    path = csv(tmp_path, "id,x\n" + "".join(f"{i},{i / 7}\n" for i in range(100_000)))
    paths = [compress(path, suffix) for suffix in ("gz", "bz2", "zst")]
    for each in paths:
        content = each.read_bytes()
        each.write_bytes(content[: 3 * len(content) // 4])
    run = subprocess.run([sys.executable, "-c", READ_DAMAGED, *paths], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


def test_csv_is_read_in_the_thread_that_asks_for_it(tmp_path, monkeypatch):
    """A thread of pyarrow's that still reads a file of Python's when the program ends would abort it."""
    threads = set()

    class Watched(io.BytesIO):
        def read(self, *size):
            threads.add(threading.current_thread())
            return super().read(*size)

    monkeypatch.setattr(delimited, "_BLOCK", 1000)
    monkeypatch.setattr(delimited, "reading", lambda path, _: Watched(path.read_bytes()))
    path = csv(tmp_path, "id,x\n" + "".join(f"{i},{i / 7}\n" for i in range(2000)))
    with open_catalogue(path) as catalogue:
        list(catalogue.chunks(["x"], ["id"]))
        catalogue.whole()
        path.write_text(path.read_text() + "1,2,3\n")
        with pytest.raises(ValueError, match="line 2002 has 3 fields"):
            list(catalogue.chunks(["x"], ["id"]))
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("name", ["t.arrow", "stream.arrows"])
def test_arrow_is_read_in_the_thread_that_asks_for_it(folder, monkeypatch, name):
    threads = set()

    class Watched(io.BytesIO):
        def read(self, *size):
            threads.add(threading.current_thread())
            return super().read(*size)

    monkeypatch.setattr(columnar, "reading", lambda path, _: Watched(path.read_bytes()))
    with open_catalogue(folder / name) as catalogue:
        check_content(all_of(catalogue))
    assert threads <= {threading.current_thread()}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
@pytest.mark.parametrize("name", [*FILES, "t.csv.zst", "t.parquet.zst"])
def test_names_of_files_that_are_no_utf_8(folder, tmp_path, name):
    if name.endswith(".zst"):
        compress(folder / name.removesuffix(".zst"), "zst")
    path = tmp_path / os.fsdecode(b"\xe9" + name.encode())
    path.write_bytes((folder / name).read_bytes())
    with open_catalogue(path) as catalogue:
        check_content(all_of(catalogue))
        whole = catalogue.whole()
    if not name.endswith((".arrows", ".parquet.zst")):
        with open_output(tmp_path / os.fsdecode(b"o\xe9" + name.encode())) as output:
            output.write(whole)


def test_long_rows(tmp_path):
    """Longer than what is looked at or parsed at once: many names, and a text of megabytes."""
    word = "long " * 2_000_000
    with open_catalogue(csv(tmp_path, f'a,word\n1,x\n2,"{word}"\n3,y\n')) as catalogue:
        assert all_of(catalogue, ["a"], ["word"]).column("word").to_pylist() == ["x", word, "y"]
        assert catalogue.whole().column("a").to_pylist() == [1, 2, 3]
    names = [f"a_name_of_some_length_{i:02000d}" for i in range(600)]
    text = ",".join(names) + "\n" + ",".join(map(str, range(600))) + "\n"
    assert len(text) > 2**20
    with open_catalogue(csv(tmp_path, text)) as catalogue:
        assert catalogue.names == names
        (chunk,) = catalogue.chunks(names[:-1], names[-1:])
    assert chunk.others.column(names[-1]).to_pylist() == [599]


def test_a_quote_that_is_not_closed(tmp_path):
    with open_catalogue(csv(tmp_path, '# x\na,word\n1,"x"\n2,"y\n3,z\n')) as catalogue:
        for read in (catalogue.whole, lambda: list(catalogue.chunks(["a"], ["word"]))):
            with pytest.raises(ValueError, match=r"t\.csv: the row in line 4 has a quote that is not closed"):
                read()


def test_lines_are_counted_as_an_editor_does(tmp_path):
    start = '# x\n\na,word\n\n1,"two\nlines"\n\n2,"y"\n'
    for read in (lambda catalogue: catalogue.whole(), lambda catalogue: list(catalogue.chunks(["a"], ["word"]))):
        with open_catalogue(csv(tmp_path, start)) as catalogue:
            csv(tmp_path, start + "3,z,4\n")
            with pytest.raises(ValueError, match="line 9 has 3 fields"):
                read(catalogue)
    with pytest.raises(ValueError, match="line 9 has 3 fields"):
        open_catalogue(csv(tmp_path, start + "3,z,4\n"))


def test_no_temporary_copy_is_left_of_a_damaged_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = compress(folder / "t.fits", "gz")
    cut = tmp_path / "cut.fits.gz"
    cut.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(ValueError, match="cut short or damaged"):
        open_catalogue(cut)
    assert os.listdir(tmp_path / "temporary") == []


def test_an_output_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "old.csv").write_text("mine")
    for name in ("old.csv", "new.csv", "new.parquet", "new.fits"):
        with suppress(KeyError), open_output(tmp_path / name) as output:
            output.write(pyarrow.table({"a": [1, 2]}))
            raise KeyError
    assert os.listdir(tmp_path) == ["old.csv"]
    assert (tmp_path / "old.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("library", "name", "extra"),
    [
        ("pyarrow", "t.csv", "tables"),
        ("pyarrow", "plain.parquet", "tables"),
        ("astropy", "t.fits", "astro"),
        ("astropy", "t.ecsv", "astro"),
    ],
)
def test_missing_libraries_are_named(folder, library, name, extra, monkeypatch):
    for module in [module for module in sys.modules if module.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    original = builtins.__import__

    def without(module, *args, **kwargs):
        if module.split(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return original(module, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(importlib, "import_module", lambda module: without(module))
    monkeypatch.setattr("probforest.support.extras.import_module", lambda module: without(module))
    with pytest.raises(
        ImportError, match=rf'needs {library}, which is not installed: pip install "probforest\[{extra}\]"'
    ):
        open_catalogue(folder / name)
