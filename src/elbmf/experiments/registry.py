"""The experiments: a new one is a file next to this one, and one line here."""

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, str] = {
    "regularizers": "elbmf.experiments.regularizers",
    "convergence": "elbmf.experiments.convergence",
    "noise": "elbmf.experiments.noise",
    "density": "elbmf.experiments.density",
    "model-selection": "elbmf.experiments.model_selection",
    "real-data": "elbmf.experiments.real_data",
    "case-study": "elbmf.experiments.case_study",
    "data-sets": "elbmf.experiments.data_sets",
    "overlap": "elbmf.experiments.overlap",
    "low-noise": "elbmf.experiments.low_noise",
}
"""Modules by what the user types, in the order of the paper. Each has an ``EXPERIMENT``."""
