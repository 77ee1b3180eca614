"""What the sections of the report mean, for readers who see such a page for the first time."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """What a newcomer needs to know of a section."""

    title: str
    text: str
    how_drawn: str  # left out where there is no figure
    good: str
    bad: str


EXPLANATIONS = {
    "confusion": Explanation(
        "Which classes are mixed up",
        "Every object is counted in the row of its true class and in the column of the answer, its most probable one.",
        "The stronger the colour of a cell, the larger its share of the row; small shares are stressed, so that "
        "mix-ups stand out.",
        "almost everything is on the diagonal: most objects are given their true class.",
        "a large cell beside the diagonal: two classes that the features don't tell apart, or labels that are wrong.",
    ),
    "per_class": Explanation(
        "The classes one by one",
        "Recall is the share of a class's objects that were found, the completeness of a sample. "
        "Precision is the share of right ones among the answers, its purity. F1 is their harmonic mean.",
        "Lines are 95 % intervals; where they are long, there are too few objects to say.",
        "both are close to 1, for rare classes as well.",
        "low recall: the class is overlooked. Low precision: others are taken for it.",
    ),
    "ranking": Explanation(
        "How well classes are separated",
        "Objects are sorted by the probability of a class. The area under the ROC curve is the probability that an "
        "object of the class comes before another one; the average precision is the mean purity of the samples that "
        "one gets from the top of the list.",
        "The dashed line is what chance alone gives.",
        "areas near 1, and a precision that stays high as recall grows.",
        "an average precision that is hardly above the share of the class: its probability says little.",
    ),
    "reliability": Explanation(
        "Can the probabilities be trusted?",
        "Objects are sorted into ten bins by the probability of their answer. "
        "If the model says 80 %, about 80 % of these answers should be right.",
        "On the dashed line they are. The bars below say how many objects each point stands for.",
        "the share of right answers is the probability, up to the intervals: a probability means what it says.",
        "fewer right answers than promised: the model is too sure of itself. More: it is too modest.",
    ),
    "error_size": Explanation(
        "What measurement errors cost",
        "Accuracy of the objects with the smallest errors, the next larger ones, and so on; beside it the mean "
        "probability of the answers, which is the accuracy that the model itself expects. A size of 1 is the usual "
        "error of the training set.",
        "",
        "both agree: the model knows how much the errors cost. Accuracy may well fall with the errors.",
        "more is expected than comes true: poorly measured objects are answered with too much confidence.",
    ),
    "error_cost": Explanation(
        "What limits the accuracy",
        "How much higher the accuracy is expected to be if all values of one feature were known exactly, everything "
        "else being as it is. The forecast is that of the model itself, for a sample of the objects.",
        "Lines are standard errors.",
        "small numbers: better measurements of a single feature would not help much.",
        "a large one: here better measurements pay most.",
    ),
    "mistakes": Explanation(
        "The worst mistakes",
        "Wrong answers that left next to nothing for the true class, with the features that led to them. Rows count "
        "from 1, without the heads of the columns.",
        "",
        "doubtful answers, or errors that explain them.",
        "sure and wrong: look at these objects first. Often it is the label that is wrong.",
    ),
    "coverage": Explanation(
        "Clean samples",
        "Accuracy when only the most confident answers count. To make a clean sample, choose the accuracy that you "
        "need, and keep the objects whose answer has at least the probability in the table.",
        "",
        "accuracy starts near 1 and falls late.",
        "accuracy hardly depends on the share: the model's confidence says little about whether it is right.",
    ),
    "importance": Explanation(
        "Features that matter",
        "How much the model gains from each feature. Features that say the same share their importance.",
        "",
        "features on top that an expert would expect there.",
        "a feature on top that should not matter, such as an identifier: it may betray the label.",
    ),
}
