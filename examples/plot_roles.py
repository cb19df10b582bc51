"""
Roles from access logs
======================

Who may do what is usually granted person by person, and after some years nobody knows why. The log
of what people did is a table of people × permissions; its components are roles: groups of people
who use the same permissions. Here the log is made up: seven jobs, some managers, some who help out,
and some permissions that were granted once and belong to no job.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from elbmf import ELBMF, plots
from elbmf.io import LabelledMatrix
from elbmf.report import write_report

JOBS = {
    "development": "git-read git-write ci staging issue-tracker package-registry code-review",
    "operations": "git-read ci staging production monitoring pager backups secrets",
    "data": "warehouse notebooks dashboards git-read feature-store",
    "finance": "ledger invoices tax-portal bank-export budget",
    "personnel": "payroll people-files contracts applicants",
    "sales": "crm quotes price-list customer-files dashboards",
    "support": "tickets customer-files phone knowledge-base",
}
MANAGERS = "approvals budget people-reviews dashboards"
ODDS = 0.28, 0.1, 0.12, 0.1, 0.06, 0.2, 0.14


def access_log(people=300, seed=0):
    """Yield lines of a log: when, who, what."""
    generator = np.random.default_rng(seed)
    permissions = sorted({each for job in (*JOBS.values(), MANAGERS) for each in job.split()})
    events = []
    for person in range(people):
        jobs = [generator.choice(list(JOBS), p=ODDS)]
        if generator.random() < 0.08:
            jobs.append(generator.choice(list(JOBS)))
        used = {each for job in jobs for each in JOBS[job].split()}
        if generator.random() < 0.12:
            used |= set(MANAGERS.split())
        if generator.random() < 0.2:
            used.add(generator.choice(permissions))
        for permission in sorted(used):
            minutes = generator.integers(0, 90 * 1440, 1 + generator.poisson(3))
            events += [(int(minute), f"u{person:03}", permission) for minute in minutes]
    for minute, user, permission in sorted(events):
        day, left = divmod(minute, 1440)
        yield f"day {day:02} {left // 60:02}:{left % 60:02} {user} {permission}"


log = list(access_log())
print(len(log), "lines, the first:", log[0])

# %%
# A matrix from the log: a one where a person used a permission at all.

pairs = [line.split()[-2:] for line in log]
people, rows = np.unique([person for person, _ in pairs], return_inverse=True)
permissions, columns = np.unique([permission for _, permission in pairs], return_inverse=True)
A = sparse.csr_array((np.ones(len(pairs)), (rows, columns))) > 0

# %%
# ``extra_weight=float("inf")`` forbids covering a zero: no role may give anyone a permission that
# they never used. What no role covers stays a grant to one person. How many roles there are is
# chosen by description length.

model = ELBMF("auto", extra_weight=float("inf"), effort=0.3, random_state=0).fit(A)
print(f"{model.n_components_} roles cover {model.score(A):.1%} of {A.nnz} grants")
for role, members in enumerate(model.membership_.T):
    names = ", ".join(permissions[model.components_[role]])
    print(f"role {role}, {members.sum():3} people: {names}")

# %%
# The table in the order of its roles. Blue cells are grants that no role explains; none is orange,
# for nobody gets more than they have.

figure, axes = plt.subplots(1, 3, figsize=(10, 4.5), layout="constrained")
plots.factorization(model, A, axes=axes)

# %%
# Each role by its permissions.

figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
plots.component_lists(
    model, A, column_names=permissions, components=range(8), most=8, axes=axes.ravel()
)

# %%
# The exceptions are worth a look by a person: who has what nobody else in their roles has?

left = sparse.coo_array(A.toarray() & ~model.inverse_transform(model.membership_).toarray())
for person, permission in list(zip(people[left.row], permissions[left.col], strict=True))[:8]:
    print(person, "has", permission, "beyond any role")

# %%
# All of it on a page to open in a browser and to send to those who decide.

data = LabelledMatrix(A, people.tolist(), permissions.tolist())
write_report("roles.html", model, data, vocabulary="roles")
