"""The library's messages name Python parameters; on the command line they are flags."""

import re

__all__ = ["flag", "in_flags"]

# Parameters that messages of the library suggest to set, and that are flags of the same name.
_NAMED = (
    "binarize",
    "criterion",
    "cut_at",
    "delimiter",
    "device",
    "dtype",
    "encoding",
    "format",
    "header",
    "holdout",
    "ignore_case",
    "key",
    "layer",
    "layout",
    "max_size",
    "min_size",
    "overwrite",
    "row_names",
    "time_limit",
)
_ASSIGNMENT = re.compile(rf"\b({'|'.join(_NAMED)})=('[^']*'|\"[^\"]*\"|-?\w+(?:\.\w+)*)")


def flag(parameter: str) -> str:
    """Return the flag of a parameter."""
    return "--" + parameter.strip("_").replace("_", "-")


def in_flags(message: str) -> str:
    """Rewrite ``name=value`` in a message as the user would type it."""

    def rewrite(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'\"")
        if value == "True":
            return flag(name)
        if value == "False":
            return flag("no_" + name)
        return f"{flag(name)} {value}"

    return _ASSIGNMENT.sub(rewrite, message)
