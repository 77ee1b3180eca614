"""What users give to the estimators' methods, and what `fit` leaves behind: the texts of the docstrings."""

from ..support.docstrings import Description

VALUES = {
    "X": Description(
        "array-like or table (pandas, polars, astropy) of shape (n_samples, n_features)",
        "Values; NaN marks a missing one.",
    ),
    "X_err": Description(
        "None, float, array-like of shape (n_features,) or (n_samples, n_features), or two of these",
        "Standard deviations, matched with `X` by position: 0 is an exact value, NaN an unknown error, inf a missing "
        "value. None: all values are exact. A tuple is a pair (lower, upper), and so is an array of shape (n_samples, "
        "n_features, 2): half of the probability lies on either side of the value. Lower errors may have a minus "
        "sign, as archives store them.",
    ),
    "X_limit": Description(
        "array-like of shape (n_samples, n_features)",
        "+1 where the value is an upper limit, so that the true value lies below it, -1 where it is a lower limit, 0 "
        "(or NaN) elsewhere. A limit is spread over the values that the training set has on the allowed side.",
    ),
    "X_samples": Description(
        "array-like of shape (n_samples, n_features, n_draws) or astropy Distribution",
        "Draws from the posterior of each value, NaN where there are fewer. They replace `X` and `X_err`; a cell "
        "without draws keeps its value and error.",
    ),
}

CLASS_TARGETS = {
    "y": Description(
        "array-like of shape (n_samples,)",
        "Labels. They can be omitted only if `y_proba` has shape (n_samples, n_classes); beside such a `y_proba` "
        "they only tell which classes there are.",
    ),
    "y_proba": Description(
        "array-like of shape (n_samples,) or (n_samples, n_classes)",
        "The probability that each label in `y` is right, the rest being shared evenly by the other classes; or "
        "the probability of every class.",
    ),
    "classes": Description(
        "array-like of shape (n_classes,)",
        "The class of each column of `y_proba`, unless it is a DataFrame whose columns are the classes. Also names "
        "classes that no label in `y` has.",
    ),
    "sample_weight": Description(
        "array-like of shape (n_samples,)",
        "Weights of the objects. They count in `min_samples_split` and `min_samples_leaf`, so that an object of "
        "weight 2 is the same as two objects; their mean should be about 1.",
    ),
}

UNLABELLED = {
    "X_unlabelled": Description(
        "like `X`",
        "More objects, whose targets are not known, such as the survey that is to be predicted. The priors are learnt "
        "from them as well, which helps if the training set is small. With `error_columns`, their errors are columns.",
    ),
    "X_err_unlabelled": Description("like `X_err`", "Errors of `X_unlabelled`."),
}

NUMBER_TARGETS = {
    "y": Description("array-like of shape (n_samples,)", "Targets, finite numbers."),
    "y_err": Description(
        "None, float, array-like of shape (n_samples,), two of these, or array-like of shape (n_samples, n_draws)",
        "Standard deviations of the targets: an object counts with 1 / (s² + y_err²), where s is how targets scatter "
        "around predictions apart from their errors (`target_scatter_`). NaN is an unknown error, which is the median "
        "of the others; inf an unknown target. A tuple is a pair (lower, upper). Three or more draws from the "
        "posterior of every target count with their root mean square distance from `y`. None: all targets are equally "
        "good.",
    ),
    "sample_weight": CLASS_TARGETS["sample_weight"],
}

SHARED = {
    "feature_model": Description(
        "fitted model of probforest",
        "A model whose features are taken over, together with its classes and all its choices (priors, rules for "
        "missing values), instead of being learnt: forests with the same features can be merged (`probforest.merge`), "
        "wherever they were grown. The table needs the columns of that model, and no class that it does not know.",
    ),
}

NUMBER_SCORED = {
    "y": Description("array-like of shape (n_samples,)", "True targets."),
    "sample_weight": Description("array-like of shape (n_samples,)", "Weights of the objects in the mean."),
}

HELD_OUT = {
    "y": Description("array-like of shape (n_samples,)", "Their true targets, which `fit` has not seen."),
}

RETURN_STD = {"return_std": Description("bool", "Whether to return standard deviations, too.")}

QUANTILES = {
    "quantiles": Description("float or array-like of shape (n_quantiles,)", "Probabilities between 0 and 1."),
}

SCORED = {
    "y": Description("array-like of shape (n_samples,)", "True labels."),
    "sample_weight": Description("array-like of shape (n_samples,)", "Weights of the objects in the mean."),
}

BETTER = {
    "factor": Description(
        "float in [0, 1]",
        "How large the errors of the better measurement are, compared with those of today; 0 is an exact value. "
        "Missing values are taken as measured exactly.",
    ),
}

BACKGROUND = {
    "background": Description(
        "like `X`", "Objects that the others are compared with, such as the training set or a part of it."
    ),
    "background_err": Description("like `X_err`", "Errors of `background`."),
    "background_limit": Description("like `X_limit`", "Limits in `background`."),
    "background_samples": Description("like `X_samples`", "Draws from the posteriors of `background`."),
    "n_background": Description("int", "How many objects of `background` are drawn, if it has more."),
    "n_orders": Description("int", "Random orders of the features, and their reverses, for each of these."),
    "random_state": Description("int, RandomState instance or None", "Seed of what is drawn."),
}

OTHER_VALUES = {
    "other": Description("like `X`", "The objects to compare with; None compares the objects of `X` with each other."),
    "other_err": Description("like `X_err`", "Errors of `other`."),
    "other_limit": Description("like `X_limit`", "Limits in `other`."),
    "other_samples": Description("like `X_samples`", "Draws from the posteriors of `other`."),
}

ATTRIBUTES = {
    "classes_": Description("ndarray of shape (n_classes,)", "The classes, sorted."),
    "label_truth_": Description(
        "LabelTruth or None",
        "How labels depend on the true classes: row c of `label_truth_.channel` is the mean PMF of objects whose true "
        "class is c, and `label_truth_.wrong` is the expected share of objects whose most probable class is not the "
        "true one. None if all labels are certain.",
    ),
    "n_features_in_": Description("int", "Number of columns of `X`, including those of errors."),
    "feature_names_in_": Description(
        "ndarray of shape (n_columns,)", "Names of the columns of `X`, if it had names that are all strings."
    ),
    "feature_names_": Description(
        "ndarray of shape (n_features,)",
        "Names of the features, in the order of `feature_importances_`: all columns except those of errors and "
        'limits; "x0", "x1", ... if `X` had no names. With `error_features`, also "error of x0", or "lower error of '
        'x0" and "upper error of x0", ...',
    ),
    "feature_importances_": Description(
        "ndarray of shape (n_features,)",
        "Impurity decrease of every feature, weighted by the expected number of objects; they sum to 1, or are all 0.",
    ),
    "importances_": Description(
        "Importances",
        "The same with the names of the features, the largest first: a table that is used like a Series of pandas.",
    ),
    "column_importances_": Description(
        "ndarray of shape (n_columns,)",
        "The same by column of `X`: a value and its columns with errors or limits have the sum of its importance and "
        "those of its `error_features`. For "
        'scikit-learn\'s feature selection: `SelectFromModel(model, importance_getter="column_importances_")`.',
    ),
    "missing_": Description(
        "ndarray of shape (n_features,)",
        'The rule for missing values of every feature: "observed", "equal" or "learned".',
    ),
    "prior_": Description(
        '{"empirical", "normal", "joint"} or None', 'The prior that was used: `prior`, or what "auto" chose.'
    ),
    "prior_trial_": Description(
        "PriorTrial or None",
        'With prior="auto" and errors: out-of-bag log losses of the small forests (`empirical`, `none`), the standard '
        "`error` of their difference, `n_objects`; and `joint` with `joint_error`, that of its difference to the "
        "better one of the others, if features say something about each other.",
    ),
    "feature_model_": Description(
        "FeatureModel",
        "What was learnt about the features: columns, units, families, errors, priors, and how the training set is "
        "spread.",
    ),
    "median_errors_": Description(
        "ndarray of shape (n_features,), or (2, n_features) for lower and upper errors",
        "Median known error of every feature in training; NaN where none was known.",
    ),
    "fitted_with_errors_": Description("bool", "Whether `fit` was given errors."),
    "error_pairs_": Description(
        "dict or None",
        "With `error_columns`: each feature and the columns of its errors, or None for a feature without errors.",
    ),
}

_OF_CLASSES = ("classes_", "label_truth_", "prior_", "prior_trial_")
NUMBER_ATTRIBUTES = {
    "error_scale_": Description(
        "float", 'The factor of errors that was used: `error_scale`, or what "auto" chose (0: values are exact).'
    ),
    "prior_": Description(
        '{"empirical", "normal", "joint"} or None', 'The prior that was used: `prior`, or what "auto" chose.'
    ),
    "error_trial_": Description(
        "ErrorTrial or None",
        'If "auto" chose between ways to use errors: the out-of-bag `crps` of small forests by the prior they used, '
        '"none" for no prior, "part" for a quarter of the errors and "exact" for none; the `choice`, and `n_objects`; '
        "and the CRPS of the choice `with_slopes`, if these were tried.",
    ),
    "target_scatter_": Description(
        "float or None",
        "The scatter s of targets around predictions, apart from `y_err`; None if all targets are equally good.",
    ),
} | {name: text for name, text in ATTRIBUTES.items() if name not in _OF_CLASSES}
