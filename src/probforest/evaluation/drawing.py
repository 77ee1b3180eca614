"""How figures look and how they are written. Needs matplotlib.

Figures are made without pyplot and in a style of their own: they don't change the user's matplotlib, and its settings
don't change them.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..support.extras import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.6  # inches; on a telephone, letters are as large as they are on paper
WIDE = 6.5  # for what needs more room
DOTS_PER_INCH = 200
STYLE = {
    "font.size": 9.5,
    "font.family": "sans-serif",
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.06,
    "text.parse_math": False,  # a class may have a $ in its name
    "svg.fonttype": "path",  # looks the same wherever it is opened
    "svg.hashsalt": "probforest",  # the same figure is the same file
}


class Plot(NamedTuple):
    """A figure, a name for its file and a sentence that says what it shows."""

    name: str
    caption: str
    figure: "Figure"


@contextmanager
def drawing() -> Iterator[None]:
    """Our style, whatever the user's is, while something is drawn or written."""
    need("matplotlib", "Drawing figures", "plots")
    from matplotlib import style

    with style.context(["default", STYLE]), warnings.catch_warnings():
        # Names may have letters that matplotlib's font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


@contextmanager
def new_figure(height: float, width: float = WIDTH) -> Iterator["Figure"]:
    """A figure to draw in. Its layout is fixed at the end, or each file written of it would change the next."""
    with drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def write_figures(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Write every figure as PNG and as SVG into a folder, which is made if necessary; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for plot in plots:
        png, svg = folder / f"{plot.name}.png", folder / f"{plot.name}.svg"
        with drawing():
            plot.figure.savefig(png, dpi=DOTS_PER_INCH)
        svg.write_text(as_svg(plot.figure), encoding="utf-8")
        paths += [png, svg]
    return paths


def as_svg(figure: "Figure", *, transparent: bool = False) -> str:
    """A figure as the text of an SVG file, always the same for the same figure."""
    file = io.StringIO()
    with drawing():
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=transparent)
    return file.getvalue()


def percent_ticks() -> Any:
    """A formatter for axes of shares."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.4g} %")


def count_ticks() -> Any:
    """A formatter for axes of counts."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda count, _: f"{count:,.4g}" if count < 1e4 else f"{count:,.0f}")
