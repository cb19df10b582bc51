"""
Digits as unions of strokes
===========================

Every image of a handwritten digit is a row of 64 zeros and ones, a column for each pixel. Twenty
components, each a set of pixels, are found such that the union of some of them is as close to every
image as possible.
"""

import matplotlib.pyplot as plt
import numpy as np

from elbmf import ELBMF
from elbmf.datasets import load_digits
from elbmf.report import write_report

A, pixels, digits = load_digits()
model = ELBMF(n_components=20, random_state=0)
U = model.fit_transform(A)
print(f"{A.shape[0]} images, one minus relative loss {model.score(A):.2f}")

# %%
# The first of each digit, and the union of its components below it.

first = [int(np.flatnonzero(digits == digit)[0]) for digit in range(10)]
product = model.inverse_transform(U).toarray()
figure, axes = plt.subplots(2, 10, figsize=(9, 2.1))
for column, image in enumerate(first):
    for row, source in enumerate((A.toarray(), product)):
        axes[row, column].imshow(source[image].reshape(8, 8), cmap="Blues", vmax=1.2)
        axes[row, column].set_axis_off()
figure.tight_layout()

# %%
# The components themselves, the one that saves most bits first. None of them is a digit: they are
# strokes, and most digits share them.

figure, axes = plt.subplots(2, 10, figsize=(9, 2.3))
for component, ax in enumerate(axes.ravel()):
    ax.imshow(model.components_[component].reshape(8, 8), cmap="Oranges", vmax=1.4)
    ax.set_title(f"{U[:, component].sum()} images", fontsize=7)
    ax.set_axis_off()
figure.tight_layout()

# %%
# Which digits have which component: how the strokes are shared.

share = np.array([U[digits == digit].mean(axis=0) for digit in range(10)])
figure, ax = plt.subplots(figsize=(7.5, 3.6))
image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
ax.set_xlabel("component")
ax.set_ylabel("digit")
ax.set_xticks(range(20))
ax.set_yticks(range(10))
figure.colorbar(image, label="share of the images")
figure.tight_layout()

# %%
# And all of it to look at, in a browser.

write_report("digits.html", model, A, labels=digits, title="Images of digits")
