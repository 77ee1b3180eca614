"""Which columns are the errors of which others: names of real catalogues, ordinary words, and usual mistakes."""

import random
import re
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from probforest.inputs.columns import Errors, describe_pairs, pair_columns


def one(lower):
    return Errors(lower=lower)


CATALOGUES = {
    "Kepler KOI": {
        "kepid": None,
        "koi_period": Errors("koi_period_err2", "koi_period_err1"),
        "koi_time0bk": Errors("koi_time0bk_err2", "koi_time0bk_err1"),
        "koi_fwm_sra": one("koi_fwm_sra_err"),
        "koi_ldm_coeff1": None,
        "koi_ldm_coeff2": None,
        "koi_limbdark_mod": None,
    },
    "NASA PS": {
        "pl_bmasse": Errors("pl_bmasseerr2", "pl_bmasseerr1", "pl_bmasselim"),
        "pl_rade": Errors("pl_radeerr2", "pl_radeerr1", "pl_radelim"),
        "sy_vmag": Errors("sy_vmagerr2", "sy_vmagerr1"),
        "pl_orbpersymerr": None,
        "ttv_flag": None,
    },
    "SDSS": {
        "psfMag_u": one("psfMagErr_u"),
        "psfMag_g": one("psfMagErr_g"),
        "petroR50_r": one("petroR50Err_r"),
        "expAB_r": one("expABErr_r"),
        "z": one("zErr"),
        "zWarning": None,
    },
    "SDSS in lower case": {"psfmag_u": one("psfmagerr_u"), "z": one("zerr"), "type": None},
    "BOSS": {"MAG_U": one("MAGERR_U"), "MAG_G": one("MAGERR_G"), "Z": one("Z_ERR"), "PLATE": None},
    "LSST": {"mag_u_lsst": one("mag_err_u_lsst"), "mag_g_lsst": one("mag_err_g_lsst"), "redshift": None},
    "VizieR": {
        "Gmag": one("e_Gmag"),
        "_Fe_H_": one("e__Fe_H_"),
        "B-V": one("e_B-V"),
        "RA_ICRS": one("e_RA_ICRS"),
        "E_BP-RP_": None,
    },
    "Gaia": {
        "parallax": one("parallax_error"),
        "pmra": one("pmra_error"),
        "phot_g_mean_flux": one("phot_g_mean_flux_error"),
        "parallax_over_error": None,
        "phot_g_mean_flux_over_error": None,
        "astrometric_excess_noise": None,
        "astrometric_excess_noise_sig": None,
        "rv_expected_sig_to_noise": None,
        "phot_bp_rp_excess_factor": None,
        "ra_dec_corr": None,
    },
    "AllWISE": {
        "w1mpro": one("w1sigmpro"),
        "w2mpro": one("w2sigmpro"),
        "w1flux": one("w1sigflux"),
        "w1m": None,
        "w1sigm": None,
        "w1snr": None,
        "sigradec": None,
        "j_m_2mass": one("j_msig_2mass"),
    },
    "WISE in VizieR": {"W3mag": Errors("e_W3mag", limit="W3maglim"), "W4mag": one("e_W4mag")},
    "2MASS": {"j_m": one("j_msigcom"), "h_m": one("h_cmsig"), "k_m": None, "j_snr": None},
    "2MASS extended": {"j_m_k20fe": one("j_msig_k20fe"), "k_ba": None},
    "Pan-STARRS": {"gMeanPSFMag": one("gMeanPSFMagErr"), "gMeanPSFMagStd": None, "raMean": one("raMeanErr")},
    "SDSS SkyServer": {"u": one("err_u"), "g": one("err_g"), "modelMag_g": one("modelMagErr_g"), "z": one("zErr")},
    "components": {"kmass1": one("kmass_err1"), "kmass2": one("kmass_err2"), "mag3": one("mag_err3")},
    "one component": {"kmass1": Errors("kmass_err2", "kmass_err1"), "rad1": one("raderr1")},
}


def columns_of(pairs):
    return [column for name, errors in pairs.items() for column in (name, *(errors.columns if errors else ()))]


def shuffled(names, seed):
    return random.Random(seed).sample(names, len(names))


@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_real_catalogues(catalogue):
    expected = CATALOGUES[catalogue]
    pairs = pair_columns(columns_of(expected), "auto")
    assert pairs == expected
    assert list(pairs) == list(expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_the_order_of_columns_only_orders_the_features(catalogue, seed):
    expected = CATALOGUES[catalogue]
    names = shuffled(columns_of(expected), seed)
    pairs = pair_columns(names, "auto")
    assert pairs == expected
    assert list(pairs) == [name for name in names if name in expected]


@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_a_mapping_says_what_auto_finds(catalogue):
    expected = CATALOGUES[catalogue]
    mapping = {name: errors for name, errors in expected.items() if errors}
    assert pair_columns(columns_of(expected), mapping) == expected


SYMMETRIC = ["x_err", "x_Err", "x_ERR", "xerr", "xErr", "xERR", "x_error", "x_Error", "x_ERROR", "e_x", "err_x"]
SYMMETRIC += ["Err_x", "ERR_x", "sig_x", "x_sigma", "x_Sigma", "sigma_x", "SIGMA_x", "x_uncertainty", "x_UNCERTAINTY"]
NOT_KNOWN = ["x_std", "x_e", "xsig", "x_sig", "xe_", "E_x", "SIG_x", "xerror", "error_x", "x_eRR"]
NOT_KNOWN += [
    "x_over_error",
    "x_over_err",
    "x_OVER_ERROR",
    "sigma_",
    "_sigma",
    "xsigma",
    "x_unc",
    "exerr0",
    "x_err3",
    "xerrs",
    "X",
    "errx",
    "sigx",
    "ex",
]


@pytest.mark.parametrize("column", SYMMETRIC)
def test_symmetric_conventions(column):
    assert pair_columns(["y", column, "x"], "auto") == {"y": None, "x": one(column)}


@pytest.mark.parametrize("column", NOT_KNOWN)
def test_other_conventions_are_not_guessed(column):
    assert pair_columns(["x", column], "auto") == {"x": None, column: None}


@pytest.mark.parametrize(
    ("value", "column"),
    [
        ("mag_g", "mag_err_g"),
        ("mag_g", "magerr_g"),
        ("mag_g", "magErr_g"),
        ("MAG_G", "MAGERR_G"),
        ("MAG_G", "MAG_ERR_G"),
        ("a_b_c", "a_err_b_c"),
        ("a_b_c", "a_berr_c"),
        ("flux_1", "flux_err_1"),
    ],
)
def test_err_in_front_of_an_underscore(value, column):
    assert pair_columns([column, value], "auto") == {value: one(column)}


@pytest.mark.parametrize("limit", [None, "xlim", "x_lim", "xLim", "x_LIM"])
@pytest.mark.parametrize("stem", ["x_err", "xerr", "xErr", "x_ERR"])
def test_asymmetric_conventions(stem, limit):
    names = [f"{stem}1", *([limit] if limit else []), "x", f"{stem}2"]
    assert pair_columns(names, "auto") == {"x": Errors(lower=f"{stem}2", upper=f"{stem}1", limit=limit)}


WORDS = ["stderr", "STDERR", "StdErr", "stderr1", "flux_stderr", "stderr_g", "terror", "error_rate", "x_error_rate"]
WORDS += ["interred", "error", "err", "ERR", "_err", "err1", "e_", "e", "sig", "kerr", "kerr_spin", "errand", "merry"]
WORDS += ["y_sigma", "sigma_v", "y_uncertainty", "y_over_error", "w1sigmpro", "j_cmsig", "j_msigcom", "mag_err3"]
WORDS += ["lim", "slim", "xlim", "x_lim", "limit", "limbdark", "ferrous", "sierra", "overrun", "exerr", "", "_"]


@pytest.mark.parametrize("word", WORDS)
def test_ordinary_words_are_features(word):
    assert pair_columns(["flux", word], "auto") == {"flux": None, word: None}


@pytest.mark.parametrize(("value", "word"), [("std", "stderr"), ("flux_std", "flux_stderr"), ("STD_G", "STDERR_G")])
def test_a_standard_error_is_not_the_error_of_a_standard_deviation(value, word):
    assert pair_columns([value, word], "auto") == {value: None, word: None}


@pytest.mark.parametrize("limit", ["xlim", "x_lim"])
@pytest.mark.parametrize("errors", [[], ["y_err1", "y_err2", "y"], ["y", "e_y"]])
def test_a_limit_is_one_only_beside_an_error_of_its_value(errors, limit):
    pairs = pair_columns(["x", limit, *errors], "auto")
    assert limit in pairs
    assert pairs[limit] is None
    assert pair_columns(["x", limit, "e_x"], "auto") == {"x": Errors("e_x", limit=limit)}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["e", "e_err"], {"e": one("e_err")}),
        (["err", "e_err"], {"err": one("e_err")}),
        (["e", "e_err1", "e_err2", "e_lim"], {"e": Errors("e_err2", "e_err1", "e_lim")}),
        (["stderr", "e_stderr"], {"stderr": one("e_stderr")}),
        (["kerr", "kerr_err"], {"kerr": one("kerr_err")}),
        (["k", "kerr"], {"k": one("kerr")}),
        (["X", "x", "e_x", "X_err"], {"X": one("X_err"), "x": one("e_x")}),
        (["x_lim", "x_lim_err", "x"], {"x_lim": one("x_lim_err"), "x": None}),
        (["E_x", "e_E_x", "x", "e_x"], {"E_x": one("e_E_x"), "x": one("e_x")}),
        (["x_err2", "x", "xerr1"], {"x": Errors("x_err2", "xerr1")}),
        (["x", "x1", "x_err1", "x_err2"], {"x": Errors("x_err2", "x_err1"), "x1": None}),
        (["x1", "x2", "x_err1"], {"x1": one("x_err1"), "x2": None}),
        (["x1", "x_err1", "x_err2", "x1lim"], {"x1": Errors("x_err2", "x_err1", "x1lim")}),
        (["parallax_over", "parallax_over_error"], {"parallax_over": None, "parallax_over_error": None}),
        ([], {}),
    ],
)
def test_names_with_more_than_one_reading(names, expected):
    assert pair_columns(names, "auto") == expected


LACKING = "which the table does not have; drop the column, or say what it is with a mapping in error_columns"
ORPHANS = {"e_foo": "foo", "foo_err": "foo", "foo_error": "foo", "err_foo": "foo", "sig_foo": "foo"}
ORPHANS |= {"foo_err1": "foo", "fooerr2": "foo", "MAGERR_U": "MAG_U", "psfMagErr_g": "psfMag_g", "fooErr": "foo"}
ORPHANS |= {"mag_err_g_lsst": "mag_g_lsst", "e_Bar": "Bar", "BAR_err": "BAR"}


@pytest.mark.parametrize("column", ORPHANS)
def test_an_error_of_nothing_is_refused(column):
    message = f"column {column!r} looks like the error of {ORPHANS[column]!r}, {LACKING}"
    with pytest.raises(ValueError, match=re.escape(message)):
        pair_columns(["bar", column, "parallax"], "auto")


BAD_TABLES = {
    "two conventions": (["x", "x_err", "e_x"], "'x' has too many errors or limits, 'e_x', 'x_err'; drop those"),
    "three conventions": (["x", "x_err", "e_x", "xErr"], "too many errors or limits, 'e_x', 'xErr', 'x_err'"),
    "symmetric and two sides": (["x", "x_err", "x_err1", "x_err2"], "too many .* 'x_err', 'x_err1', 'x_err2'"),
    "symmetric and one side": (["x", "x_err", "x_err1"], "too many .* 'x_err', 'x_err1'"),
    "upper errors twice": (["x", "x_err1", "xerr1", "x_err2"], "too many .* 'xerr1', 'x_err1', 'x_err2'"),
    "two limits": (["x", "x_err1", "x_err2", "xlim", "x_lim"], "too many .* 'xlim', 'x_lim'"),
    "only err1": (["x", "x_err1"], "column 'x_err1' looks like the upper error of 'x', which has no lower error"),
    "only err2": (["x", "xerr2"], "column 'xerr2' looks like the lower error of 'x', which has no upper error"),
    "only err1, with a limit": (["x", "xlim", "xerr1"], "'xerr1' looks like the upper error of 'x'"),
    "error of an error": (
        ["x", "x_err", "e_x_err"],
        "'e_x_err' looks like the error of 'x_err', which is no value but an error or a limit, or of 'e_x', which the",
    ),
    "error of nothing, read in two ways": (
        ["x", "e_x_err"],
        "the error of 'x_err', which the table does not have, or of 'e_x', which the table does not have; drop",
    ),
    "error of a limit": (["x", "x_err1", "x_err2", "xlim", "xlim_err"], "'xlim_err' looks like .* 'xlim', which is no"),
    "errors of err and of e": (["e", "err", "e_err"], "column 'e_err' may belong to 'err' or to 'e'; drop"),
    "errors of two values": (["a_berr", "aerr_b", "aerr_berr"], "'aerr_berr' may belong to 'a_berr' or to 'aerr_b'"),
    "limit of e or error of lim": (["e", "e_err1", "e_err2", "lim", "e_lim"], "'e_lim' may belong to 'lim' or to 'e'"),
    "lower and upper of VizieR": (["x", "e_x", "E_x"], "'e_x' and 'E_x' may be the lower and the upper error of 'x'"),
    "both errors of 2MASS": (["j_m", "j_cmsig", "j_msigcom"], "'j_m' has too many errors .* 'j_cmsig', 'j_msigcom'"),
    "the second of no components": (["x2", "x_err1", "x_err2"], "'x_err1' looks like the error of 'x', which the"),
    "values in another case": (["gmag", "e_Gmag"], "'e_Gmag' looks like the error of 'Gmag', which the table does not"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_doubtful_tables_are_refused(name):
    names, message = BAD_TABLES[name]
    with pytest.raises(ValueError, match=f'^error_columns="auto": .*{message}.* with a mapping in error_columns[.]$'):
        pair_columns(names, "auto")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", BAD_TABLES)
def test_doubtful_tables_are_refused_in_any_order(name, seed):
    names, _ = BAD_TABLES[name]
    with pytest.raises(ValueError, match='error_columns="auto": '):
        pair_columns(["first", *shuffled(names, seed), "last"], "auto")


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_mapping_settles_doubtful_tables(name):
    names, _ = BAD_TABLES[name]
    assert pair_columns(names, {}) == dict.fromkeys(names)
    assert pair_columns(names, {names[0]: names[1]})[names[0]] == one(names[1])


NAMES = ["gmag", "e_gmag", "prad", "prad_err1", "prad_err2", "bmass", "bmasslim", "n_visits"]


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_mapping(kind):
    bmass = Errors(limit="bmasslim")
    mapping = kind({"prad": ("prad_err2", "prad_err1"), "bmass": bmass, "gmag": "e_gmag"})
    pairs = pair_columns(tuple(NAMES), mapping)
    prad = Errors(lower="prad_err2", upper="prad_err1")
    assert list(pairs.items()) == [("gmag", one("e_gmag")), ("prad", prad), ("bmass", bmass), ("n_visits", None)]


def test_a_mapping_is_all_there_is():
    assert pair_columns(["x", "x_err", "e_y"], {"x": "e_y"}) == {"x": one("e_y"), "x_err": None}


BAD_MAPPINGS: dict[str, tuple[Any, str]] = {
    "wrong word": ("automatic", "error_columns must be \"auto\", or a mapping such as .*; got 'automatic'"),
    "None": (None, "error_columns must be .*; got None"),
    "list": (["e_gmag"], "error_columns must be .*; got"),
    "True": (True, "error_columns must be .*; got True"),
    "key unknown": ({"mass": "e_gmag"}, "the key 'mass', which the table does not have. Did you mean 'bmass'"),
    "key in another case": ({"GMAG": "e_gmag"}, "the key 'GMAG', .* Did you mean 'gmag' or 'e_gmag'"),
    "key like nothing": ({"teff": "e_gmag"}, "the key 'teff', which the table does not have. Give the names"),
    "key a number": ({0: "e_gmag"}, "the key 0, which the table does not have"),
    "error unknown": (
        {"gmag": "gmag_e"},
        "for 'gmag' the column 'gmag_e', which the table does not have. Did you mean",
    ),
    "lower error unknown": ({"prad": ("prad_err3", "prad_err1")}, "for 'prad' the column 'prad_err3'.*'prad_err1' or"),
    "upper error unknown": ({"prad": ("prad_err2", "prad_err3")}, "for 'prad' the column 'prad_err3'"),
    "limit unknown": ({"bmass": Errors(limit="blim")}, "for 'bmass' the column 'blim', .* Did you mean 'bmasslim'"),
    "error of two values": ({"gmag": "e_gmag", "prad": "e_gmag"}, "'e_gmag' twice, for 'gmag' and for 'prad'"),
    "lower is upper": ({"prad": ("prad_err1", "prad_err1")}, "'prad_err1' twice, for 'prad' and for 'prad'"),
    "limit is an error": ({"gmag": Errors("e_gmag", limit="e_gmag")}, "'e_gmag' twice"),
    "error is a key": ({"gmag": "prad", "prad": "prad_err1"}, "gives 'prad' to 'gmag', but 'prad' is a key"),
    "error of itself": ({"gmag": "gmag"}, "gives 'gmag' to 'gmag', but 'gmag' is a key"),
    "limit is a key": ({"prad": Errors(limit="gmag"), "gmag": "e_gmag"}, "gives 'gmag' to 'prad', but 'gmag' is a key"),
    "tuple of one": ({"prad": ("prad_err1",)}, r"error_columns\['prad'\] must be .* \(lower, upper\)"),
    "tuple of three": ({"prad": ("prad_err1", "prad_err2", "bmasslim")}, r"error_columns\['prad'\] must be"),
    "tuple with a number": ({"prad": ("prad_err1", 2)}, r"error_columns\['prad'\] must be .*; got \('prad_err1', 2\)"),
    "tuple with None": ({"prad": ("prad_err1", None)}, r"error_columns\['prad'\] must be"),
    "a list as value": ({"prad": ["prad_err1", "prad_err2"]}, r"error_columns\['prad'\] must be .* a tuple"),
    "a number as value": ({"gmag": 0.1}, r"error_columns\['gmag'\] must be .*; got 0.1"),
    "None as value": ({"gmag": None}, r"error_columns\['gmag'\] must be .* leave a value without errors out"),
}


@pytest.mark.parametrize("name", BAD_MAPPINGS)
def test_bad_mapping(name):
    error_columns, message = BAD_MAPPINGS[name]
    with pytest.raises(ValueError, match=f"^error_columns.*{message.removeprefix('error_columns')}"):
        pair_columns(NAMES, error_columns)


@pytest.mark.parametrize("error_columns", ["auto", {"x": "x_err"}], ids=["auto", "mapping"])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x", "x_err", "y", "x"], "error_columns .* columns 0 and 3 of the table are both named 'x'"),
        (["x", "x_err", 2], "error_columns .* column 2 of the table has the name 2, which is not a string"),
        (["x", "x_err", None], "column 2 of the table has the name None"),
        (["x", ("x", "err"), "x_err"], "column 1 of the table has the name"),
    ],
)
def test_bad_names(names, message, error_columns):
    with pytest.raises(ValueError, match=message):
        pair_columns(names, error_columns)


def test_the_input_is_only_read():
    names, mapping = list(NAMES), {"gmag": "e_gmag"}
    pair_columns(names, mapping)["new"] = None
    assert names == NAMES
    assert mapping == {"gmag": "e_gmag"}


@pytest.mark.parametrize(
    ("errors", "columns"),
    [
        (Errors("a"), ("a",)),
        (Errors("a", "b"), ("a", "b")),
        (Errors("a", "b", "c"), ("a", "b", "c")),
        (Errors("a", limit="c"), ("a", "c")),
        (Errors(limit="c"), ("c",)),
    ],
)
def test_columns_of_errors(errors, columns):
    assert errors.columns == columns


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"Errors\(\) has no column; give lower"),
        ({"upper": "b"}, "upper='b'.* has an upper error but no lower one"),
        ({"upper": "b", "limit": "c"}, "has an upper error but no lower one"),
        ({"lower": 1}, "lower=1.* must have names of columns"),
        ({"lower": "a", "upper": 0.5}, "upper=0.5.* must have names of columns"),
        ({"limit": True}, "limit=True.* must have names of columns"),
    ],
)
def test_bad_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        Errors(**arguments)


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ({"x": Errors("x_err2", "x_err1")}, "x: -x_err2 +x_err1"),
        ({"x": Errors("x_err2", "x_err1", "xlim")}, "x: -x_err2 +x_err1 limit xlim"),
        ({"x": one("e_x")}, "x: ±e_x"),
        ({"x": Errors("e_x", limit="l_x")}, "x: ±e_x limit l_x"),
        ({"x": Errors(limit="xlim")}, "x: limit xlim"),
        ({"a": None, "x": one("e_x"), "b": None, "y": one("e_y")}, "x: ±e_x\ny: ±e_y\nwithout errors: a, b"),
        ({"a": None}, "without errors: a"),
        ({}, ""),
    ],
)
def test_description(pairs, text):
    assert describe_pairs(pairs) == text


class Counted(str):
    """A name that counts how often it is compared with others."""

    n_looks = 0

    def __eq__(self, other):
        Counted.n_looks += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Counted.n_looks += 1
        return str.__hash__(self)


@pytest.mark.parametrize("told", [True, False])
def test_the_work_grows_with_the_number_of_columns_and_not_with_its_square(told):
    def looks(n_values):
        names = [Counted(f"{front}x{i}") for front in ("", "e_") for i in range(n_values)]
        errors = dict(zip(names[:n_values], names[n_values:], strict=True)) if told else "auto"
        Counted.n_looks = 0
        assert len(pair_columns(names, errors)) == n_values
        return Counted.n_looks

    assert looks(400) < 3 * looks(200)
