"""Ways in which files get damaged, for the tests of loaders."""

import gzip
import zipfile

import pytest

from elbmf.errors import FileFormatError


def refused(load, path, *parts, **options):
    """Assert that loading a file is refused with a message that names it and has all parts."""
    with pytest.raises(FileFormatError) as caught:
        load(path, **options)
    message = str(caught.value)
    for part in parts:
        assert part in message
    return message


def write(path, text):
    """Write text or bytes; as the suffix says, gzipped or zipped."""
    data = text.encode() if isinstance(text, str) else text
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.stem, data)
        return path
    path.write_bytes(data)
    return path


def cut(path, kept=0.6):
    """Cut a file off."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    return path


def dense(prepared):
    return prepared.matrix.values.toarray()
