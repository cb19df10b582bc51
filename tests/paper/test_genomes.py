"""Genotypes in VCF files and in files of plink."""

import numpy as np
import pytest
from damage import cut, dense, refused, write
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import InputError
from elbmf.io.files import watching
from elbmf.paper.kernels.genotypes import MISSING, read_genotypes
from elbmf.paper.sources import genomes

FIXED = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
TEXT = "\n".join(
    [
        "##fileformat=VCFv4.1",
        '##INFO=<ID=AC,Number=A,Type=Integer,Description="Total">',
        "\t".join([*FIXED, "HG1", "HG2", "HG3", "HG4"]),
        "22\t10\trs1\tA\tG\t100\tPASS\tAC=1\tGT\t0|0\t0|1\t1|0\t1|1",
        "22\t20\t.\tA\tG,T\t100\tPASS\tAC=1\tGT:DP\t0/0:3\t0/2:4\t./.:0\t.",
        "X\t30\trs3\tAT\tA\t100\tPASS\tAC=1\tGT\t0\t1\t./1\t0|.",
        "22\t40\trs1\tC\t.\t100\tPASS\tAC=1\tGT\t0|0\t0|0\t0|0\t0|0",
    ]
)
CELLS = np.array([[0, 0, 0, 0], [1, 1, 1, 0], [1, np.nan, 1, 0], [1, np.nan, np.nan, 0]])
PANEL = (
    "sample\tpop\tsuper_pop\tgender\t\t\n"
    "HG2\tGBR\tEUR\tmale\nHG1\tGBR\tEUR\tfemale\nHG4\tYRI\tAFR\tmale\nHG9\tCHB\tEAS\tmale\n"
)

genotypes = st.lists(st.sampled_from(["0", "1", "2", ".", "12"]), min_size=1, max_size=3).flatmap(
    lambda alleles: st.sampled_from("|/").map(lambda mark: mark.join(alleles))
)


def slow_code(genotype):
    alleles = genotype.partition(":")[0].replace("/", "|").split("|")
    if any(allele not in ("0", ".") for allele in alleles):
        return 1
    return MISSING if "." in alleles else 0


@given(st.lists(st.tuples(genotypes, st.sampled_from(["", ":", ":3,4:0.5"])), min_size=1))
def test_kernel_reads_each_genotype(pairs):
    texts = [genotype + rest for genotype, rest in pairs]
    codes = np.full(len(texts), 9, dtype=np.uint8)
    line = np.frombuffer("\t".join(texts).encode(), dtype=np.uint8)
    fields, alternate, known, bad = read_genotypes(line, 12, codes)
    alleles = [a for genotype, _ in pairs for a in genotype.replace("/", "|").split("|")]
    assert (fields, bad) == (len(texts), -1)
    assert known == sum(allele != "." for allele in alleles)
    assert alternate == sum(allele not in (".", "0") for allele in alleles)
    assert codes.tolist() == [slow_code(text) for text in texts]


@pytest.mark.parametrize(
    "wrong", ["", "0|", "|1", "a", "0|3", "0 1", "..", "0|1|", "0-1", "99999999999"]
)
def test_kernel_says_which_is_no_genotype(wrong):
    line = np.frombuffer(f"0|0\t{wrong}\t1|1".encode(), dtype=np.uint8)
    assert read_genotypes(line, 2, np.empty(3, dtype=np.uint8))[3] == 1


@pytest.mark.parametrize("name", ["a.vcf", "a.vcf.gz"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_vcf(tmp_path, name, ends):
    found = genomes.load(write(tmp_path / name, TEXT.replace("\n", ends) + ends))
    np.testing.assert_array_equal(dense(found), CELLS)
    assert found.matrix.row_names == ["HG1", "HG2", "HG3", "HG4"]
    assert found.matrix.column_names == ["rs1", "22:20:A:G,T", "rs3", "rs1 (2)"]
    assert found.row_labels == {}
    assert found.notes == [
        "3 genotypes are not known and are missing cells.",
        "1 variants have the name of another; they got a number behind it.",
    ]
    zero = genomes.load(tmp_path / name, missing="zero")
    assert zero.matrix.values.dtype == bool
    np.testing.assert_array_equal(dense(zero), np.nan_to_num(CELLS))


def test_filters(tmp_path):
    path = write(tmp_path / "a.vcf", TEXT)
    kept = genomes.load(path, snps_only=True)
    assert kept.matrix.column_names == ["rs1", "22:20:A:G,T"]
    assert kept.notes[0] == "2 of 4 variants were left out by frequency or kind."
    # Frequencies are 4/8, 1/4, 2/4 and 0.
    assert genomes.load(path, min_frequency=0.3).matrix.column_names == ["rs1", "rs3"]
    rare = genomes.load(path, min_frequency=0.01, max_frequency=0.3)
    assert rare.matrix.column_names == ["22:20:A:G,T"]
    refused(genomes.load, path, "none of the 4 variants", min_frequency=0.9)


def test_panel(tmp_path):
    path = write(tmp_path / "a.vcf", TEXT)
    panel = write(tmp_path / "integrated_call_samples_v3.20130502.ALL.panel", PANEL)
    for found in (genomes.load(path), genomes.load(path, panel=panel)):
        assert found.row_labels == {
            "population": ["GBR", "GBR", "", "YRI"],
            "super-population": ["EUR", "EUR", "", "AFR"],
        }
        assert found.notes[-1] == f"{panel.name} does not have 1 of the people."
    write(panel, "sample\tpop\nHG1\tGBR\n")
    refused(genomes.load, path, str(panel), "line 1", "'super_pop'")
    write(panel, PANEL.replace("HG", "NA"))
    refused(genomes.load, path, str(panel), "'HG1'", "'NA2'")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (TEXT, "", ["empty"]),
        ("#CHROM", "CHROM", ["line 3", "#CHROM POS ID", "VCF"]),
        (TEXT, "##fileformat=VCFv4.1\n", ["line 1", "#CHROM"]),
        ("\tGT\t0|0\t0|1", "\tGT 0|0\t0|1", ["line 4, field 9", "FORMAT"]),
        ("GT:DP", "DP:GT", ["line 5, field 9", "'DP:GT'"]),
        ("1|0\t1|1", "1|0", ["line 4", "13 fields", "found 12", "cut off"]),
        ("1|0\t1|1", "1|0\t1|1\t0|0", ["line 4", "found 14"]),
        ("0/2:4", "0/3:4", ["line 5, field 11 (HG2)", "alleles up to 2", "'0/3:4'"]),
        ("\t0|0\t0|1", "\t\t0|1", ["line 4, field 10 (HG1)", "genotype"]),
        ("HG2", "HG1", ["line 3", "person 'HG1' comes twice"]),
        ("\tFORMAT\tHG1\tHG2\tHG3\tHG4", "", ["line 3", "names no people"]),
        ("\n22\t20", "\n22 20", ["line 5, field 9", "GT"]),
    ],
)
def test_damaged_vcf(tmp_path, old, new, parts):
    path = write(tmp_path / "a.vcf", TEXT.replace(old, new, 1))
    refused(genomes.load, path, str(path), *parts)


def test_damaged_bytes(tmp_path):
    path = cut(write(tmp_path / "a.vcf.gz", TEXT))
    refused(genomes.load, path, str(path), "damaged or cut off")
    latin = TEXT.replace("rs3", "rsé").encode("latin-1")
    refused(genomes.load, write(tmp_path / "l.vcf", latin), "line 6", "0xe9")


def write_plink(folder, codes, mode=1):
    """Write two-bit codes of variants × people as the three files of plink."""
    variants, people = codes.shape
    packed = np.zeros((variants, (people + 3) // 4), dtype=np.uint8)
    for v in range(variants):
        for p in range(people):
            packed[v, p // 4] |= codes[v, p] << 2 * (p % 4)
    (folder / "a.bed").write_bytes(bytes([0x6C, 0x1B, mode]) + packed.tobytes())
    write(folder / "a.bim", "".join(f"1 rs{v} 0 {v + 1} A G\n" for v in range(variants)))
    write(folder / "a.fam", "".join(f"F{p}\tHG{p}\t0\t0\t1\t-9\n" for p in range(people)))
    return folder / "a.bed"


def slow_plink(codes):
    meaning = {0: 1, 1: np.nan, 2: 1, 3: 0}
    return np.array([[meaning[int(code)] for code in line] for line in codes]).T


@given(
    st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3])
)
def test_plink(tmp_path_factory, variants, people, seed, min_frequency):
    codes = np.random.default_rng(seed).integers(0, 4, (variants, people))
    path = write_plink(tmp_path_factory.mktemp("plink"), codes)
    counts = (2 * (codes == 0) + (codes == 2)).sum(axis=1)
    known = 2 * (codes != 1).sum(axis=1)
    keep = [v for v in range(variants) if counts[v] >= min_frequency * max(known[v], 1)]
    if not keep:
        refused(genomes.load, path, "none of the", min_frequency=min_frequency)
        return
    for suffix in (".bed", ".bim"):
        found = genomes.load(path.with_suffix(suffix), min_frequency=min_frequency)
        np.testing.assert_array_equal(dense(found), slow_plink(codes)[:, keep])
        assert found.matrix.column_names == [f"rs{v}" for v in keep]
        assert found.matrix.row_names == [f"HG{p}" for p in range(people)]


def test_reading_plink_is_watched(tmp_path):
    bed = write_plink(tmp_path, np.random.default_rng(0).integers(0, 4, (6, 10)))
    seen = []
    with watching(lambda path, done, size: seen.append((path.suffix, done == size))):
        genomes.load(bed)
    assert {(".bed", True), (".bim", True), (".fam", True)} <= set(seen)


def test_damaged_plink(tmp_path):
    codes = np.random.default_rng(0).integers(0, 4, (6, 10))
    bed = write_plink(tmp_path, codes)
    whole, bim, fam = bed.read_bytes(), bed.with_suffix(".bim"), bed.with_suffix(".fam")
    for data, parts in (
        (b"", ["6c 1b 01", "an empty file"]),
        (b"chr1\t10\t20\n", ["6c 1b 01", "63 68 72"]),
        (whole[:2] + b"\0" + whole[3:], ["by person", "--make-bed"]),
        (whole[:-1], ["expected 21 bytes", "6 variants", "10 people", "found 20", "cut off"]),
        (whole + b"\0", ["expected 21 bytes", "found 22", "too long"]),
    ):
        bed.write_bytes(data)
        refused(genomes.load, bed, str(bed), *parts)
    bed.write_bytes(whole)
    text = bim.read_text()
    for damaged, parts in (
        (text[:-4], ["line 6", "6 fields", "found 4"]),
        (text.replace("rs2", "rsé").encode("latin-1"), ["line 3", "0xe9"]),
        ("", ["empty", "variants"]),
    ):
        refused(genomes.load, bed, str(write(bim, damaged)), *parts)
    write(bim, text)
    write(fam, fam.read_text().replace("HG2", "HG1"))
    refused(genomes.load, bed, str(fam), "'HG1' comes twice", "line 2 and 3")
    fam.unlink()
    with pytest.raises(InputError, match=r"a\.fam: there is no such file"):
        genomes.load(bed)


def test_options(tmp_path):
    path = write(tmp_path / "a.vcf", TEXT)
    with pytest.raises(InputError, match="missing must be"):
        genomes.load(path, missing="drop")
    with pytest.raises(InputError, match="min_frequency must be"):
        genomes.load(path, min_frequency=2)
    with pytest.raises(InputError, match="must not be above"):
        genomes.load(path, min_frequency=0.5, max_frequency=0.4)
