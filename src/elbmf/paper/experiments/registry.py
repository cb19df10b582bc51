"""The experiments: a new one is a file next to this one, and one line here."""

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, str] = {
    "regularizers": "elbmf.paper.experiments.regularizers",
    "convergence": "elbmf.paper.experiments.convergence",
    "noise": "elbmf.paper.experiments.noise",
    "density": "elbmf.paper.experiments.density",
    "model-selection": "elbmf.paper.experiments.model_selection",
    "real-data": "elbmf.paper.experiments.real_data",
    "case-study": "elbmf.paper.experiments.case_study",
    "data-sets": "elbmf.paper.experiments.data_sets",
    "overlap": "elbmf.paper.experiments.overlap",
    "low-noise": "elbmf.paper.experiments.low_noise",
}
"""Modules by what the user types, in the order of the paper. Each has an ``EXPERIMENT``."""
