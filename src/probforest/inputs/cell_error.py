"""An error about one value of a table that knows where the value is."""

from typing import Any


class CellError(ValueError):
    """A value that can't be used.

    >>> print(CellError("X_err", -1.0, 3, 2, "expected an error >= 0"))
    X_err is -1.0 at row 3, column 2; expected an error >= 0.
    >>> print(CellError("X_err", -1.0, 3, 2, "expected an error >= 0").renamed("column 'e_gmag'"))
    column 'e_gmag' is -1.0 at row 3; expected an error >= 0.
    """

    def __init__(self, what: str, value: Any, row: int | None, column: int | None, remark: str):
        super().__init__(what, value, row, column, remark)  # so that it can be pickled
        self.what, self.value, self.row, self.column, self.remark = what, value, row, column, remark

    def __str__(self) -> str:
        numbers = {"row": self.row, "column": self.column}
        places = [f"{axis} {number}" for axis, number in numbers.items() if number is not None]
        return f"{self.what} is {self.value}{' at ' + ', '.join(places) if places else ''}; {self.remark}."

    def renamed(self, what: str) -> "CellError":
        """The same error about a column with a name."""
        return CellError(what, self.value, self.row, None, self.remark)
