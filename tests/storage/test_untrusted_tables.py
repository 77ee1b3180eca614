"""Tables that anybody may have made: none opens an address or a file, runs code, or takes memory out of proportion."""

import gzip
import tracemalloc
import urllib.request
from contextlib import contextmanager

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from astropy.io import fits

from catalogue_files import compress
from probforest.storage.catalogues import open_catalogue
from probforest.storage.catalogues.safety import ALWAYS_ALLOWED

COLUMN = '<FIELD name="a" datatype="char" arraysize="4"/>'
ROW = "<TABLEDATA><TR><TD>abcd</TD></TR></TABLEDATA>"


def votable(data=ROW, *, fields=COLUMN, attributes="", doctype="", root="VOTABLE"):
    table = f"<TABLE {attributes}>{fields}<DATA>{data}</DATA></TABLE>"
    return f'<?xml version="1.0"?>{doctype}<{root} version="1.4"><RESOURCE>{table}</RESOURCE></{root}>'


def ecsv(column="{name: a, datatype: float64}", more="", rows="1.5"):
    lines = ["%ECSV 1.0", "---", "datatype:", f"- {column}", *more.splitlines()]
    return "".join(f"# {line}\n" for line in lines) + f"a\n{rows}\n"


def whole(path):
    with open_catalogue(path) as catalogue:
        return catalogue.whole().to_pydict()


def put(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@contextmanager
def little_memory(most=1 << 26):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """The address of a local file, and a network that must not be used."""

    def fail(address, *_, **__):
        raise AssertionError(f"{address} was opened")

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    return (put(tmp_path / "secret", "abcdefgh")).as_uri()


# VOTables


def test_votables_that_are_harmless(tmp_path):
    for content in (
        votable(),
        votable(doctype='<!DOCTYPE VOTABLE SYSTEM "http://us-vo.org/xml/VOTable.dtd">'),
        votable(fields=COLUMN[:-2] + '><LINK href="http://example.org/${a}"/></FIELD>'),
        votable('<BINARY><STREAM encoding="base64">YWJjZA==</STREAM></BINARY>'),
        votable(attributes='nrows="1"'),
        votable(fields=COLUMN.replace('"4"', '"4000*"')),
    ):
        assert whole(put(tmp_path / "t.vot", content)) == {"a": ["abcd"]}


def test_no_address_in_a_votable_is_opened(tmp_path, secret):
    stream = f'<STREAM href="{secret}"/>'
    declared = f'<!DOCTYPE VOTABLE [<!ENTITY where "{secret}">]>'
    default = f'<!DOCTYPE VOTABLE [<!ATTLIST STREAM href CDATA "{secret}">]>'
    prefixed = f'<v:STREAM xmlns:v="http://www.ivoa.net/xml/VOTable/v1.3" encoding="base64" href="{secret}"></v:STREAM>'
    hidden = "".join(f"&#{ord(letter)};" for letter in secret)
    tables = {
        "binary": votable(f"<BINARY>{stream}</BINARY>"),
        "network": votable('<BINARY><STREAM href="http://example.org/data"/></BINARY>'),
        "binary2": votable(f"<BINARY2>{stream}</BINARY2>"),
        "fits": votable(f"<FITS>{stream}</FITS>"),
        "parquet": votable(f'<PARQUET type="VOTable-remote-file">{stream}</PARQUET>'),
        "prefix": votable(f"<BINARY>{prefixed}</BINARY>"),
        "characters": votable(f"<BINARY><STREAM\n  encoding='base64'\n href = '{hidden}' ></STREAM></BINARY>"),
        "second table": votable().replace(
            "</RESOURCE>", votable(f"<BINARY>{stream}</BINARY>").split("RESOURCE>")[1] + "RESOURCE>"
        ),
    }
    for name, content in tables.items():
        with pytest.raises(ValueError, match="no address in a table is ever opened"):
            whole(put(tmp_path / f"{name}.vot", content))
    # in UTF-16, with a comment whose bytes look like the name that tells the format
    comment = b"VOTABLE ".decode("utf-16-le")
    wide = votable(f"<BINARY>{stream}</BINARY>", doctype=f"<!--{comment}-->").replace(
        '"1.0"', '"1.0" encoding="utf-16"'
    )
    with pytest.raises(ValueError, match=r"no address in a table|not a table|not a VOTable"):
        whole(put(tmp_path / "t.vot", wide.encode("utf-16")))
    with pytest.raises(ValueError, match="no address in a table is ever opened"):
        whole(put(tmp_path / "t.vot", wide.replace("utf-16", "utf-16le").encode("utf-16-le")))
    for doctype in (declared, default):
        with pytest.raises(ValueError, match="declares entities or attributes"):
            whole(put(tmp_path / "t.vot", votable('<BINARY><STREAM href="&where;"/></BINARY>', doctype=doctype)))


def test_entities_of_a_votable_are_not_expanded(tmp_path, secret):
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    for declared in (f'<!ENTITY e9 SYSTEM "{secret}">', '<!ENTITY e0 "ha">' + laughs):
        content = votable("<TABLEDATA><TR><TD>&e9;</TD></TR></TABLEDATA>", doctype=f"<!DOCTYPE VOTABLE [{declared}]>")
        with pytest.raises(ValueError, match="declares entities or attributes"), little_memory():
            whole(put(tmp_path / "t.vot", content))


def test_votables_that_announce_more_than_they_have(tmp_path):
    binary = '<BINARY><STREAM encoding="base64"></STREAM></BINARY>'
    for content in (
        votable(attributes='nrows="1000000000"'),
        votable(fields=COLUMN.replace('"4"', '"300000000"')),
        votable(fields=COLUMN.replace('"4"', '"300000000*"')),
        votable(fields='<FIELD name="a" datatype="double" arraysize="3000x20000"/>'),
        votable(fields='<FIELD name="a" datatype="double" arraysize="60000000x*"/>'),
        votable(fields='<PARAM name="b" datatype="double" arraysize="60000000" value=""/>' + COLUMN),
        votable(binary, fields=COLUMN.replace('"4"', '"1000000"')),
    ):
        with pytest.raises(ValueError, match=r"t.vot is not read: it has \d+ bytes and describes"), little_memory():
            whole(put(tmp_path / "t.vot", content))
    for fields in ("", COLUMN.replace('"4"', '"0"')):  # astropy would never come to the end of it
        with pytest.raises(ValueError, match="no column that takes any bytes"):
            whole(put(tmp_path / "t.vot", votable(binary, fields=fields)))


# ECSV and the YAML of Parquet

BOMB = "meta:\n  a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"  a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 10)
)
UNITS = ["10**99999999 m", "10^(99999999) m", "10+99999999 m", "m " * 200]


def test_descriptions_that_are_harmless(tmp_path):
    more = "meta: !!omap\n- note: &n [1, 2, {a: J123456+1234567}]\n- again: *n\n- tuple: !!python/tuple [1]"
    for unit in ("mag", "BJD-2454833", "1.2345678 m", "!astropy.units.Unit {unit: mag}"):
        column = f"{{name: a, unit: {unit}, datatype: float64, description: 10**99999999}}"
        assert whole(put(tmp_path / "t.ecsv", ecsv(column, more))) == {"a": [1.5]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ecsv(more=BOMB), "has a merge key"),
        (ecsv(more="meta: {x: 1" + ":1" * 10_000 + "}"), "has a number of 20001 characters"),
        (ecsv(more="meta: " + "x" * (1 << 22)), "description of its columns has more than"),
        (ecsv("{name: a, datatype: string, subtype: 'float64[30000,10000]'}", rows='""'), "describes a table of"),
        (ecsv("{name: a, datatype: U100000000}"), "describes a table of"),
        (ecsv(more="meta: !!python/object/apply:os.system ['false']"), "damaged"),
        (ecsv(more="meta: {x: !astropy.units.Quantity {value: 10**99999999 m}}"), "has a power of more than"),
        *((ecsv(f"{{name: a, unit: {unit}, datatype: float64}}"), "the unit '1") for unit in UNITS[:3]),
        *((ecsv(more=f"meta: {{x: !astropy.units.Unit {{unit: {unit}}}}}"), "the unit ") for unit in UNITS),
    ],
)
def test_descriptions_that_take_long_or_much(tmp_path, content, message):
    path = put(tmp_path / "t.ecsv", content)
    with pytest.raises(ValueError, match=rf"t\.ecsv is .*{message}"), little_memory():
        whole(path)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (BOMB, "has a merge key"),
        (f"datatype: [{{name: a, unit: {UNITS[0]}}}]", "has a power of more than three digits"),
        ("x: " + "[" * 800, "is damaged"),
        ("]", "is damaged"),
        (b"\xff", "is damaged"),
        ("x: " + "y" * (1 << 22), "has more than"),
    ],
)
def test_descriptions_in_parquet_files(tmp_path, description, message):
    path = tmp_path / "t.parquet"
    table = pyarrow.table({"a": [1.5]}).replace_schema_metadata({"table_meta_yaml": description})
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(ValueError, match=rf"t\.parquet is not read: .*{message}"):
        whole(path)


def test_units_of_parquet_files_that_nobody_knows(tmp_path):
    for description in ("datatype: [{name: a, unit: furlongs}]", "datatype: [{name: a, unit: m}, {unit: s}]", "x: 1"):
        table = pyarrow.table({"a": [1.5]}).replace_schema_metadata({"table_meta_yaml": description})
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        with open_catalogue(tmp_path / "t.parquet") as catalogue:
            assert [str(unit) for unit in catalogue.units.values()] in (["furlongs"], ["m"], [])


# FITS


def fits_file(path, unit=None, cut=None, **cards):
    """A FITS table of three rows, with other values in its header."""
    column = fits.Column("a", "D", array=np.arange(3.0), unit=unit)
    fits.BinTableHDU.from_columns([column]).writeto(path)
    content = path.read_bytes()
    for key, value in cards.items():
        place = content.index(key.ljust(8).encode(), 2880)
        content = content[:place] + f"{key:8s}= {value:>20}".ljust(80).encode() + content[place + 80 :]
    return put(path, content[:cut])


@pytest.mark.parametrize(
    "cards",
    [
        {"NAXIS1": 0, "NAXIS2": 10**12, "TFORM1": "'0A'", "cut": 5760},
        {"NAXIS1": 0, "NAXIS2": 10**12, "TFORM1": "'0D'", "cut": 5760},
        {"NAXIS2": 10**9},
        {"NAXIS2": -(10**9)},
        {"PCOUNT": 10**12},
        {"TFIELDS": 999},
        {"TFORM1": "'100000000A'"},
        *({"unit": unit} for unit in UNITS[:3]),
    ],
)
def test_fits_headers_that_are_wrong(tmp_path, cards):
    path = fits_file(tmp_path / "t.fits", **cards)
    with pytest.raises(ValueError, match=r"t\.fits is damaged"), little_memory():
        whole(path)


def test_a_path_is_no_address(tmp_path, secret, monkeypatch):
    (tmp_path / "http:" / "example.org").mkdir(parents=True)
    fits_file(tmp_path / "http:" / "example.org" / "t.fits")
    monkeypatch.chdir(tmp_path)
    assert whole("http://example.org/t.fits") == {"a": [0.0, 1.0, 2.0]}


# Arrow, Parquet and compressed files


@pytest.mark.parametrize("values", [["abcd", "efgh", "ijkl"], pyarrow.array(["x", "y", "x"]).dictionary_encode()])
def test_places_in_arrow_files_are_checked(tmp_path, values):
    """Arrow itself trusts in them, and would read the memory behind the end of an array."""
    table = pyarrow.table({"a": values})
    with pyarrow.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "t.arrow").read_bytes()
    places = np.array([0, 4, 8, 12] if isinstance(values, list) else [0, 1, 0], "<i4")
    assert content.count(places.tobytes()) == 1
    for wrong in (2**30, -(2**30)):
        put(tmp_path / "t.arrow", content.replace(places.tobytes(), np.r_[places[:-1], wrong].astype("<i4").tobytes()))
        with pytest.raises(ValueError, match=r"t\.arrow is damaged"):
            whole(tmp_path / "t.arrow")


def test_types_with_code_of_their_own_are_plain_columns_or_none(tmp_path):
    class Loud(pyarrow.ExtensionType):
        def __init__(self):
            super().__init__(pyarrow.int64(), "loud")

        def __arrow_ext_serialize__(self):
            return b"code"

        @classmethod
        def __arrow_ext_deserialize__(cls, storage, serialized):
            raise AssertionError("code of the file was called")

    columns = {"a": pyarrow.ExtensionArray.from_storage(Loud(), pyarrow.array([1, 2])), "b": [1.0, 2.0]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    assert whole(tmp_path / "t.parquet") == {"a": [1, 2], "b": [1.0, 2.0]}


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_tables_of_nothing_that_would_fill_the_memory(tmp_path, name):
    n_rows, names = 1_000_000, [f"c{number}" for number in range(ALWAYS_ALLOWED // 8_000_000 + 1)]
    table = pyarrow.table({each: pyarrow.nulls(n_rows) for each in names})
    if name == "t.parquet":
        pyarrow.parquet.write_table(table, tmp_path / name)
    else:
        with pyarrow.ipc.new_file(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    assert (tmp_path / name).stat().st_size < 100_000
    with pytest.raises(ValueError, match=rf"{name} is not read: .* describes a table of"):
        whole(tmp_path / name)


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_compressed_bombs(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("probforest.storage.catalogues.safety.ALWAYS_ALLOWED", 1 << 20)
    bombs = {
        "t.vot": votable() + " " * (1 << 24),
        "t.ecsv": ecsv() + "\n" * (1 << 22),
        "t.csv": "a\n" + "1\n" * (1 << 21),
        "t.fits": fits_file(tmp_path / "plain.fits").read_bytes() + bytes(1 << 22),
    }
    for name, content in bombs.items():
        path = compress(put(tmp_path / name, content), suffix)
        with (
            pytest.raises(ValueError, match=rf"{name}\.{suffix} is not read: .* decompress it first"),
            little_memory(1 << 23),
        ):
            whole(path)


def test_well_compressed_tables_are_read(tmp_path):
    path = put(tmp_path / "t.csv.gz", gzip.compress(b"a\n" + b"1\n" * 1_000_000))
    assert path.stat().st_size < 10_000
    assert sum(whole(path)["a"]) == 1_000_000
