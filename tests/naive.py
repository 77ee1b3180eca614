"""The paper's equations in plain NumPy and SciPy, as slow and as plain as they come. Imports nothing of probforest.

Objects are rows; `values`, `errors` (n, d), NaN values are missing; `weight` (n,). An error is a standard deviation, or
a whole distribution with `cdf` and `ppf`. `target` (n, columns) is what a node adds up, by criterion: "gini" and
"entropy" the probabilities of the classes; "variance" y², y and 1; "newton" the gradient, the hessian and 1.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

SAME = 1e-11  # costs closer than this are ties, and the first feature and the lowest threshold win


@dataclass
class Rules:
    criterion: str = "gini"
    missing: str | list[str] = "observed"  # one rule for all features, or one for each
    keep_proba: float = 0.05
    min_samples_leaf: float = 1
    min_samples_split: float = 2
    max_depth: float = np.inf
    regularisation: float = 0.0

    def missing_of(self, j):
        return self.missing if isinstance(self.missing, str) else self.missing[j]


def cdf(threshold, value, error):
    """F(threshold), eq. 5."""
    if hasattr(error, "cdf"):
        return float(error.cdf(threshold))
    if error == 0:
        return float(value <= threshold)
    z = (threshold - value) / error
    return float(z > 0) if abs(z) >= 6 else ndtr(z)  # exactly 0 and 1 in the far tails


def grid(value, error):
    """Grid points of one cell and the probability that moves when a threshold crosses each of them."""
    if hasattr(error, "ppf"):
        place = {k: float(error.ppf(ndtr(k))) for k in range(-3, 4)}
    elif error == 0:
        return [(value, 1.0)]
    else:
        place = {k: value + k * error for k in range(-3, 4)}
    points, before = [], 0.0
    for k in (-3, -2, -1, 0, 1, 2):
        points.append((place[k], ndtr(k) - before))
        before = ndtr(k)
    return [*points, (place[3], 1.0 - before)]


def weight_of(sums, rules):
    """The weight of a node or a side with these sums of the target's columns."""
    return sums[-1] if rules.criterion in ("variance", "newton") else sums.sum()


def impurity(sums, rules):
    """Eq. 12, the entropy in bits or the variance; or what is left of a loss when all members take the best step."""
    if rules.criterion == "variance":
        squares, y, weight = sums
        return squares / weight - (y / weight) ** 2
    if rules.criterion == "newton":
        gradient, hessian, weight = sums
        return -(gradient**2) / (hessian + rules.regularisation) / weight
    p = sums / sums.sum()
    if rules.criterion == "gini":
        return 1 - np.sum(p**2)
    p = p[p > 0]
    return -np.sum(p * np.log2(p))


def cost(left, right, rules):
    """Eq. 13."""
    weight = weight_of(left + right, rules)
    return sum(weight_of(side, rules) / weight * impurity(side, rules) for side in (left, right))


def value(sums, rules):
    """What a node answers: class probabilities, the mean, or the step that is best for the loss."""
    if rules.criterion == "variance":
        return np.array([sums[1] / sums[2]])
    if rules.criterion == "newton":
        return np.array([-sums[0] / (sums[1] + rules.regularisation)])
    return sums / sums.sum()


def runs(j, values, errors, weight):
    """The grid points of feature j in the training set, in runs: those of one value with nothing else between them.

    A threshold inside of a run would part nothing but that value. Returns the run of each point, and the first and last
    point of each run.
    """
    owners = {}
    for i in np.flatnonzero((weight > 0) & ~np.isnan(values[:, j])):
        for point, _ in grid(values[i, j], errors[i, j]):
            owners.setdefault(point, set()).add(values[i, j])
    number, ends, before = {}, [], set()
    for point in sorted(owners):
        if owners[point] != before or len(before) > 1:
            ends.append([point, point])
        number[point], ends[-1][1], before = len(ends) - 1, point, owners[point]
    return number, ends


def candidates(j, members, values, errors, target, weight, rules, runs_of_all=None):
    """All thresholds of feature j: (threshold, missing_left or None for the observed share, left, right sums)."""
    number, ends = runs(j, values, errors, weight) if runs_of_all is None else runs_of_all[j]
    nothing = np.zeros(target.shape[1])
    points = {}  # run of grid points -> sums that move when it is crossed
    total, missing = nothing, nothing
    for i, reach in members:
        part = weight[i] * reach * target[i]
        total = total + part
        if np.isnan(values[i, j]):
            missing = missing + part
            continue
        for point, chunk in grid(values[i, j], errors[i, j]):
            points[number[point]] = points.get(number[point], 0) + chunk * part
    ordered = sorted(points)
    observed = sum(points.values(), nothing)
    left = nothing
    has_missing, rule = weight_of(missing, rules) > 0, rules.missing_of(j)
    for n_left in range(1, len(ordered) + 1):
        left = left + points[ordered[n_left - 1]]
        share = weight_of(left, rules) / weight_of(observed, rules)
        if n_left == len(ordered):
            if rule == "learned" and has_missing:  # observed against missing
                yield np.inf, 0.0, left, missing
            return
        threshold = (ends[ordered[n_left - 1]][1] + ends[ordered[n_left]][0]) / 2
        ways = {"equal": [(0.5, 0.5)], "observed": [(None, share)], "learned": [(None, share), (0.0, 0.0), (1.0, 1.0)]}
        for way, missing_left in ways[rule]:
            if rule == "learned" and way is not None and not has_missing:
                continue
            to_left = left + missing_left * missing
            yield threshold, way, to_left, total - to_left


def best_split(members, values, errors, target, weight, rules, least, runs_of_all=None):
    """(cost, feature, threshold, missing_left) of the best split with sides of at least `least`, or None."""
    best = None
    for j in range(values.shape[1]):
        for threshold, way, left, right in candidates(j, members, values, errors, target, weight, rules, runs_of_all):
            if min(weight_of(left, rules), weight_of(right, rules)) < least - 1e-9:
                continue
            this = cost(left, right, rules)
            if best is None or this < best[0] - SAME:
                best = (this, j, threshold, way)
    return best


def send(members, to_left, main, heavier_left, keep_proba):
    """Children of a node (eq. 6-9, 18): two lists of (i, reach), two sets of objects on their most probable path."""
    left, right, main_left, main_right = [], [], set(), set()
    for i, reach in members:
        goes_left = to_left[i] > 0.5 or (to_left[i] == 0.5 and heavier_left)
        if i in main:
            (main_left if goes_left else main_right).add(i)
        if reach * to_left[i] > keep_proba or i in main_left:
            left.append((i, reach * to_left[i]))
        if reach * (1 - to_left[i]) > keep_proba or i in main_right:
            right.append((i, reach * (1 - to_left[i])))
    return left, right, main_left, main_right


def grow(values, errors, target, weight, rules):
    """A tree as nested dicts."""
    everyone = [i for i in range(len(values)) if weight[i] > 0]
    table = (values, errors, target, weight, rules, [runs(j, values, errors, weight) for j in range(values.shape[1])])
    return _grow_node([(i, 1.0) for i in everyone], set(everyone), 0, *table)


def _grow_node(members, main, depth, values, errors, target, weight, rules, runs_of_all):
    sums = sum(weight[i] * reach * target[i] for i, reach in members)
    node = {"value": value(sums, rules), "weight": weight_of(sums, rules), "impurity": impurity(sums, rules)}
    if depth >= rules.max_depth or node["weight"] < rules.min_samples_split - 1e-9:
        return node
    if rules.criterion != "newton" and node["impurity"] <= SAME:
        return node
    least = rules.min_samples_leaf
    while True:
        split = best_split(members, values, errors, target, weight, rules, least, runs_of_all)
        if split is None or split[0] >= node["impurity"] - SAME:
            return node
        _, j, threshold, missing_left = split
        observed = [(i, reach) for i, reach in members if not np.isnan(values[i, j])]
        to_left = {i: cdf(threshold, values[i, j], errors[i, j]) for i, _ in observed}
        observed_left = sum(weight[i] * reach * to_left[i] for i, reach in observed)
        if missing_left is None:
            missing_left = observed_left / sum(weight[i] * reach for i, reach in observed)
        for i, _ in members:
            to_left.setdefault(i, missing_left)
        heavier_left = sum(weight[i] * reach * (to_left[i] - 0.5) for i, reach in members) >= 0
        left, right, main_left, main_right = send(members, to_left, main, heavier_left, rules.keep_proba)
        lighter = min(sum(weight[i] * reach for i, reach in child) for child in (left, right))
        if lighter >= rules.min_samples_leaf - 1e-9:
            break
        least *= 2  # the exact masses are lighter than those of the grid: next best with heavier sides
    rest = (depth + 1, values, errors, target, weight, rules, runs_of_all)
    return node | {
        "feature": j,
        "threshold": threshold,
        "missing_left": missing_left,
        "heavier_left": heavier_left,
        "left": _grow_node(left, main_left, *rest),
        "right": _grow_node(right, main_right, *rest),
    }


def leaves(node):
    """The leaves from left to right."""
    if "feature" not in node:
        return [node]
    return leaves(node["left"]) + leaves(node["right"])


def leaf_probabilities(node, value, error, keep_proba):
    """(leaf, π) for one object, eq. 9 and 18."""
    found = []

    def visit(node, reach, main):
        if "feature" not in node:
            found.append((node, reach))
            return
        j = node["feature"]
        to_left = node["missing_left"] if np.isnan(value[j]) else cdf(node["threshold"], value[j], error[j])
        here = {0} if main else set()
        left, right, main_left, main_right = send([(0, reach)], [to_left], here, node["heavier_left"], keep_proba)
        for child, members, on_main in (("left", left, main_left), ("right", right, main_right)):
            for _, child_reach in members:
                visit(node[child], child_reach, bool(on_main))

    visit(node, 1.0, True)
    return found


def predict(tree, values, errors, keep_proba):
    """The values of the leaves that were reached, averaged with π (eq. 14, 15)."""
    answers = []
    for value, error in zip(values, errors, strict=True):
        found = leaf_probabilities(tree, value, error, keep_proba)
        answers.append(sum(reach * leaf["value"] for leaf, reach in found) / sum(reach for _, reach in found))
    return np.array(answers)


def mean_pmfs(pmf, weight):
    """T: row c is the mean PMF of objects whose true class is c."""
    k = pmf.shape[1]
    return np.array(
        [
            [
                sum(w * p[c] * p[other] for w, p in zip(weight, pmf, strict=True))
                / sum(w * p[c] for w, p in zip(weight, pmf, strict=True))
                for other in range(k)
            ]
            for c in range(k)
        ]
    )


def true_classes(mean_pmf, channel, prior, softness):
    """argmin ½ |q − z|² − s Σ m log q on the simplex with z = P T⁻¹, by bisection of the multiplier of Σ q = 1."""
    z = np.linalg.solve(channel.T, mean_pmf)

    def q(multiplier):
        d = z - multiplier
        return (d + np.sqrt(d * d + 4 * softness * prior)) / 2

    low, high = z.min() - 10, z.max() + 10
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if q(middle).sum() > 1 else (low, middle)
    return q(low)


def ridge(places, y, mass, penalty):
    """The slopes b that minimise Σ m (y − a − b·x)² / Σ m + penalty |b|², as a least-squares problem with one more row
    per slope."""
    share = np.sqrt(mass / mass.sum())
    n_features = places.shape[1]
    rows = np.column_stack([share, share[:, None] * places])
    more = np.column_stack([np.zeros(n_features), np.sqrt(penalty) * np.eye(n_features)])
    wanted = np.concatenate([share * y, np.zeros(n_features)])
    return np.linalg.lstsq(np.vstack([rows, more]), wanted, rcond=None)[0][1:]
