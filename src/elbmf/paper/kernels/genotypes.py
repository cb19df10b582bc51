"""Genotypes as VCF files write them."""

from elbmf.kernels.compiling import kernel

__all__ = ["MISSING", "read_genotypes"]

MISSING = 2
"""What stands for a person of whom it is not known whether they carry the variant."""


@kernel()
def read_genotypes(text, alternatives, codes):
    """Read the genotypes of one variant, one for each person.

    ``text`` is what follows the FORMAT field of a line: fields parted by tabs, of which only the
    first part, up to a colon, counts: alleles, parted by ``/`` or ``|``. Into ``codes`` goes 1 for
    who carries one of the ``alternatives``, 0 for who does not, and `MISSING` where that is not
    known because an allele is not.

    Returns
    -------
    fields : int
        How many there are; those beyond the length of ``codes`` are not looked at.
    alternate, known : int
        How many alleles are alternative ones, and how many are known.
    bad : int
        The first field that is no genotype, or −1.
    """
    size = text.shape[0]
    fields = 0
    alternate = 0
    known = 0
    at = 0
    while True:
        carries = False
        unknown = False
        good = True
        while True:
            # One allele.
            start = at
            if at < size and text[at] == 46:
                unknown = True
                at += 1
            else:
                allele = 0
                while at < size and 48 <= text[at] <= 57 and allele <= alternatives:
                    allele = allele * 10 + (text[at] - 48)
                    at += 1
                if at == start or allele > alternatives:
                    good = False
                    break
                known += 1
                if allele:
                    alternate += 1
                    carries = True
            if at < size and (text[at] == 124 or text[at] == 47):
                at += 1
            else:
                break
        if at < size and text[at] != 9 and text[at] != 58:
            good = False
        while at < size and text[at] != 9:
            at += 1
        if fields < codes.shape[0]:
            if not good:
                return fields + 1, alternate, known, fields
            codes[fields] = 1 if carries else 2 if unknown else 0
        fields += 1
        if at >= size:
            return fields, alternate, known, -1
        at += 1
