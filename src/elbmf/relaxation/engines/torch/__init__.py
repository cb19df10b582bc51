"""Slabs on a device of torch: a graphics card, or the processor."""

from elbmf.relaxation.engines.torch.engine import TorchEngine

__all__ = ["TorchEngine"]
