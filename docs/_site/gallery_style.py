"""How the figures of the gallery look."""

import matplotlib.pyplot as plt


def apply(gallery_conf, name):
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "figure.dpi": 110,
            "legend.frameon": False,
        }
    )
