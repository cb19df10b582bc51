"""The dense algorithm with the authors' steps, in torch: what the engine is compared with."""

import numpy as np
import torch
from scipy import sparse


class DenseAuthors:
    """One epoch at a time on dense float32 tensors."""

    def __init__(self, A: sparse.csr_array, k: int, threads: int) -> None:
        torch.set_num_threads(threads)
        generator = torch.Generator().manual_seed(0)
        self.A = torch.from_numpy(A.astype(np.float32).toarray())
        self.U = torch.rand(A.shape[0], k, generator=generator)
        self.V = torch.rand(k, A.shape[1], generator=generator)
        self.t = 0

    def _prox(self, X: torch.Tensor, kappa: float, lam: float) -> torch.Tensor:
        low = X - kappa * torch.sign(X)
        high = X - kappa * torch.sign(X - 1) + lam
        return torch.where(X <= 0.5, low, high).div_(1 + lam).clamp_(min=0)

    @torch.no_grad()
    def epoch(self, kappa: float = 0.01, lam: float = 0.02, rate: float = 1.02) -> None:
        """U, then V, each with a Frobenius step of 1/(1.1 L)."""
        self.t += 1
        lam_t = lam * rate**self.t
        gram = self.V @ self.V.T
        L = max(float(torch.linalg.norm(gram)), 1e-4)
        step = 1 / (1.1 * L)
        gradient = self.U @ gram - self.A @ self.V.T
        self.U = self._prox(self.U - step * gradient, kappa / L, lam_t / L)
        gram = self.U.T @ self.U
        L = max(float(torch.linalg.norm(gram)), 1e-4)
        step = 1 / (1.1 * L)
        gradient = gram @ self.V - self.U.T @ self.A
        self.V = self._prox(self.V - step * gradient, kappa / L, lam_t / L)
