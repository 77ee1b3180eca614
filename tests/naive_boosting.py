"""Gradient boosting with probabilistic trees in plain NumPy: a tree whose best leaf is split first, pruning that loses
nothing, and the losses. Imports nothing of probforest; splits are those of `naive`."""

from dataclasses import replace

import numpy as np

import naive


def follow_larger(to_left, reach, heavier_left, keep_proba):
    """If π of the smaller side is not above keep_proba, everything follows the larger one."""
    goes_left = to_left > 0.5 or (to_left == 0.5 and heavier_left)
    smaller = reach * (1 - to_left if goes_left else to_left)
    return float(goes_left) if smaller <= keep_proba else to_left


def children(members, j, threshold, way, values, errors, weight, keep_proba):
    """The members [(i, reach)] of both children, and what routing needs to know."""
    known = {i: naive.cdf(threshold, values[i, j], errors[i, j]) for i, _ in members if not np.isnan(values[i, j])}
    observed = sum(weight[i] * reach for i, reach in members if i in known)
    missing_left = sum(weight[i] * reach * known[i] for i, reach in members if i in known) / observed
    missing_left = missing_left if way is None else way
    to_left = {i: known.get(i, missing_left) for i, _ in members}
    heavier_left = sum(weight[i] * reach * (to_left[i] - 0.5) for i, reach in members) >= 0
    left, right = [], []
    for i, reach in members:
        share = follow_larger(to_left[i], reach, heavier_left, keep_proba)
        if share > 0:
            left.append((i, reach * share))
        if share < 1:
            right.append((i, reach * (1 - share)))
    return left, right, {"missing_left": missing_left, "heavier_left": heavier_left}


def step(sums, rules, bounds):
    """The Newton step of a node, within bounds."""
    return np.clip(-sums[0] / (sums[1] + rules.regularisation), *bounds)


def new_node(members, depth, target, weight, rules, bounds):
    """`bounds` are those of its own value, and of all values below it unless it splits a feature that binds them."""
    sums = sum(weight[i] * reach * target[i] for i, reach in members)
    value = np.array([step(sums, rules, bounds)])
    node = {"members": members, "depth": depth, "sums": sums, "value": value, "weight": naive.weight_of(sums, rules)}
    return node | {"bounds": bounds}


def best_bound_split(node, table, rules, least, monotonic):
    """(gain, feature, threshold, missing_left) of the best split whose sides answer in the right order: a side gains
    −G × value."""
    values, errors, target, weight, runs = table
    found, bounds = None, node["bounds"]
    for j in range(values.shape[1]):
        candidates = naive.candidates(j, node["members"], values, errors, target, weight, rules, runs)
        for threshold, way, left, right in candidates:
            if min(naive.weight_of(left, rules), naive.weight_of(right, rules)) < least - 1e-9:
                continue
            of_left, of_right = (step(side, rules, bounds) for side in (left, right))
            if monotonic[j] * (of_right - of_left) < 0:
                continue
            gain = -left[0] * of_left - right[0] * of_right + node["sums"][0] * step(node["sums"], rules, bounds)
            if found is None or gain > found[0] + naive.SAME * node["weight"]:
                found = gain, j, threshold, way
    return found


def bind_children(both, direction):
    """Below a split of a feature that binds, everything stays on its side of the mean of both children."""
    if direction == 0:
        return
    low, high = both if direction > 0 else both[::-1]
    middle = (low["value"] + high["value"]) / 2
    low["value"], high["value"] = np.minimum(low["value"], middle), np.maximum(high["value"], middle)
    low["bounds"], high["bounds"] = (low["bounds"][0], middle[0]), (middle[0], high["bounds"][1])


def find_split(node, table, rules, least, monotonic=None):
    """Note the best split of a node and what it gains, if it gains anything."""
    node["gain"] = 0.0
    if node["depth"] >= rules.max_depth or node["weight"] < 2 * least - 1e-9:
        return
    if monotonic is not None:
        found = best_bound_split(node, table, rules, least, monotonic)
        if found is not None and found[0] > naive.SAME * node["weight"]:
            node["gain"], node["split"], node["least"] = found[0], found[1:], least
        return
    values, errors, target, weight, runs = table
    split = naive.best_split(node["members"], values, errors, target, weight, rules, least, runs)
    if split is not None and naive.impurity(node["sums"], rules) - split[0] > naive.SAME:
        node["gain"] = (naive.impurity(node["sums"], rules) - split[0]) * node["weight"]
        node["split"], node["least"] = split[1:], least


def grow(values, errors, target, weight, rules, max_leaf_nodes, learning_rate, monotonic=None):
    """A tree as nested dicts; of all leaves, the one whose split gains most is split first. With `monotonic`, answers
    rise with features that have 1, and fall with those that have -1."""
    runs = [naive.runs(j, values, errors, weight) for j in range(values.shape[1])]
    table = values, errors, target, weight, runs
    everyone = [(i, 1.0) for i in range(len(values)) if weight[i] > 0]
    root = new_node(everyone, 0, target, weight, rules, (-np.inf, np.inf))
    find_split(root, table, rules, rules.min_samples_leaf, monotonic)
    leaves = [root]
    while len(leaves) < max_leaf_nodes:
        best = max(leaves, key=lambda leaf: leaf["gain"])
        if best["gain"] <= 0:
            break
        j, threshold, way = best["split"]
        left, right, routing = children(best["members"], j, threshold, way, values, errors, weight, rules.keep_proba)
        if min(sum(weight[i] * reach for i, reach in side) for side in (left, right)) < rules.min_samples_leaf - 1e-9:
            find_split(best, table, rules, 2 * best["least"], monotonic)
            continue
        both = [new_node(side, best["depth"] + 1, target, weight, rules, best["bounds"]) for side in (left, right)]
        bind_children(both, 0 if monotonic is None else monotonic[j])
        for child in both:
            find_split(child, table, rules, rules.min_samples_leaf, monotonic)
        best.update(feature=j, threshold=threshold, left=both[0], right=both[1], **routing)
        leaves = [leaf for leaf in leaves if leaf is not best] + both
    shrink(root, learning_rate)
    return root


def shrink(node, learning_rate):
    node["value"] = learning_rate * node["value"]
    for side in ("left", "right"):
        if side in node:
            shrink(node[side], learning_rate)


def reached(node, value, error, keep_proba, reach=1.0):
    """[(leaf, π)] of one object."""
    if "feature" not in node:
        return [(node, reach)]
    j = node["feature"]
    to_left = node["missing_left"] if np.isnan(value[j]) else naive.cdf(node["threshold"], value[j], error[j])
    share = follow_larger(to_left, reach, node["heavier_left"], keep_proba)
    found = reached(node["left"], value, error, keep_proba, reach * share) if share > 0 else []
    return found + (reached(node["right"], value, error, keep_proba, reach * (1 - share)) if share < 1 else [])


def answers(tree, values, errors, keep_proba):
    """Σ π × value of the leaves, of every object."""
    return np.array(
        [
            sum(reach * leaf["value"][0] for leaf, reach in reached(tree, value, error, keep_proba))
            for value, error in zip(values, errors, strict=True)
        ]
    )


def softmax(raw):
    total = np.exp(raw - raw.max())
    return total / total.sum()


def seen(pmf, weight):
    """What each label says about the classes, p / mean PMF."""
    return pmf / (weight @ pmf / weight.sum())


def loss(raw, evidence):
    """−log Σ_c q_c p_c / (mean PMF)_c of one object with raw scores (k,), up to the constant for hard labels."""
    return -np.log(softmax(raw) @ evidence)


def information_of_label(q, evidence, others):
    """Fisher information of the raw score of a class with the probability q: a label is right about it as often as its
    likelihoods for this class and for all others say, whichever of the two it speaks for."""
    right = max(evidence, others) / (evidence + others)
    speaks_for = q * right + (1 - q) * (1 - right)
    slope = q * (1 - q) * (2 * right - 1)
    return slope**2 / speaks_for + slope**2 / (1 - speaks_for)


def expected_curvature(q, evidence):
    """The same for each object and class, (n, k)."""
    found = np.empty_like(q)
    for i, c in np.ndindex(*q.shape):
        others = np.delete(q[i] * evidence[i], c).sum() / (1 - q[i, c])
        found[i, c] = information_of_label(q[i, c], evidence[i, c], others)
    return found


def boost(values, errors, pmf, weight, rules, n_iterations, max_leaf_nodes, learning_rate):
    """Raw scores (n, k) of the objects after some iterations; two classes have one tree per iteration, whose answer is
    the difference of both scores."""
    n, k = pmf.shape
    information = (k * (pmf**2).sum(axis=1) - 1) / (k - 1)
    evidence, raw = seen(pmf, weight), np.tile(np.log(weight @ pmf / weight.sum()), (n, 1))
    said = weight @ information / weight.sum()  # by an average label
    least = min(rules.min_samples_leaf, max(rules.min_samples_leaf * said, 0.2 * weight @ information))
    rules = replace(rules, min_samples_leaf=least)
    for _ in range(n_iterations):
        q = np.array([softmax(each) for each in raw])
        posterior = q * evidence / (q * evidence).sum(axis=1, keepdims=True)
        before = raw.copy()
        for c in range(1 if k == 2 else 0, k):
            gradient, curvature = q - posterior, expected_curvature(q, evidence)
            columns = np.column_stack([gradient[:, c] / information, curvature[:, c] / information, np.ones(n)])
            tree = grow(values, errors, columns, weight * information, rules, max_leaf_nodes, learning_rate)
            raw[:, c] = before[:, c] + answers(tree, values, errors, rules.keep_proba)
    return raw


def quantile_of(values, weight, level):
    """Where a share `level` of the weight is reached; the middle, if that is an interval."""
    order = np.argsort(values)
    below, total = 0.0, sum(weight)
    for place, i in enumerate(order):
        below += weight[i]
        if abs(below - level * total) < 1e-9 * total:
            return (values[i] + values[order[place + 1]]) / 2
        if below > level * total:
            return values[i]
    raise AssertionError


def huber_center_of(values, weight, delta):
    """Where the pulls of all values, each at most δ strong, cancel."""
    low, high = min(values), max(values)
    for _ in range(200):
        middle = (low + high) / 2
        pull = sum(w * min(max(value - middle, -delta), delta) for value, w in zip(values, weight, strict=True))
        low, high = (middle, high) if pull > 0 else (low, middle)
    return (low + high) / 2


def derivatives_of(loss, quantile, y, raw, delta=None):
    """Gradient and hessian of each object."""
    if loss == "squared_error":
        return raw - y, np.ones_like(y)
    if loss == "huber":
        return np.array([min(max(each, -delta), delta) for each in raw - y]), np.ones_like(y)
    if loss == "poisson":
        return np.exp(raw) - y, np.exp(raw)
    if loss == "gamma":
        return 1 - y * np.exp(-raw), y * np.exp(-raw)
    below, above = (-1, 1) if loss == "absolute_error" else (-quantile, 1 - quantile)
    return np.where(y >= raw, below, above) * 1.0, np.ones_like(y)


def boost_numbers(problem, y, loss, quantile, rules, n_iterations, max_leaf_nodes, learning_rate, delta=None):
    """Raw scores (n,) of the objects after some iterations; `delta` is that of the Huber loss, whose trees take a
    larger one while residuals are larger."""
    values, errors, _, weight = problem
    level = 0.5 if quantile is None else quantile
    if loss in ("absolute_error", "quantile"):
        start = quantile_of(y, weight, level)
    elif loss == "huber":
        start = huber_center_of(y, weight, delta)
    else:
        start = weight @ y / weight.sum()
        start = np.log(start) if loss in ("poisson", "gamma") else start
    raw = np.full(len(y), start)
    for _ in range(n_iterations):
        now = max(delta, quantile_of(np.abs(y - raw), weight, level)) if loss == "huber" else None
        columns = np.column_stack([*derivatives_of(loss, level, y, raw, now), np.ones_like(y)])
        tree = grow(values, errors, columns, weight, rules, max_leaf_nodes, learning_rate)
        if loss in ("absolute_error", "quantile", "huber"):
            for leaf in naive.leaves(tree):
                rows, reach = (np.array(each) for each in zip(*leaf["members"], strict=True))
                best, about = (huber_center_of, now) if loss == "huber" else (quantile_of, level)
                leaf["value"] = learning_rate * np.array([best((y - raw)[rows], weight[rows] * reach, about)])
        raw = raw + answers(tree, values, errors, rules.keep_proba)
    return raw
