"""The machine and the versions that a measurement was made with."""

import os
import platform
from pathlib import Path

import numpy as np
import scipy

from elbmf._version import __version__

__all__ = ["machine", "versions"]


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    return {"elbmf": __version__, "python": platform.python_version(), "numpy": np.__version__}


def machine() -> str:
    """Return one line on processor, cores and versions."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return (
        f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, elbmf {__version__}"
    )
