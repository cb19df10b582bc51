"""The numbers that the default fit was tuned by, in one place.

None of them changes what is a better result, only how fast and how surely one is found. Where a
script in ``benchmarks/`` varies a number, the comment says "measured in" it. The others were chosen
by hand: the script that is named shows the loss or the time that they trade, if they are changed
here and it is run again.
"""

from dataclasses import dataclass

__all__ = ["TUNING", "Tuning"]


@dataclass(frozen=True)
class Tuning:
    """How the default fit is tuned."""

    # --- the relaxation ---

    # Inertia β of the default schedule. Measured in benchmarks/choices.py, against none
    inertia: float = 0.9
    # κ/L in the first and the last epoch of the default schedule, and λ_t/κ_t.
    # benchmarks/choices.py
    weakest: float = 1e-6
    strongest: float = 0.5
    lam_to_kappa: float = 0.1
    # Scale of the start under the default schedule: so small that the first half-step forgets U₀
    # and makes U from the data. Measured in benchmarks/quality.py
    start_scale: float = 1e-3
    # Ones beyond which singular vectors take longer than the epochs they save.
    # What they gain is measured in benchmarks/starts.py; the time shows in benchmarks/scale.py
    ones_for_singular_vectors: int = 10_000_000
    # Epochs without any change after which none is expected. More wait longer for nothing, fewer
    # end on a plateau: benchmarks/quality.py
    epochs_without_change: int = 20
    # Boolean gap above which factors are rounded by their loss and not at ½, where there is a
    # refinement to follow. Matters to schedules that do not end Boolean: benchmarks/quality.py
    not_boolean: float = 1e-3

    # --- runs ---

    # Runs when there is no refinement to pool them, and the ones up to which there are several
    # runs at all. One and three runs are measured in benchmarks/choices.py
    runs: int = 3
    ones_for_several_runs: int = 10_000_000
    # With refinement, a second run has so many times the components, of which the least useful are
    # dropped in the end: on planted tiles the first run finds more, on real data the second.
    # benchmarks/lowest.py
    overshoot: float = 1.5
    # By what share the first run may be above the quick starts for a second to be worth its while,
    # and the share of a time limit to wait for either. benchmarks/never_beaten.py
    above_quick_starts: float = 0.3
    patience_in_time: float = 0.02
    # Ones times components below which runs are too quick to share the epochs between them.
    # benchmarks/small_tables.py
    small: int = 500_000
    # Runs that are pooled at a rank on the path to the best one, on data as small as that.
    # benchmarks/ranks.py
    runs_on_small_path: int = 8

    # --- the time for the search ---

    # Share of the work at effort 1 that a quick start may take; shares of a time limit after which
    # the first of them and the others end, and that the relaxation may take; epochs below which
    # that is not worth its while; share of its epochs below which a run after the first is not.
    # benchmarks/never_beaten.py
    share_of_start: float = 0.12
    start_in_time: float = 0.75
    other_starts_in_time: float = 0.45
    relaxation_in_time: float = 0.4
    # Cells up to which there is memory for greedy concepts. benchmarks/greedy_speed.py
    cells_for_concepts: int = 1 << 31
    fewest_epochs: int = 8
    share_of_later_run: float = 0.6
    # What singular vectors take, about in nanoseconds, for each line times k², and the share of the
    # time for the relaxation that they may take. benchmarks/never_beaten.py
    singular_vectors: float = 0.9
    singular_vectors_in_time: float = 0.25
    # Pairs of ones in a line, and candidates, up to which associations are a quick start, and the
    # thresholds that are tried. benchmarks/never_beaten.py
    pairs_to_associate: int = 5_000_000
    most_candidates: int = 1 << 13
    thresholds: tuple[float, ...] = (1.0, 0.8, 0.6, 0.4)
    # By what share of a time limit the last word on each row may exceed it. benchmarks/lowest.py
    beyond_time_limit: float = 0.05

    # What a search may take at effort 1, in epochs of the run; where that is little time, by how
    # many times more (where members are annealed, by how many), up to so many nanoseconds in all.
    # Where even that is little, by so many times that, up to so many nanoseconds.
    # Where members are annealed and a search may take that long, it may take so many times as long:
    # there it gains most. benchmarks/lowest.py, small_tables.py, never_beaten.py
    search_to_relaxation: float = 0.5
    more_search: float = 96.0
    more_annealing: float = 300.0
    longest_search: float = 14e9
    more_on_small: float = 4.0
    small_search: float = 1e9
    annealed_longer: float = 3.0
    # What an epoch takes, about in nanoseconds: in all, and times k for each one (or eight cells)
    # and for each line. benchmarks/speed.py
    epoch: float = 3e5
    epoch_per_one: float = 0.18
    epoch_per_line: float = 3.5

    # --- the local search (search/local.py) ---

    # Branches looked at for one row or column: while both sides change, and for the last word on
    # it. More find better rows and cost time. benchmarks/lowest.py, benchmarks/small_tables.py
    nodes: int = 2000
    nodes_at_last: int = 4000
    # Turns of both sides after which even a slow descent counts as finished; in practice it ends
    # by itself. benchmarks/lowest.py
    most_turns: int = 200
    # Where a turn takes a second or more (cells times components), turns that gain less than this
    # share of the ones are not worth another. benchmarks/scale.py
    large: int = 10**10
    negligible: float = 2e-5
    # Density above which lines are kept packed, too: memory for speed. benchmarks/lowest.py
    packed_density: float = 1 / 64

    # --- the population (search/evolution.py) ---

    # Cells, or cells for each one, up to which it is kept what is covered, and cells up to which
    # there is memory for that. benchmarks/lowest.py
    cells_for_masks: int = 1 << 23
    cells_per_one_for_masks: int = 256
    most_cells_for_masks: int = 1 << 28
    # Rows and columns from which climbers let a line take a component in place of another: on
    # shorter lines that takes longer than it gains. benchmarks/never_beaten.py
    shortest_line_to_swap: int = 256
    # Members at first, times components, but within these limits, and how many times as many where
    # newcomers are relaxations; members at last. benchmarks/lowest.py
    components_of_population: int = 320
    smallest_population: int = 4
    first_population: int = 16
    more_relaxations: float = 1.5
    largest_population: int = 256
    # Children, for each member, that do not gain this share of the cost when there are newcomers,
    # and where members are annealed; the share that a climb must gain for another to follow.
    # benchmarks/lowest.py
    patience: int = 4
    patience_annealed: int = 2
    little_gain: float = 3e-4
    little_climb: float = 1e-4
    # Members of a family, shares of the components that are grown anew in them, and families that
    # do not gain as much, after which there are newcomers again. benchmarks/never_beaten.py
    family_size: int = 12
    shares_varied: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4)
    barren_families: int = 3
    # Exchanges of components that a start or newcomer, and a child, tries, for each component, and
    # at least. benchmarks/lowest.py
    first_exchanges: float = 1.0
    exchanges: float = 0.25
    fewest_exchanges: int = 5
    # Epochs of the relaxation that a newcomer comes from, and the share of the search at effort 1
    # up to which it may. benchmarks/never_beaten.py
    epochs_of_newcomer: int = 150
    share_of_newcomer: float = 0.02
    # Share of the children of relaxations that exchange components. benchmarks/never_beaten.py
    children_that_exchange: float = 0.25
    # Components and bytes up to which members are annealed, and components where the density is
    # less than so much: there most switches of many of them cost nothing, and lead nowhere; words
    # of a shortlist; what a look at a switch takes for each line, about in nanoseconds.
    # benchmarks/small_tables.py, benchmarks/never_beaten.py
    components_to_anneal: int = 62
    bytes_to_anneal: int = 1 << 26
    density_to_anneal: float = 0.125
    components_to_anneal_sparse: int = 12
    words_of_shortlist: int = 2
    look: float = 1.0
    # Share of the search at effort 1 that the annealing of a newcomer may take, and the times that
    # each switch is looked at; the share of these that children have. benchmarks/never_beaten.py
    share_of_annealing: float = 0.02
    fewest_sweeps: int = 8
    most_sweeps: int = 40
    sweeps_of_child: float = 0.3
    # Newcomers of the first population that is annealed, and how many of them are relaxed before
    # that, if any are. benchmarks/never_beaten.py
    annealed_population: int = 8
    share_relaxed: float = 0.5
    # Temperatures at first of newcomers and of children, times k, as shares of what switches cost
    # that cost something, in the middle of so many; by how much colder it is at last.
    # benchmarks/never_beaten.py
    heats: tuple[float, ...] = (0.4, 0.7, 1.2)
    heats_of_child: tuple[float, ...] = (0.14, 0.28, 0.4)
    switches_sampled: int = 256
    cooling: float = 20.0
    # Share of the search that pooling the starts may take. benchmarks/lowest.py
    share_of_pool: float = 0.2
    # Share of the ones up to which the best may cost to be searched for from below, too, and the
    # share of the search at effort 1 that this may take. benchmarks/small_tables.py
    nearly_covered: float = 0.05
    share_from_below: float = 0.12
    # Starts that climb as long as that helps, and climbs at a time. benchmarks/lowest.py
    climbing_starts: int = 2
    climbs_at_once: int = 3
    # Shares of the components that a child has of the other parent; share of the children that
    # mutate, and of the components that do. benchmarks/lowest.py
    shares_crossed: tuple[float, ...] = (0.5, 0.3, 0.15)
    mutations: float = 0.2
    share_mutated: float = 0.1
    # Children at a time, what each takes before it begins to climb, in nanoseconds, and what it
    # then exchanges components for at least. benchmarks/small_tables.py
    children_at_once: int = 8
    task_overhead: int = 400_000
    least_climb: int = 1_500_000
    # Cells up to which everyone is refined, and else how many times the work until the best is
    # again. benchmarks/lowest.py
    cells_to_refine_all: int = 1 << 12
    refined_after: float = 1.15

    # Components and cells up to which it is tried to prove that there is nothing better, and the
    # share of the search that this may take, before and after it. benchmarks/lowest.py
    components_to_prove: int = 3
    cells_to_prove: int = 1 << 17
    share_of_proof: float = 0.25

    # Turns of a descent for what must do when a callback ends a fit, and cells up to which these
    # take no time to speak of. benchmarks/quality.py
    turns_at_last: int = 12
    # Turns of the order of components and the last word on each row, which changes what components
    # save. Mostly two or three. benchmarks/lowest.py
    turns_of_order: int = 8
    cells_in_no_time: int = 100_000_000

    # --- from rank to rank (estimators/auto_rank.py) ---

    # Share of a fit's search that goes into each step between ranks, and into the polish of a
    # rank; what a polish may take at least, at effort 1. benchmarks/ranks.py
    share_of_step: float = 0.04
    share_of_polish: float = 0.5
    least_polish: float = 5e8

    # --- the fewest components (search/covers/) ---

    # Cells up to which a table is reduced, which takes several bytes for each, and what a search
    # may take at effort 1, about in nanoseconds. benchmarks/covers.py
    cells_to_cover: int = 1 << 28
    covering: float = 1e10
    # What the first round takes, each having twice that of the one before, and ways that are tried
    # side by side. benchmarks/covers.py
    first_covering: int = 50_000_000
    ways_of_covering: int = 2
    # Share of a round that goes into fooling sets, and ones that they are made of at most.
    # benchmarks/covers.py
    share_of_fooling: float = 0.1
    ones_to_fool: int = 6000
    # Cells up to which there is memory, and time, to grow covers around fooling sets.
    # benchmarks/covers.py
    cells_to_grow: int = 1 << 25
    # Bicliques that grow before one of them is taken into a cover, and how many others are kept to
    # choose from. benchmarks/covers.py
    tries_to_regrow: int = 30
    pool_to_regrow: int = 256
    # Maximal bicliques up to which the fewest are chosen by integer programming.
    # benchmarks/covers.py
    bicliques_to_choose: int = 4000
    # Branches that this looks at, where there is no time limit. benchmarks/covers.py
    nodes_to_choose: int = 100
    # Share of the work that goes into each number of components where some cells may be wrong.
    # benchmarks/covers.py
    share_of_drop: float = 0.05
    # Share of a time limit after which a cover without error is good enough to go on from there.
    # benchmarks/covers.py
    cover_in_time: float = 0.3

    # --- factors that keep to constraints (search/constrained/) ---

    # Share of the work, or of a time limit, that goes into keeping to them; exchanges in a row, for
    # each component, that gain nothing, after which there are no more. benchmarks/constraints.py
    share_of_constraints: float = 0.2
    # Share of the time that is left in which to look for a cover that keeps to them; what is not
    # covered by then is, line by line. benchmarks/constraints.py
    first_within_time: float = 0.5
    vain_exchanges: int = 20
    # Share of the work of a fit, and of its epochs, that goes into each of two ways to tell which
    # rows have components whose columns are fixed; share of the effort that is left for the others.
    # benchmarks/constraints.py
    share_beside_fixed: float = 0.1
    effort_beside_fixed: float = 0.6
    epochs_beside_fixed: float = 0.3
    # Seconds, for each row and component, to cover a table line by line, or to put thousands of
    # components in order. benchmarks/constraints.py
    settling: float = 5e-8

    # --- what no factorization costs less than (search/bounds.py) ---

    # Work on each block of columns in the first round, columns that a block has at most, and
    # components and cells up to which there is any hope. benchmarks/bounds.py
    first_block: float = 2e7
    widest_block: int = 40
    components_of_block: int = 6
    cells_for_blocks: int = 1 << 24
    # Shares of the time for the fit before, and of what is left for fooling sets.
    # benchmarks/bounds.py
    fit_in_bound: float = 0.2
    fooling_in_bound: float = 0.3
    # Steps that the search for a fooling set takes, times its ones. benchmarks/bounds.py
    moves_to_fool: int = 20_000_000

    # --- rows that pass by once (search/online.py) ---

    # What a sample holds at most: rows, and ones or missing cells in them. benchmarks/streams.py
    rows_of_sample: int = 4096
    cells_of_sample: int = 1 << 22
    # Share of the sample that is new when the components are reviewed, and when others are looked
    # for from scratch, which takes several times as long. benchmarks/streams.py
    new_for_review: float = 1 / 32
    new_for_relaxation: float = 1 / 8
    # Copies of a row in a sample that are no accident: fewer may be one row that was read again.
    # benchmarks/streams.py
    copies: int = 5
    # Epochs at most, and share of the effort, of the fit of a sample. benchmarks/streams.py
    epochs_on_sample: int = 200
    effort_on_sample: float = 0.15

    # --- two noise rates (estimators/rates.py) ---

    # Weights of the short fits that the rates are first estimated from, the epochs of each, and the
    # share of a time limit for all. benchmarks/rates.py
    first_weights: tuple[float, ...] = (1.0, 0.25, 0.06)
    # Their numbers of components, where that is still to be chosen. benchmarks/rates.py
    ranks_for_rates: tuple[int, ...] = (2, 8, 32)
    epochs_for_rates: int = 100
    rates_in_time: float = 0.1
    # Change of the weight, as a logarithm, that counts as none; turns at most; and whole fits at
    # most where the factors of one may not change afterwards. benchmarks/rates.py
    settled_weight: float = 0.01
    most_turns_of_rates: int = 30
    most_fits_for_rates: int = 4

    # --- fits of parts of the data (estimators/resampled.py) ---

    # Share of the effort that a run takes, of which there are many. benchmarks/stability.py
    effort_of_runs: float = 0.3


TUNING = Tuning()
"""The one in use."""
