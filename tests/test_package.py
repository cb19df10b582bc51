"""The package as a whole: its public names."""

import pytest

import elbmf


def test_the_public_names_are_there():
    for name in elbmf.__all__:
        assert getattr(elbmf, name) is not None
        assert name in dir(elbmf)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = elbmf.nothing
