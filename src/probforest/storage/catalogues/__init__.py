"""Tables in files: read in pieces, written in pieces, whatever their format.

Inside the program a piece of a table is a `pyarrow.Table`. The formats themselves are read and written by pyarrow and
astropy, which are extras.
"""

from .catalogue import Catalogue
from .opening import open_catalogue
from .output import check_output_name, open_output
from .parts import is_folder_name, open_parts
from .remote import RemotePath, is_address

__all__ = [
    "Catalogue",
    "RemotePath",
    "check_output_name",
    "is_address",
    "is_folder_name",
    "open_catalogue",
    "open_output",
    "open_parts",
]
