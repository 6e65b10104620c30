"""When something changed for good and when it only swung: sequences as people would write them down."""

from itertools import pairwise, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nettests.history.levels import Colour, Course, State, course

COLOURS = {"R": Colour.RED, "g": Colour.GOOD, "-": Colour.BLIND}
SEQUENCES = st.lists(st.sampled_from(list(Colour)), max_size=40)


def of(told: str, *wavering: int) -> Course:
    """Return the course of a line of letters: R red, g good, - not judged."""
    return course([COLOURS[letter] for letter in told], frozenset(wavering))


@pytest.mark.parametrize(
    ("told", "state", "first_bad", "last_good"),
    [
        ("ggggRRRR", State.RED, 4, 3),
        ("gggggggR", State.RED, 7, 6),
        ("gRR", State.RED, 1, 0),
        ("gRRgRRR", State.RED, 1, 0),
        ("RggggR", State.FLAKY, 0, None),
        ("gRRRg", State.REPAIRED, 1, 0),
        ("RRRR", State.RED, 0, None),
        ("R", State.RED, 0, None),
        ("ggggRRgRRRgR", State.RED, 4, 3),
        ("gRggggRRRR", State.RED, 6, 5),
        ("gg--RR", State.RED, 4, 1),
        ("ggRR--", State.RED, 2, 1),
        ("--RR", State.RED, 2, None),
        ("RRRRggggRRRR", State.RED, 8, 7),
        ("gRgRgRgg", State.FLAKY, 1, 0),
        ("RgRgRg", State.FLAKY, 0, None),
        ("gggRggRR-gggg", State.FLAKY, 3, 2),
        ("ggRRRRRgg", State.REPAIRED, 2, 1),
        ("RRRRg", State.REPAIRED, 0, None),
        ("ggggRgggg", State.REPAIRED, 4, 3),
        ("Rg", State.REPAIRED, 0, None),
        ("gggg", State.GOOD, None, None),
        ("-g-", State.GOOD, None, None),
        ("---", State.NOT_JUDGED, None, None),
        ("", State.NOT_JUDGED, None, None),
    ],
)
def test_each_course_has_its_state_and_its_two_runs(
    told: str, state: State, first_bad: int | None, last_good: int | None
) -> None:
    """What somebody says who looks at the line is what is told."""
    found = of(told)
    assert (found.state, found.first_bad, found.last_good) == (state, first_bad, last_good)


@pytest.mark.parametrize(
    ("told", "good_since"),
    [("ggRRRRg", 6), ("ggRRRR-gg", 7), ("gRggg", 2), ("RRRRg", 4)],
)
def test_what_was_repaired_is_good_since_the_first_good_run_after(
    told: str, good_since: int
) -> None:
    """Runs that were not judged do not count as repaired."""
    assert of(told).good_since == good_since


@pytest.mark.parametrize("told", ["ggggRRRR", "gRgRgg", "gggg", "---"])
def test_only_what_was_repaired_is_good_since(told: str) -> None:
    """Elsewhere there is no such run to name."""
    assert of(told).good_since is None


def test_attempts_that_disagree_make_a_path_flaky_at_once() -> None:
    """One run that was in two minds, and is over, is a flaky path; one that failed and is over is not."""
    assert of("gggRggg", 3).state is State.FLAKY
    assert of("gggRggg").state is State.REPAIRED


def test_what_is_flaky_in_all_runs_since_one_is_red_since() -> None:
    """It never gets through a run: somebody has to look, and from that run on."""
    found = of("gggggRRRRR", 5, 6, 7, 8, 9)
    assert (found.state, found.first_bad) == (State.RED, 5)


def test_a_path_that_just_failed_is_red_unless_it_swung_before() -> None:
    """The newest failure of a quiet path is news; that of a flaky one is one more."""
    assert of("ggggggR").state is State.RED
    assert of("gRggggR").state is State.FLAKY


def test_a_lucky_run_at_the_end_is_no_repair_where_there_were_others() -> None:
    """A broken path that gets through now and then is broken."""
    assert of("ggRRRgRRRg").state is State.RED
    assert of("ggRRRRRRRg").state is State.REPAIRED


@pytest.mark.parametrize(
    ("told", "swings", "judged", "rate"),
    [
        ("ggggRRRR", 0, 8, 0.0),
        ("gRgggRgggg", 2, 10, 0.2),
        ("gggRRgRRRR", 1, 10, 0.1),
        ("gRg-gRgg-g", 2, 8, 0.25),
        ("----", 0, 0, 0.0),
    ],
)
def test_the_flake_rate_counts_runs_against_the_level_of_their_time(
    told: str, swings: int, judged: int, rate: float
) -> None:
    """A change for good is no flake, a run that contradicts its neighbours is one; unjudged runs are not counted."""
    found = of(told)
    assert (found.swings, found.judged, found.flake_rate) == (swings, judged, rate)


@given(SEQUENCES)
@example([Colour(one) for one in ["good", "red", "red", "good", "red", "red", "good", "good"]])
def test_the_runs_that_are_named_are_what_they_are_called(colours: list[Colour]) -> None:
    """First bad runs are red, last good ones are good and earlier, whatever the sequence."""
    found = course(colours)
    assert found.red == colours.count(Colour.RED)
    assert found.judged == len(colours) - colours.count(Colour.BLIND)
    assert 0 <= found.flake_rate <= 0.5
    assert (found.first_bad is None) == (found.red == 0)
    if found.first_bad is not None:
        assert colours[found.first_bad] is Colour.RED
        assert found.last_red is not None
        assert found.first_bad <= found.last_red
    if found.last_good is not None:
        assert found.first_bad is not None
        assert found.last_good < found.first_bad
        assert colours[found.last_good] is Colour.GOOD
        assert Colour.GOOD not in colours[found.last_good + 1 : found.first_bad]
    if found.good_since is not None:
        assert colours[found.good_since] is Colour.GOOD
        assert found.state is State.REPAIRED


@given(SEQUENCES, st.integers(0, 40))
def test_a_run_that_judged_nothing_changes_nothing(colours: list[Colour], place: int) -> None:
    """Put anywhere, it only moves the numbers of the later runs."""
    place = min(place, len(colours))
    more = [*colours[:place], Colour.BLIND, *colours[place:]]
    one, other = course(colours), course(more)
    assert (one.state, one.red, one.judged, one.swings) == (
        *(other.state, other.red, other.judged, other.swings),
    )
    moved = one.first_bad
    if moved is not None:
        assert other.first_bad == moved + (moved >= place)


@given(st.integers(2, 30), st.integers(2, 30))
def test_a_clean_change_is_found_at_its_run(before: int, after: int) -> None:
    """So many good runs, then red ones: the first of them is named, and no run is a swing."""
    found = of("g" * before + "R" * after)
    assert (found.state, found.first_bad, found.last_good) == (State.RED, before, before - 1)
    assert found.swings == 0
    back = of("R" * before + "g" * after)
    assert (back.state, back.good_since, back.swings) == (State.REPAIRED, before, 0)


@given(st.sets(st.integers(2, 27), max_size=8))
def test_swings_alone_never_are_a_change(places: set[int]) -> None:
    """Red nights of which no two follow each other leave a path good."""
    alone = {one for one in places if one - 1 not in places and one + 1 not in places}
    found = of("".join("R" if at in alone else "g" for at in range(30)))
    assert found.state in {State.GOOD, State.REPAIRED, State.FLAKY}
    assert found.swings == len(alone)


def test_no_cut_contradicts_more_runs_than_the_best_of_all() -> None:
    """For every sequence of eight runs: contradictions and changes cost no more than in any other way to cut it."""

    def cost(levels: tuple[str, ...], seen: tuple[str, ...]) -> int:
        odd = sum(20 if one == "R" else 21 for one, of in zip(seen, levels, strict=True) if one != of)  # fmt: skip
        return odd + 30 * sum(one != of for one, of in pairwise(levels))

    for seen in product("gR", repeat=8):
        best = min(cost(levels, seen) for levels in product("gR", repeat=8))
        found = of("".join(seen))
        assert found.swings <= best // 20
