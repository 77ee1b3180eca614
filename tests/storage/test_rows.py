"""Text cut into blocks of whole rows, wherever a file happens to be cut."""

import io

import pytest

import probforest.storage.catalogues.rows as rows_module
from probforest.storage.catalogues.rows import Rows, row_blocks

AWKWARD = [
    b"a,b\n1,2\n",
    b"a,b\r\n1,2\r\n3,4",
    b"a,b\r1,2\r3,4\r",
    b'a,"two\nlines"\nc,"three\n\r\nlines"\n',
    b'"say ""x""\n","",""""\n"a"b",c\n',
    b'5" lens,1\n6",2\n"7""\n",3\n',  # a quote inside of a field is just a quote
    b'\n\n1,"2"\n\n\n3,4\n\n',
    b'1,2\n3,"x"',
    b"\xc3\xa9,1\n",
    b"",
]


def blocks(text, size):
    return list(row_blocks(io.BytesIO(text), ",", size))


def rows_one_by_one(text):
    """A twin: rows as a plain lexer finds them, character by character."""
    found, start, is_quoted, begins = [], 0, False, True
    i = 0
    while i < len(text):
        letter = text[i : i + 1]
        if is_quoted:
            if text[i : i + 2] == b'""':
                i += 1
            elif letter == b'"':
                is_quoted = False
        elif letter == b'"' and begins:
            is_quoted = True
        elif letter in b"\r\n":
            i += text[i : i + 2] == b"\r\n"
            found.append(text[start : i + 1])
            start = i + 1
        begins = not is_quoted and letter in b",\r\n"
        i += 1
    return [*found, text[start:]] if start < len(text) else found


@pytest.mark.parametrize("text", AWKWARD)
def test_blocks_end_where_rows_end(text):
    expected = rows_one_by_one(text)
    for size in range(1, len(text) + 2):
        found = blocks(text, size)
        assert b"".join(block.text for block in found) == text
        assert [row for block in found for row in rows_one_by_one(block.text)] == expected
        for number, block in enumerate(found):
            before = b"".join(each.text for each in found[:number])
            assert block.first_line == len(before.splitlines()) + 1


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "line"), [(b'1,"2\n3\n', 1), (b'1,2\n3,"', 2), (b'a\n"b""\n', 2), (b'"a\nb"\n1,"\n', 3)]
)
def test_a_quote_that_is_not_closed_swallows_nothing(text, line, size):
    with pytest.raises(ValueError, match=f"the row in line {line} has a quote that is not closed"):
        blocks(text, size)


def test_rows_without_end(monkeypatch):
    monkeypatch.setattr(rows_module, "LONGEST_ROW", 100)
    assert len(blocks(b"1,2\n" + b"x" * 90 + b"\n", 8)) == 2
    with pytest.raises(ValueError, match="the row in line 2 has more than"):
        blocks(b"1,2\n" + b"x" * 500, 8)


def test_lines_of_rows():
    rows = Rows(b'1,"a\nb"\r\n\r\n\n2,c"\n"d\n\ne"\n3', 10)
    assert [rows.line_of(number, ",") for number in (1, 2, 3, 4)] == [10, 14, 15, 18]
    assert Rows(b"1\r\r2\r", 1).line_of(2, ",") == 3
