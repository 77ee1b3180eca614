"""Gradient boosting with probabilistic trees in plain NumPy: a tree whose best leaf is split first, pruning that loses
nothing, and the losses. Imports nothing of probforest; splits are those of `naive`."""

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


def new_node(members, depth, target, weight, rules, learning_rate):
    sums = sum(weight[i] * reach * target[i] for i, reach in members)
    value = learning_rate * naive.value(sums, rules)
    return {"members": members, "depth": depth, "sums": sums, "value": value, "weight": naive.weight_of(sums, rules)}


def find_split(node, table, rules, least):
    """Note the best split of a node and what it gains, if it gains anything."""
    node["gain"] = 0.0
    if node["depth"] >= rules.max_depth or node["weight"] < 2 * least - 1e-9:
        return
    values, errors, target, weight, runs = table
    split = naive.best_split(node["members"], values, errors, target, weight, rules, least, runs)
    if split is not None and naive.impurity(node["sums"], rules) - split[0] > naive.SAME:
        node["gain"] = (naive.impurity(node["sums"], rules) - split[0]) * node["weight"]
        node["split"], node["least"] = split[1:], least


def grow(values, errors, target, weight, rules, max_leaf_nodes, learning_rate):
    """A tree as nested dicts; of all leaves, the one whose split gains most is split first."""
    runs = [naive.runs(j, values, errors, weight) for j in range(values.shape[1])]
    table = values, errors, target, weight, runs
    everyone = [(i, 1.0) for i in range(len(values)) if weight[i] > 0]
    root = new_node(everyone, 0, target, weight, rules, learning_rate)
    find_split(root, table, rules, rules.min_samples_leaf)
    leaves = [root]
    while len(leaves) < max_leaf_nodes:
        best = max(leaves, key=lambda leaf: leaf["gain"])
        if best["gain"] <= 0:
            break
        j, threshold, way = best["split"]
        left, right, routing = children(best["members"], j, threshold, way, values, errors, weight, rules.keep_proba)
        if min(sum(weight[i] * reach for i, reach in side) for side in (left, right)) < rules.min_samples_leaf - 1e-9:
            find_split(best, table, rules, 2 * best["least"])
            continue
        both = [new_node(side, best["depth"] + 1, target, weight, rules, learning_rate) for side in (left, right)]
        for child in both:
            find_split(child, table, rules, rules.min_samples_leaf)
        best.update(feature=j, threshold=threshold, left=both[0], right=both[1], **routing)
        leaves = [leaf for leaf in leaves if leaf is not best] + both
    return root


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


def boost(values, errors, pmf, weight, rules, n_iterations, max_leaf_nodes, learning_rate):
    """Raw scores (n, k) of the objects after some iterations; two classes have one tree per iteration, whose answer is
    the difference of both scores."""
    n, k = pmf.shape
    information = (k * (pmf**2).sum(axis=1) - 1) / (k - 1)
    evidence, raw = seen(pmf, weight), np.tile(np.log(weight @ pmf / weight.sum()), (n, 1))
    for _ in range(n_iterations):
        q = np.array([softmax(each) for each in raw])
        posterior = q * evidence / (q * evidence).sum(axis=1, keepdims=True)
        before = raw.copy()
        for c in range(1 if k == 2 else 0, k):
            gradient, curvature = q - posterior, np.abs(q * (1 - q) - posterior * (1 - posterior))
            columns = np.column_stack([gradient[:, c] / information, curvature[:, c] / information, np.ones(n)])
            tree = grow(values, errors, columns, weight * information, rules, max_leaf_nodes, learning_rate)
            raw[:, c] = before[:, c] + answers(tree, values, errors, rules.keep_proba)
    return raw
