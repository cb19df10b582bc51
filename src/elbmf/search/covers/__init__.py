"""Covers: the fewest components that cover every one and no zero.

Such a component is a *biclique*: rows and columns whose cells are all ones. Two ones fit in one
biclique if the cells in which the row of either meets the column of the other are ones, and ones
that fit in pairs fit all together: the fewest bicliques are a colouring of the ones.

The way of a cover: `reduction` leaves only ones that are hard to cover, and parts that have
nothing to do with each other; `search` covers each part by ever fewer bicliques; `fooling` and
`choice` prove that fewer are not enough; `growing` makes covers from what is proved.
"""
