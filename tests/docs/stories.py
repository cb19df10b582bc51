"""The made-up data that the guides tell of: cells and genes, users and films, people and rights."""

import random
from pathlib import Path

import numpy as np

_KINDS = {
    "T": "CD3D CD3E TRAC IL7R CD2",
    "B": "CD79A CD79B MS4A1 CD19 BANK1",
    "monocyte": "LYZ CD14 S100A8 S100A9 VCAN",
}
_SETS = {
    "T_CELL_RECEPTOR": "CD3D CD3E TRAC CD2",
    "B_CELL_RECEPTOR": "CD79A CD79B CD19 BANK1",
    "ANTIMICROBIAL": "LYZ S100A8 S100A9",
    "UNRELATED": "gene1 gene2 CD14 IL7R",
}
_SHELVES = {
    "space": "Alien Solaris Gravity Moon Arrival Contact",
    "heist": "Heat Rififi Ronin Drive Thief Topkapi",
    "musical": "Cabaret Chicago Evita Hair Annie Fame",
}


def cells(stack):
    """Write counts of 30 genes in 90 cells of three kinds, their kinds, and sets of genes."""
    import anndata
    import pandas

    genes = [gene for kind in _KINDS.values() for gene in kind.split()]
    genes += [f"gene{number}" for number in range(1, 16)]
    kinds = [kind for kind in _KINDS for _ in range(30)]
    mean = np.full((90, len(genes)), 0.05)
    for row, kind in enumerate(kinds):
        mean[row, [genes.index(gene) for gene in _KINDS[kind].split()]] = 2.5
    counts = np.random.default_rng(0).poisson(mean).astype(np.float32)
    names = [f"cell{number}" for number in range(1, 91)]
    data = anndata.AnnData(
        counts,
        obs=pandas.DataFrame({"kind": kinds}, index=names),
        var=pandas.DataFrame(index=genes),
    )
    data.write_h5ad("counts.h5ad")
    data.obs.to_csv("cells.tsv", sep="\t", index_label="id")
    lines = ["\t".join([name, "", *members.split()]) for name, members in _SETS.items()]
    Path("pathways.gmt").write_text("\n".join(lines) + "\n")


def ratings(stack):
    """Write stars that 90 users gave to 18 films of three kinds."""
    draw = random.Random(0)
    kinds = list(_SHELVES)
    lines = ["user,film,stars"]
    for user in range(1, 91):
        tastes = {kinds[user % 3]} | ({kinds[(user + 1) % 3]} if user % 5 == 0 else set())
        for kind, films in _SHELVES.items():
            for film in films.split():
                likely = (0.85, 0.93) if kind in tastes else (0.2, 0.1)
                if draw.random() < likely[0]:
                    stars = draw.choice([4, 5] if draw.random() < likely[1] else [1, 2, 3])
                    lines.append(f"user{user},{film},{stars}")
    Path("ratings.csv").write_text("\n".join(lines) + "\n")


def permissions(stack):
    """Write what is known beside the table that the page itself makes."""
    Path("importance.csv").write_text("permission,weight\nbackup,5\nusers,5\n")
    engineer = "ci,git-read,git-write,mail,printer,wiki"
    Path("existing.csv").write_text(f"role,{engineer}\nengineer{',1' * 6}\n")
    Path("apart.csv").write_text("ledger,payroll-read\n")
