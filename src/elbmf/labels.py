"""How components and known labels go together."""

__all__: list[str] = []
