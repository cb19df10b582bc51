"""The figures and tables of the paper, one file each, listed in `EXPERIMENTS`.

``elbmf reproduce NAME`` measures, keeps what was measured as parquet files, and draws from these.
"""

from elbmf.paper.experiments.experiment import Claim, Experiment, Settings

__all__ = ["Claim", "Experiment", "Settings"]
