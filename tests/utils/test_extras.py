"""What is said where an optional package is not installed."""

from importlib import metadata

import pytest

from elbmf.errors import MissingExtraError
from elbmf.utils.extras import optional_module

REQUIRED = [
    "numpy>=1.26",
    "matplotlib>=3.8; extra == 'plots'",
    'pyarrow>=15; python_version >= "3.11" and extra == "parquet"',
    "elbmf[parquet,plots]; extra == 'reproduce'",
    "dask[array,dataframe]>=2024.8; extra == 'dask'",
    "distributed>=2024.8; extra == 'dask'",
]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("plots", "pip install 'matplotlib>=3.8' (that is elbmf[plots])"),
        ("reproduce", "pip install 'pyarrow>=15' 'matplotlib>=3.8' (that is elbmf[reproduce])"),
        ("dask", "pip install 'dask[array,dataframe]>=2024.8' 'distributed>=2024.8' (that is"),
        ("unheard", "pip install nowhere (that is elbmf[unheard])"),
    ],
)
def test_the_packages_are_named_that_can_be_had_from_anywhere(extra, said, monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED)
    with pytest.raises(MissingExtraError) as raised:
        optional_module("nowhere.at_all", extra=extra, purpose="Nothing")
    message = str(raised.value)
    assert message.startswith("Nothing needs the package 'nowhere', which is not installed. ")
    assert said in message


def test_where_nothing_is_installed_the_package_is_named(monkeypatch):
    def refuse(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", refuse)
    assert "pip install matplotlib (that is" in str(MissingExtraError("matplotlib", "plots", "It"))


def test_each_extra_of_the_package_itself_is_known():
    for extra in metadata.metadata("elbmf").get_all("Provides-Extra"):
        message = str(MissingExtraError("nowhere", extra, "It"))
        assert "nowhere (that" not in message
        assert "elbmf[" not in message.partition("(that is")[0]
