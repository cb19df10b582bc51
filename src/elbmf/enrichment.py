"""Which known sets of columns, such as pathways of genes, a component is rich in."""

__all__: list[str] = []
