"""The made-up data that the guides tell of: users and films, people and rights."""

import random
from pathlib import Path

_SHELVES = {
    "space": "Alien Solaris Gravity Moon Arrival Contact",
    "heist": "Heat Rififi Ronin Drive Thief Topkapi",
    "musical": "Cabaret Chicago Evita Hair Annie Fame",
}


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
