"""The relaxation (Sec. 2): real factors, pulled towards Boolean ones epoch by epoch.

``regularizers`` (Eq. regularizer, Eq. elprox) and ``schedules`` (λ_t) say how strongly entries are
pulled, ``half_step`` updates one factor, ``palm`` runs the epochs (Alg. 2), ``slabs`` and
``engines`` say where the data lies meanwhile, ``stopping`` and ``trace`` look on, and ``rounding``
makes Boolean factors of the last epoch.
"""
