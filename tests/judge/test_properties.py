"""What holds of every verdict, whatever is expected and observed."""

from hypothesis import given
from hypothesis import strategies as st

from nettests.judge import judge
from nettests.model.expectation import Expectation, Expected
from nettests.model.observation import Observation
from nettests.model.words import Distribution, Outcome, SourceSeen, Verdict
from tests.judge.cases import BACKENDS, BUG, LIMITATION, attempt, check, control

POSITIVE = st.sampled_from([one for one in Outcome if one.positive])
SOURCES = st.none() | st.sampled_from(SourceSeen)
DISTRIBUTIONS = st.none() | st.sampled_from(Distribution)
EXPECTED = st.builds(
    Expected,
    outcome=st.sampled_from(Outcome),
    source_seen=SOURCES,
    distribution=DISTRIBUTIONS,
)
CLAIMS = st.builds(Expected, outcome=POSITIVE, source_seen=SOURCES, distribution=DISTRIBUTIONS)
EXPECTATIONS = st.builds(
    Expectation,
    claim=CLAIMS,
    expected=st.none() | EXPECTED,
    limitation=st.none() | st.just(LIMITATION),
    undecided=st.none() | st.just("a fact is unknown"),
    known_bugs=st.sampled_from([(), (BUG,)]),
)
CONTROLS = st.lists(
    st.builds(control, st.sampled_from(["vantage", "target", "path"]), ok=st.booleans()), max_size=3
).map(tuple)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """Draw an observation, consistent in itself."""
    outcomes = draw(st.lists(st.sampled_from(Outcome), min_size=1, max_size=4))
    positive = outcomes[-1].positive
    trusted = draw(st.booleans())
    names = st.lists(st.sampled_from([*BACKENDS, "stranger"]), max_size=2, unique=True)
    return Observation(
        check="f/windows-1/windows-1/other-node/tcp",
        outcome=outcomes[-1],
        agreed=len(set(outcomes)) == 1,
        attempts=tuple(attempt(one, n) for n, one in enumerate(outcomes, 1)),
        controls=draw(CONTROLS),
        source_seen=draw(SOURCES) if positive else None,
        server_saw="10.244.3.2",
        backends=tuple(draw(names)) if positive else (),
        distribution=draw(DISTRIBUTIONS) if positive else None,
        trusted=trusted,
        distrust=None if trusted else "the channel failed",
    )


@given(EXPECTATIONS, observations())
def test_nothing_untrusted_is_anything_but_unknown(
    expectation: Expectation, observation: Observation
) -> None:
    """Without trust the verdict is unknown, whatever was expected and seen."""
    verdict = judge(check(), expectation, observation).verdict
    if not observation.trusted or observation.outcome is Outcome.PROBE_FAILED:
        assert verdict is Verdict.UNKNOWN


@given(EXPECTATIONS, observations())
def test_unknown_never_keeps_a_run_green(
    expectation: Expectation, observation: Observation
) -> None:
    """Only pass, limited, recorded and known bugs are accepted; unknown is none of them."""
    found = judge(check(), expectation, observation)
    green = {Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG}
    assert found.accepted == (found.verdict in green)
    assert found.verdict is not Verdict.SKIPPED


@given(EXPECTATIONS, observations())
def test_limited_and_lifted_need_a_limitation(
    expectation: Expectation, observation: Observation
) -> None:
    """Both name the limitation that decided; pass never hides one."""
    found = judge(check(), expectation, observation)
    if found.verdict in {Verdict.LIMITED, Verdict.LIFTED}:
        assert found.limitation == LIMITATION.id
    if found.verdict is Verdict.PASS:
        assert expectation.limitation is None


@given(EXPECTATIONS, observations())
def test_an_accepted_negative_has_all_its_controls(
    expectation: Expectation, observation: Observation
) -> None:
    """A negative result that satisfies an expectation was proven by vantage and target, or a path.

    What deviates or was cut short was read directly, and needs no proof.
    """
    found = judge(check(), expectation, observation)
    read_directly = observation.outcome in {Outcome.DEVIATES, Outcome.CUT_SHORT}
    silent = not observation.outcome.positive and not read_directly
    if found.verdict in {Verdict.PASS, Verdict.LIMITED} and silent:
        shown = {one.proves for one in observation.controls}
        assert all(one.ok for one in observation.controls)
        assert "path" in shown or {"vantage", "target"} <= shown


@given(EXPECTATIONS, observations())
def test_green_means_exactly_as_expected(
    expectation: Expectation, observation: Observation
) -> None:
    """Pass and limited have the outcome, source and distribution that were expected, and no stranger.

    Attempts agree, but for those that are refused by design.
    """
    found = judge(check(), expectation, observation)
    if found.verdict not in {Verdict.PASS, Verdict.LIMITED}:
        return
    expected = expectation.expected
    assert expected is not None
    by_design = observation.distribution is Distribution.SOME_REFUSED
    outcomes = {one.outcome for one in observation.attempts}
    assert len(outcomes - ({Outcome.REFUSED} if by_design else set())) <= 1
    assert observation.outcome is expected.outcome
    assert expected.source_seen in {None, observation.source_seen}
    assert expected.distribution in {None, observation.distribution}
    assert set(observation.backends) <= set(BACKENDS)


@given(EXPECTATIONS, observations())
def test_a_failure_is_never_without_reason(
    expectation: Expectation, observation: Observation
) -> None:
    """A red or unknown verdict has a next step, and the message is one line with both sides, if either can be believed."""
    found = judge(check(), expectation, observation)
    assert "\n" not in found.message
    unproven = found.verdict is Verdict.UNKNOWN and " - cannot be judged: " in found.message
    assert unproven or f"observed {found.observed}" in found.message
    if not found.accepted:
        assert found.next_step


@given(EXPECTATIONS, observations())
def test_the_same_is_judged_the_same(expectation: Expectation, observation: Observation) -> None:
    """Judging twice gives the same judgement."""
    assert judge(check(), expectation, observation) == judge(check(), expectation, observation)
