import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import joblib
import numpy as np
import pytest

from probforest.storage import model_file
from probforest.storage.model_file import Declaration, ModelFileError, read_file, read_header, write_file

DOCUMENT = {"kind": "example", "names": ["ä", "\ud800", ""], "nothing": None, "numbers": [1, 0.1, 1e300, -0.0, 10**30]}
ARRAYS = {
    "reals": np.array([[0.5, np.nan, -np.inf], [1e-310, -0.0, 2.0]]),
    "integers": np.arange(5, dtype=np.int32),
    "small/ones": np.array([[0.1, 65504]], dtype=np.float16),
    "bytes": np.arange(256, dtype=np.uint8),
    "flags": np.array([True, False]),
    "text": np.array(["star", "Quasar ü"]),
    "raw": np.array([b"abc", b""]),
    "empty": np.empty((0, 7, 3)),
    "number": np.array(7.0),
    "zeros": np.zeros(100_000),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "example.prf"
    write_file(path, DOCUMENT, ARRAYS)
    return path


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezip(path, members, stored=("model.json",)):
    """Write pairs of a name and its bytes as a zip."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, kind)


def with_header(path, **changes):
    """The file with other entries in its header; the digest stays."""
    members = members_of(path)
    members["model.json"] = json.dumps(json.loads(members["model.json"]) | changes).encode()
    rezip(path, members.items())


def test_all_comes_back_bit_by_bit(path):
    document, arrays = read_file(path)
    assert document == DOCUMENT
    assert list(document) == list(DOCUMENT)
    assert str(document["numbers"][3]) == "-0.0"
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.c_contiguous
        assert arrays[name].flags.writeable
        assert arrays[name].flags.aligned


def test_numpy_opens_it_too(path):
    with np.load(path) as archive:
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(archive[name], array)


@pytest.mark.parametrize("name", ARRAYS)
def test_headers_are_those_that_numpy_reads(name):
    declared = Declaration(ARRAYS[name].dtype, ARRAYS[name].shape)
    stream = io.BytesIO(declared.npy_header())
    assert len(declared.npy_header()) % 64 == 0
    assert np.lib.format.read_magic(stream) == (1, 0)
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    assert (shape, is_fortran, dtype) == (ARRAYS[name].shape, False, ARRAYS[name].dtype)
    assert stream.read() == b""


def test_strided_and_big_endian_arrays_are_the_same_file(tmp_path):
    table = np.arange(12.0).reshape(3, 4)
    write_file(tmp_path / "a", {}, {"table": table.T})
    write_file(tmp_path / "b", {}, {"table": np.ascontiguousarray(table.T).astype(">f8")})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_file(tmp_path / "b")[1]["table"].dtype.isnative


def test_the_same_content_is_the_same_bytes(path, tmp_path):
    other = io.BytesIO()
    write_file(other, DOCUMENT, dict(reversed(ARRAYS.items())))
    assert other.getvalue() == path.read_bytes()


def test_the_header_alone(path):
    header = read_header(path)
    assert header.document == DOCUMENT
    assert header.format_version == 3
    assert header.arrays["reals"] == Declaration(np.dtype(float), (2, 3))


@pytest.mark.parametrize(
    "array", [np.array([{}]), np.array([1j]), np.zeros(2, "M8[s]"), np.zeros(2, "f4,i4"), np.zeros(1, np.longdouble)]
)
def test_arrays_that_are_not_written(array):
    if array.dtype == np.float64:
        pytest.skip("a long double is a double here")
    with pytest.raises(ValueError, match=r"array 'odd' has the dtype .*, which can't be stored"):
        write_file(io.BytesIO(), {}, {"odd": array})


def test_documents_that_are_not_json():
    with pytest.raises(ValueError):
        write_file(io.BytesIO(), {"odd": np.nan}, {})
    with pytest.raises(TypeError):
        write_file(io.BytesIO(), {"odd": object()}, {})


# Files that are something else


class Exploit:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


FOREIGN = {
    "empty": (b"", "is empty, not a saved model"),
    "text": (b"a,b\n1,2\n", "is not a saved model of probforest"),
    "short": (b"PK", "is not a saved model"),
    "pickle": (pickle.dumps([1, 2]), "looks like a pickle, which is never loaded"),
    "zip": (b"PK\x03\x04" + bytes(100), "is truncated or damaged"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files(kind, tmp_path):
    content, message = FOREIGN[kind]
    (tmp_path / "file").write_bytes(content)
    for read in (read_file, read_header):
        with pytest.raises(ModelFileError, match=message) as caught:
            read(tmp_path / "file")
        assert str(caught.value).startswith(str(tmp_path / "file"))
        assert "\n" not in str(caught.value)


def test_foreign_archives_joblib_and_folders(tmp_path):
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    with pytest.raises(ModelFileError, match=r"is not a saved model of probforest: a zip with no model.json"):
        read_file(tmp_path / "plain.npz")
    rezip(tmp_path / "other.zip", [("model.json", b'{"format": "something else"}')])
    with pytest.raises(ModelFileError, match="belongs to another program"):
        read_file(tmp_path / "other.zip")
    joblib.dump({"a": np.ones(3)}, tmp_path / "model.joblib")
    with pytest.raises(ModelFileError, match="looks like a pickle"):
        read_file(tmp_path / "model.joblib")
    with pytest.raises(ModelFileError, match="is a folder"):
        read_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "nothing")


def test_trouble_with_the_disk_is_no_damage(path, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(zipfile.ZipFile, "infolist", fail)
    with pytest.raises(OSError, match="Input/output"):
        read_file(path)


def test_no_pickle_is_ever_loaded(path, tmp_path):
    trap = tmp_path / "trap"
    payload = pickle.dumps(Exploit(trap))
    (tmp_path / "a").write_bytes(payload)
    np.savez(tmp_path / "b.npz", a=np.array([Exploit(trap)], dtype=object))
    objects = io.BytesIO()
    np.save(objects, np.array([Exploit(trap)], dtype=object))
    members = members_of(path)
    rezip(tmp_path / "c", {**members, "reals.npy": objects.getvalue()}.items())
    header = json.loads(members["model.json"])
    header["arrays"]["reals"] = {"dtype": "|O", "shape": [1]}
    members["model.json"] = json.dumps(header).encode()
    rezip(tmp_path / "d", {**members, "reals.npy": objects.getvalue()}.items())
    for name in ("a", "b.npz", "c", "d"):
        with pytest.raises(ModelFileError):
            read_file(tmp_path / name)
    assert not trap.exists()
    pickle.loads(payload)
    assert trap.exists()  # it would have worked


# Files that are damaged


def test_a_newer_format(path):
    with_header(path, format_version=4, arrays="of another kind")
    with pytest.raises(
        ModelFileError, match=r"was written by a newer probforest \(format version 4\); this one reads up to 3. Upgrade"
    ):
        read_file(path)


@pytest.mark.parametrize("number", [0, -1, "1", 1.0, True, None])
def test_a_format_version_that_is_none(path, number):
    with_header(path, format_version=number)
    with pytest.raises(ModelFileError, match="its format version is"):
        read_file(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"document": {"kind": "another"}},
        {"document": []},
        {"document": None},
        {"written_by": "9.9"},
        {"written_by": 3},
        {"digest": "0" * 64},
        {"digest": None},
        {"arrays": {}},
        {"arrays": []},
        {"more": 1},
    ],
)
def test_a_changed_header(path, changes):
    with_header(path, **changes)
    with pytest.raises(ModelFileError, match=r"is damaged|is truncated or damaged"):
        read_file(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "|O", "shape": [2, 3]},
        {"dtype": "<f8", "shape": [3, 2]},
        {"dtype": "<i8", "shape": [2, 3]},
        {"dtype": ">f8", "shape": [2, 3]},
        {"dtype": "<f8", "shape": [-2, -3]},
        {"dtype": "<f8", "shape": [2.0, 3]},
        {"dtype": "<f8", "shape": [True, 6]},
        {"dtype": "<f8", "shape": [1] * 60 + [2, 3]},
        {"dtype": "<f8", "shape": 6},
        {"dtype": "<f8", "shape": [2, 10**18]},
        {"dtype": "<f8", "shape": [0, 10**30]},
        {"dtype": "<U999999999999", "shape": [6]},
        {"dtype": "<f8,<f8", "shape": [3]},
        {"dtype": 3, "shape": [2, 3]},
        {"shape": [2, 3]},
        [],
        None,
    ],
)
def test_a_changed_declaration(path, entry):
    header = json.loads(members_of(path)["model.json"])
    with_header(path, arrays=header["arrays"] | {"reals": entry})
    with pytest.raises(ModelFileError):
        read_file(path)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"{}", b"[]", b"NaN", b"", b"9" * 9999]
)
def test_json_that_is_none(path, text):
    rezip(path, (members_of(path) | {"model.json": text}).items())
    for read in (read_file, read_header):
        with pytest.raises(ModelFileError):
            read(path)


def test_removed_added_doubled_and_swapped_members(path):
    members = members_of(path)
    swapped = members | {"reals.npy": members["zeros.npy"], "zeros.npy": members["reals.npy"]}
    same_shape = members | {"integers.npy": members["integers.npy"].replace(b"\x01\0\0\0", b"\x09\0\0\0")}
    variants = [
        [each for each in members.items() if each[0] != "reals.npy"],
        [each for each in members.items() if each[0] != "model.json"],
        [*members.items(), ("more.npy", members["reals.npy"])],
        [*members.items(), ("notes.txt", b"hello")],
        list(swapped.items()),
        list(same_shape.items()),
    ]
    for variant in variants:
        rezip(path, variant)
        with pytest.raises(ModelFileError):
            read_file(path)
    for name in ("reals.npy", "model.json"):
        with pytest.warns(UserWarning, match="Duplicate name"):
            rezip(path, [*members.items(), (name, members[name])])
        with pytest.raises(ModelFileError):
            read_file(path)
    rezip(path, reversed(members.items()))  # the order does not matter
    assert read_file(path)[0] == DOCUMENT


def test_a_compressed_document_could_be_a_bomb(path):
    rezip(path, members_of(path).items(), stored=())
    with pytest.raises(ModelFileError, match=r"model.json is compressed"):
        read_file(path)


def test_every_truncation_is_refused(path):
    content = path.read_bytes()
    for length in {*range(0, len(content), 97), *range(len(content) - 30, len(content))}:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            read_file(path)


def test_flipped_bytes_are_refused_or_change_nothing(path):
    random = np.random.default_rng(0)
    expected = {name: array for name, array in ARRAYS.items() if name != "zeros"} | {"noise": random.random(1000)}
    write_file(path, DOCUMENT, expected)
    content = path.read_bytes()
    n_refused = 0
    for place in random.integers(0, len(content), 400):
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        path.write_bytes(damaged)
        try:
            document, arrays = read_file(path)
        except ModelFileError:
            n_refused += 1
            continue
        assert document == DOCUMENT
        assert all(arrays[name].tobytes() == expected[name].tobytes() for name in expected)
    assert n_refused > 300


def claim(path, n_bytes, compressed=None):
    """A file whose only array has one number, but says that it has more."""
    declared = Declaration(np.dtype("<f8"), (n_bytes // 8,))
    header = {"format": "probforest model", "format_version": 1, "written_by": "", "document": {}, "digest": ""}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("model.json"), json.dumps(header | {"arrays": {"zeros": declared.as_json()}}))
        archive.writestr("zeros.npy", declared.npy_header() + bytes(8))
        member = archive.getinfo("zeros.npy")
        member.file_size = n_bytes + len(declared.npy_header())
        member.compress_size = compressed or member.compress_size


@pytest.mark.parametrize("compressed", [None, 100_000_000])
def test_a_bomb_takes_no_memory(tmp_path, compressed):
    claim(tmp_path / "bomb", 10_000_000_000, compressed)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"size|larger than the file"):
            read_file(tmp_path / "bomb")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_members_that_share_their_bytes(path):
    """Many names for one compressed stream would be a bomb that each of them alone is not."""
    header = json.loads(members_of(path)["model.json"])
    names = [f"zeros{number}" for number in range(1000)]
    header["arrays"] = dict.fromkeys(names, header["arrays"]["zeros"])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("model.json"), json.dumps(header))
        archive.writestr("zeros0.npy", bytes(800_128))
        first = archive.getinfo("zeros0.npy")
        for name in names[1:]:
            twin = zipfile.ZipInfo(f"{name}.npy")
            for attribute in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(twin, attribute, getattr(first, attribute))
            archive.filelist.append(twin)
    with pytest.raises(ModelFileError, match="claim to be larger than the file"):
        read_file(path)


def test_a_stream_that_ends_too_early_or_goes_on(path):
    for n_bytes in (8, 24):
        declared = Declaration(np.dtype("<f8"), (2,))
        content = declared.npy_header() + bytes(n_bytes)
        header = {"format": "probforest model", "format_version": 1, "written_by": "", "document": {}, "digest": ""}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.json", json.dumps(header | {"arrays": {"two": declared.as_json()}}))
            archive.writestr("two.npy", content)
            archive.getinfo("two.npy").file_size = len(declared.npy_header()) + 16
        with pytest.raises(ModelFileError):
            read_file(path)


def test_a_zip_that_points_before_its_beginning(path):
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    (start,) = struct.unpack_from("<L", content, end + 16)
    struct.pack_into("<L", content, end + 16, start + 5000)
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is truncated or damaged"):
        read_file(path)


def test_an_encrypted_member(path):
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)  # of the second member
    content[at + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is truncated or damaged"):
        read_file(path)


def test_large_arrays_are_read_in_blocks(path, monkeypatch):
    monkeypatch.setattr(model_file, "_BLOCK", 1000)
    assert read_file(path)[1]["zeros"].tobytes() == bytes(800_000)


def test_a_document_that_is_too_long(path, monkeypatch):
    monkeypatch.setattr(model_file, "_LONGEST_DOCUMENT", 500)
    with pytest.raises(ModelFileError, match=r"its model.json has \d+ bytes"):
        read_file(path)
    with pytest.raises(ValueError, match="at most 500 can be stored"):
        write_file(io.BytesIO(), {"notes": "a" * 1000}, {})


def test_a_header_is_checked_before_an_array_is_read(path, monkeypatch):
    def refuse(header):
        raise ModelFileError(f"has {len(header.arrays)} arrays")

    monkeypatch.setattr(model_file, "_read_array", None)
    for read in (read_file, read_header):
        with pytest.raises(ModelFileError, match=rf"{path} has 10 arrays\."):
            read(path, refuse)
