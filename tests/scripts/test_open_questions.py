"""The reference page of open questions: what stands in it, of a few entries."""

from nettests.expect import Limitation, read_manifest
from scripts.reference_pages import render_open_questions
from tests.expect.entries import manifest, text

BUG = """
when:
  cluster: {kubernetes: ">=1.30"}
  source: {os: windows, mode: [kernelspace], build: ">=20348", dsr: true}
  target: {os: windows, dsr: false}
  placement: [same-node]
expected: unspecified
when_present: {outcome: [timed_out, refused]}
settled_by: a release that mends it
"""


def entries() -> tuple[Limitation, ...]:
    """Return a settled entry, an open bug, and two that are open for another reason."""
    bug = read_manifest(text(open_bug=BUG).replace("platform", "bug"), "bug.yaml")
    made = manifest(
        settled="expected: {outcome: timed_out}",
        open_everywhere="expected: unspecified\nsettled_by: a capture || two",
        open_here=(
            "when: {cluster: {cni: [flannel, calico]}, source: {os: linux, mode: [iptables]}}\n"
            "expected: unspecified"
        ),
    )
    return (*made.limitations, *bug.limitations)


def row(page: str, name: str) -> list[str]:
    """Return the cells of an entry's row."""
    (line,) = [line for line in page.splitlines() if line.startswith(f"| `{name}`")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_only_what_is_open_is_listed() -> None:
    """A settled entry is none of the questions, and the counts say of which kind the others are."""
    page = render_open_questions(entries())
    assert "`settled`" not in page
    assert "3 open questions: 1 for a known bug, 2 platform, 0 by-design, 0 environment." in page
    assert page.index("## Known bugs") < page.index("## Windows, of which documents differ")


def test_conditions_are_told_in_their_own_words() -> None:
    """Of cluster and node, each with its name; without any the entry holds everywhere."""
    page = render_open_questions(entries())
    everywhere, here = row(page, "open-everywhere"), row(page, "open-here")
    assert everywhere[2:4] == ["everywhere", "a capture \\|\\| two"]
    assert here[2] == "plugin `flannel, calico`; source: Linux, mode `iptables`"
    assert here[4] == "A page §Limitations"


def test_an_entry_of_several_places_is_one_question() -> None:
    """Each place is told in its row, and so is each way in which the bug shows there."""
    places = """
also:
  - when: {target: {os: windows, dsr: true}}
    flows: [some-flow]
  - when: {source: {os: linux}}
    flows: [some-flow]
    when_present: {outcome: [nxdomain, servfail]}
"""
    bug = read_manifest(text(open_bug=BUG + places.strip()).replace("platform", "bug"), "bug.yaml")
    page = render_open_questions(bug.limitations)
    assert "1 open question: 1 for a known bug" in page
    _, _, shown, where, *_ = row(page, "open-bug")
    assert shown == "`refused` or `timed_out`<br>`nxdomain` or `servfail`"
    assert where.endswith("<br>or target: Windows, DSR `on`<br>or source: Linux")


def test_a_bug_says_how_it_shows() -> None:
    """Beside the condition, which tells both ends: what is seen where the bug is there."""
    _, _, shown, where, settled, _ = row(render_open_questions(entries()), "open-bug")
    assert shown == "`refused` or `timed_out`"
    assert where == (
        "Kubernetes `>=1.30`; placement `same-node`; "
        "source: Windows, build `>=20348`, mode `kernelspace`, DSR `on`; target: Windows, DSR `off`"
    )
    assert settled == "a release that mends it"
