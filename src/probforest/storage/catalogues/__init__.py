"""Tables in files: read in pieces, written in pieces, whatever their format.

Inside the program a piece of a table is a `pyarrow.Table`. The formats themselves are read and written by pyarrow and
astropy, which are extras.
"""

from .catalogue import Catalogue
from .opening import open_catalogue
from .output import check_output_name, open_output

__all__ = ["Catalogue", "check_output_name", "open_catalogue", "open_output"]
