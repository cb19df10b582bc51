"""The search for better Boolean factors, after the relaxation.

``local`` improves every row and column by coordinate descent (refinement), ``moves`` re-seeds,
splits and recombines components, ``portfolio`` pools the runs of a fit and searches on from there,
``on_cluster`` refines where the data lies on the workers of a cluster, ``online`` learns from rows
that pass by once.
"""
