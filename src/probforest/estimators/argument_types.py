"""The types of parameters and arguments, for type checkers."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import ArrayLike

from ..families import Family
from ..inputs.columns import Errors

MissingRule: TypeAlias = Literal["auto", "observed", "equal", "learned"]
UnknownErrorRule: TypeAlias = Literal["median", "exact", "raise"]
PriorKind: TypeAlias = Literal["auto", "empirical", "normal", "joint"]
PredictionKind: TypeAlias = Literal["mean", "median", "mode"]
NumberLossName: TypeAlias = Literal["auto", "squared_error", "absolute_error", "gamma", "huber", "poisson", "quantile"]
VotingRule: TypeAlias = Literal["soft", "majority"]
MaxFeatures: TypeAlias = int | float | Literal["auto", "sqrt", "log2"] | None
ErrorColumns: TypeAlias = Literal["auto"] | Mapping[str, str | tuple[str, str] | Errors]


class FrozenDistribution(Protocol):
    """A frozen distribution of SciPy."""

    def cdf(self, x: Any, /) -> Any: ...
    def ppf(self, q: Any, /) -> Any: ...
    def mean(self) -> Any: ...
    def std(self) -> Any: ...


OneDistribution: TypeAlias = str | tuple[Literal["student_t"], float] | Family | FrozenDistribution
Distribution: TypeAlias = OneDistribution | list[Any] | Mapping[Any, Any]
Uncertainty: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | None  # X_err: a tuple is (lower, upper)
TargetErrors: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | None  # y_err: a tuple is (lower, upper)
ErrorScale: TypeAlias = float | Literal["auto"]
SlopeRule: TypeAlias = bool | Literal["auto"]
