"""
Topics of newsgroups
====================

Posts and the words in them: sparse, noisy, and labelled with the group that each post was sent to.
Components are groups of posts that share words: a topic, a signature, a long quotation.
"""

# Needs the data set newsgroups20.

# sphinx_gallery_thumbnail_path = "screens/newsgroups.png"

# %%
# ``newsgroups20`` is a matrix of 18,647 posts × 5,000 words, made from what
# ``sklearn.datasets.fetch_20newsgroups`` downloads by ``CountVectorizer(binary=True,
# stop_words="english", max_features=5000)`` and kept by ``elbmf.paper.catalog.save_prepared``, with
# the group as a label of the rows. What comes out in the end:
#
# .. image:: /screens/newsgroups.png
#    :alt: The report of newsgroups, one component open: words of cryptography

import matplotlib.pyplot as plt

from elbmf import ELBMF, plots
from elbmf.analysis.labels import component_labels
from elbmf.boolean.metrics import recall
from elbmf.paper.catalog import find, open_prepared
from elbmf.report import write_report

data = open_prepared(find("newsgroups20"))
A, groups = data.matrix.values, data.row_labels["group"]

# %%
# A one that is missed costs three times as much as a zero that is covered (``extra_weight=1 / 3``).
# With equal costs, on data as sparse as this, only groups in which most posts have most words pay,
# and these are quotations.

model = ELBMF(20, extra_weight=1 / 3, random_state=0).fit(A)
covered = recall(A, model.membership_, model.components_)
print(f"20 components cover {covered:.0%} of the words in posts")

# %%
# The words of the components that save most, those first that most of its posts have.

figure, axes = plt.subplots(3, 4, figsize=(11, 7), layout="constrained")
plots.component_lists(
    model, A, components=range(12), column_names=data.matrix.column_names, axes=axes.ravel()
)

# %%
# Which component tells most about which group, by having more of it than others do? -1 is none.

found = component_labels(model.membership_, groups)
for label, component, nmi in zip(
    found.classes, found.best_components(), found.best_nmi(), strict=True
):
    print(f"{label:26} component {component:2}  nmi {nmi:.2f}")
plots.label_nmi(found, ax=plt.subplots(figsize=(9, 6), layout="constrained")[1])

# %%
# And all of it to look at.

write_report("newsgroups.html", model, data.matrix, labels=groups, title="Newsgroups")
