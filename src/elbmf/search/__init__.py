"""The search for better Boolean factors, after the relaxation.

``starts`` are quick ways to components. ``local`` improves every row and column by coordinate
descent (refinement). ``climber`` exchanges, splits and seeds components. ``short_relaxation`` gives
a ``population`` members that are far apart; it crosses them. ``exact`` proves that there is nothing
better, where there are few components. ``margins`` says how firmly rows and columns belong to what
was found. ``portfolio`` leads from the starts and the runs of a fit through all of this.
``on_cluster`` refines where the data lies on the workers of a cluster, ``online`` learns from rows
that pass by once.
"""
