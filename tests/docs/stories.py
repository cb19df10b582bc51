"""The made-up data that the guides tell of: users and films, people and rights."""

import random
from pathlib import Path

_SHELVES = {
    "space": "Alien Solaris Gravity Moon Arrival Contact",
    "heist": "Heat Rififi Ronin Drive Thief Topkapi",
    "musical": "Cabaret Chicago Evita Hair Annie Fame",
}
_ROLES = {
    "staff": "mail wiki printer",
    "engineer": "git-read git-write ci",
    "finance": "ledger invoices payroll-read",
    "admin": "git-read users backup ci",
}
_PEOPLE = {
    "engineer": (12, "staff engineer"),
    "accountant": (6, "staff finance"),
    "admin": (3, "staff engineer admin"),
    "assistant": (5, "staff"),
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
    """Write who may do what in a company of 26, with exceptions."""
    given = {}
    for title, (count, roles) in _PEOPLE.items():
        for number in range(1, count + 1):
            rights = {right for role in roles.split() for right in _ROLES[role].split()}
            given[f"{title}{number}"] = rights
    given["engineer3"] |= {"ledger"}
    given["engineer7"] -= {"ci"}
    given["engineer9"] -= {"git-write"}
    given["accountant4"] -= {"wiki"}
    given["assistant2"] |= {"payroll-read"}
    rights = sorted({right for role in _ROLES.values() for right in role.split()})
    lines = [",".join(["person", *rights])]
    for person, own in given.items():
        lines.append(",".join([person, *(str(int(right in own)) for right in rights)]))
    Path("permissions.csv").write_text("\n".join(lines) + "\n")
    Path("importance.csv").write_text("permission,weight\nbackup,5\nusers,5\n")
    engineer = "ci,git-read,git-write,mail,printer,wiki"
    Path("existing.csv").write_text(f"role,{engineer}\nengineer{',1' * 6}\n")
    Path("apart.csv").write_text("ledger,payroll-read\n")
