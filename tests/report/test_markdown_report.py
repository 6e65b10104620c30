"""``summary.md`` fits a job summary."""

from nettests.model.journal_records import End, Event
from nettests.model.words import Verdict
from nettests.report import Results, build_results, render_markdown
from tests.report.hostile import hostile_records
from tests.report.scenario import QUIET, Story, records


def test_a_quiet_run_begins_with_its_answer(quiet: Results) -> None:
    """The first lines answer the question, count the verdicts and name the cluster."""
    lines = render_markdown(quiet).splitlines()
    assert lines[0].startswith(
        "## ✓ This cluster behaves as documented, as far as exercised: 2 of 2 "
    )
    assert f"{quiet.counts[Verdict.PASS]} pass" in lines[2]
    assert "Kubernetes 1.29.4" in lines[4]
    assert lines[6].startswith("Exercised: 2 of 2 Windows nodes")
    assert lines[8].startswith("Services answered within ")
    assert "took 48.2 s" in lines[10]


def test_a_quiet_run_has_nothing_that_needs_attention(quiet: Results) -> None:
    """Without a red check there is no such section."""
    assert "Needs attention" not in render_markdown(quiet)


def test_red_checks_are_named_worst_first(eventful_run: Results) -> None:
    """Each red check is one row: verdict, id and what happened."""
    text = render_markdown(eventful_run)
    rows = [line for line in text.split("### Suites")[0].splitlines() if line.startswith("| ")][2:]
    assert [row.split(" ")[2] for row in rows] == ["fail", "lifted", "unknown", "unknown", "flaky"]
    assert "`pod-to-service-fqdn/linux-1/windows-1/other-node/tcp`" in rows[0]


def test_many_red_checks_are_cut_and_counted() -> None:
    """A summary stays short: it names twenty and says how many more there are."""
    story = Story(failing=lambda check: check.source.kind.value == "pod")
    text = render_markdown(build_results(records(story)))
    assert text.count("| ✗ fail |") == 20 + text.count("| suite | ✗ fail |")
    assert "more checks; see `report.html`" in text


def test_limitations_are_listed_with_their_sources(quiet: Results) -> None:
    """A limitation's row has its id, how often it was seen, and the document."""
    row = next(r for r in render_markdown(quiet).splitlines() if "`win-icmp-egress`" in r)
    assert "1 limited" in row
    assert "Networking on Windows" in row


def test_a_run_that_broke_off_says_so() -> None:
    """A journal without an end is no complete run."""
    cut = [record for record in records(QUIET) if not isinstance(record, End)]
    assert "broke off" in render_markdown(build_results(cut))


def test_a_run_that_could_not_start_is_a_summary_too() -> None:
    """The reason is all there is to say."""
    text = render_markdown(build_results([Event(at="", text="no nodes")]))
    assert text == "## ? The run could not start\n\nno nodes\n"


def test_hostile_texts_break_no_table() -> None:
    """Every row of a table has as many cells as its head, and no HTML is let through."""
    text = render_markdown(build_results(hostile_records()))
    assert "<script" not in text.replace(r"\<", "")
    for block in text.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        cells = {row.replace(r"\|", "").count("|") for row in rows}
        assert len(cells) <= 1, block
