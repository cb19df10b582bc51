"""Delimited text: lines, fields and cells, and how a table is laid out.

`lines` decodes text, tells records and what a cell says; `layout` finds delimiter, header and row
names from the first lines; `numerals` tells decimal marks from marks between thousands; `fields`
reads millions of lines by the kernels, and says where one is bad; `naming` numbers names.
"""
