"""What values a parameter may have, in scikit-learn's words.

They are private there, although estimators of other packages need them, too. Here is the one place
that knows where they are.
"""

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    make_constraint,
)

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "make_constraint",
]
