"""
People by their variants
========================

People of the 1000 Genomes project and the sites at which they carry a variant. Components are
groups of people who share variants; nobody told them where anyone is from.
"""

# Needs the data set genomes1k_peddy.

# sphinx_gallery_thumbnail_path = "screens/genomes.png"

# %%
# ``genomes1k_peddy`` has 2,504 people and 23,770 sites; ``elbmf data show genomes`` tells of larger
# ones. What comes out in the end:
#
# .. image:: /screens/genomes.png
#    :alt: The report of the genomes, with the table of components and superpopulations

import matplotlib.pyplot as plt

from elbmf import ELBMF, plots
from elbmf.analysis.labels import component_labels
from elbmf.paper.catalog import find, open_prepared
from elbmf.report import write_report

data = open_prepared(find("genomes1k_peddy"))
A, origin = data.matrix.values, data.row_labels["superpop"]
print(f"{A.shape[0]} people, {A.shape[1]} sites, {A.nnz} variants")

# %%
# Eight components are enough to see where people are from.

model = ELBMF(8, random_state=0).fit(A)
print(f"{model.score(A):.1%} explained")
plots.row_map(model, labels=origin, ax=plt.subplots(figsize=(8, 6), layout="constrained")[1])

# %%
# What components tell about it, as normalized mutual information.

found = component_labels(model.membership_, origin)
for label, nmi in zip(found.classes, found.best_nmi(), strict=True):
    print(f"{label}: {nmi:.2f}")
plots.label_nmi(found, ax=plt.subplots(figsize=(7, 3.5), layout="constrained")[1])

# %%
# And all of it to look at.

write_report("genomes.html", model, data.matrix, labels=origin, title="Genomes")
