"""Reading manifests: values, and errors that say file, line, key and the nearest valid one."""

import re
from datetime import date

import pytest

from nettests.errors import ManifestError
from nettests.expect import read_manifest
from nettests.model.versions import WindowsBuild
from nettests.model.words import Category, Distribution, Outcome, SourceSeen
from tests.expect.entries import manifest, text

GOOD = """
protocols: [udp]
when:
  source: {os: windows, build: ">=17763.1432 <20348", dsr: false, host_process: true}
  placement: [other-node]
expected: {source: client-node, distribution: several-backends}
"""


def test_an_entry_becomes_a_value_with_its_place() -> None:
    """Everything that is written is read, with the line of the entry."""
    read = manifest(one="expected: unspecified", two=GOOD)
    entry = read.limitations[1]
    assert (entry.id, entry.file, entry.category) == ("two", "base.yaml", Category.PLATFORM)
    assert text(one="expected: unspecified", two=GOOD).splitlines()[entry.line - 1] == "- id: two"
    assert entry.condition.source.build is not None
    assert entry.condition.source.build.holds(WindowsBuild(19042, 1))
    assert entry.deviation is not None
    assert entry.deviation.outcome is None
    assert entry.deviation.source_seen is SourceSeen.CLIENT_NODE
    assert entry.deviation.distribution is Distribution.SEVERAL_BACKENDS


def test_a_date_may_be_written_without_quotes() -> None:
    """YAML reads 2026-12-31 as a date; so do we."""
    assert manifest("site", one="expected: unspecified").limitations[0].review_by == date(
        2026, 12, 31
    )


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        (
            "expcted: {outcome: refused}",
            "expcted",
            "unknown key 'expcted'.*did you mean 'expected'",
        ),
        ("expected: {outcme: refused}", "expected", "outcme.*did you mean 'outcome'"),
        ("expected: {outcome: timedout}", "expected", "'timedout'.*did you mean 'timed_out'"),
        ("expected: {outcome: probe_failed}", "expected", "'probe_failed'.*valid"),
        ("expected: unspecifed", "expected", "'unspecifed'.*did you mean 'unspecified'"),
        ("expected: {}", "expected", "expected"),
        (
            "expected: unspecified\nwhen:\n  source: {biuld: '<17763'}",
            "source: {biuld",
            "when.source.biuld.*did you mean 'build'",
        ),
        (
            "expected: unspecified\nwhen:\n  source: {build: '<2019'}",
            "source: {build",
            "not a Windows build: '2019'",
        ),
        (
            "expected: unspecified\nwhen:\n  source: {kubelet: 1.20}",
            "source: {kubelet",
            "1.2 is a number; write a version in quotes",
        ),
        (
            "expected: unspecified\nwhen:\n  source: {kubelet: '1.20'}",
            "source: {kubelet",
            "not a version bound: '1.20'",
        ),
        (
            "expected: unspecified\nwhen:\n  cluster: {kubernetes: '1.20'}",
            "cluster: {kubernetes",
            "when.cluster.kubernetes: not a version bound: '1.20'",
        ),
        *(
            (
                f"expected: unspecified\nwhen:\n  source: {{{key}: '1.20'}}",
                f"source: {{{key}",
                f"when.source.{key}: not a version bound: '1.20'",
            )
            for key in ("kube_proxy", "runtime_version")
        ),
        (
            "expected: unspecified\nwhen:\n  target: {build: '<2019'}",
            "target: {build",
            "when.target.build: not a Windows build: '2019'",
        ),
        (
            "expected: {outcome: [timed_out, connected]}",
            "expected",
            "expected.outcome: one list holds failures or answers, not both",
        ),
        (
            "expected: unspecified\nwhen_present: {outcome: [timed_out, connected]}",
            "when_present",
            "when_present.outcome: one list holds failures or answers, not both",
        ),
        (
            "expected: unspecified\nwhen:\n  resolver: [systm]",
            "resolver",
            "did you mean 'system'",
        ),
        ("protocols: [tcp]", "- id", "expected is missing"),
    ],
)
def test_mistakes_are_found_where_they_are(body: str, line: str, said: str) -> None:
    """The message begins with file and line of the mistake, and names what was meant."""
    written = text(good="expected: unspecified", bad=body)
    with pytest.raises(ManifestError) as caught:
        read_manifest(written, "mine.yaml")
    told = str(caught.value)
    assert re.search(said, told, re.DOTALL), told
    lines = [written.splitlines()[int(n) - 1] for n in re.findall(r"mine\.yaml:(\d+): ", told)]
    assert any(line in shown for shown in lines), told
    assert "mine.yaml:5: " not in told, "the entry before it is in order"


def test_several_mistakes_are_reported_at_once() -> None:
    """One run of the tool shows all mistakes of a file, each with its line."""
    written = text(one="expcted: x\nexpected: unspecified", two="expected: {outcome: nosuch}")
    with pytest.raises(ManifestError) as caught:
        read_manifest(written, "mine.yaml")
    assert len(re.findall(r"mine\.yaml:\d+:", str(caught.value))) == 2


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a: [1", r"mine\.yaml:\d+: not valid YAML"),
        ("a: 1\na: 2\n", r"mine\.yaml:\d+: not valid YAML: found duplicate key"),
        ("- a\n- b\n", r"mine\.yaml:1: .*is not of type 'object'"),
        ("", r"mine\.yaml:1: .*is not of type 'object'"),
        (text().replace("layer: base", "layer: plattform"), "did you mean 'platform'"),
        (text().replace("v1alpha1", "v9"), "was expected"),
    ],
)
def test_a_broken_file_is_told_apart_from_a_wrong_one(written: str, said: str) -> None:
    """What is no YAML, no mapping or no manifest at all is said with its line."""
    with pytest.raises(ManifestError, match=said):
        read_manifest(written, "mine.yaml")


@pytest.mark.parametrize("key", ["reason", "review_by"])
def test_site_entries_need_a_reason_and_a_date(key: str) -> None:
    """A site's own entry says why, and until when."""
    written = "\n".join(
        line
        for line in text("site", one="expected: unspecified").splitlines()
        if not line.strip().startswith(key)
    )
    with pytest.raises(ManifestError, match=f"needs '{key}'"):
        read_manifest(written, "mine.yaml")


def test_a_date_that_does_not_exist_is_refused() -> None:
    """The thirtieth of February is a mistake."""
    written = text("site", one="expected: unspecified").replace("2026-12-31", "'2026-02-30'")
    with pytest.raises(ManifestError, match=r"review_by: no such date: 2026-02-30"):
        read_manifest(written, "mine.yaml")


def test_one_id_stands_once_in_a_file() -> None:
    """Two entries of one id in one file are refused, with the line of the first."""
    written = text(one="expected: unspecified", two="expected: unspecified")
    with pytest.raises(
        ManifestError,
        match=r"mine.yaml:13: limitations\.1\.id: one is defined twice, first in line 5",
    ):
        read_manifest(written.replace("id: two", "id: one"), "mine.yaml")


def test_an_entry_that_cancels_expects_nothing() -> None:
    """Cancelling alone is enough: the flow's claim stands again."""
    entry = manifest("cni", one="cancels: [other]").limitations[0]
    assert entry.only_cancels
    assert entry.deviation is None


def test_outcomes_are_read_as_words_of_the_vocabulary() -> None:
    """The manifest's words are those of observations."""
    entry = manifest(one="expected: {outcome: timed_out}").limitations[0]
    assert entry.deviation is not None
    assert entry.deviation.outcome is Outcome.TIMED_OUT


def test_a_list_of_outcomes_is_a_set() -> None:
    """Outcomes are read in one order, so that lists in another order are no contradiction."""
    one, other = (
        manifest(one=f"expected: {{outcome: [{words}]}}").limitations[0].deviation
        for words in ("timed_out, refused", "refused, timed_out")
    )
    assert one is not None
    assert one == other
    assert {one.outcome, *one.alternatives} == {Outcome.TIMED_OUT, Outcome.REFUSED}


@pytest.mark.parametrize("words", ["timed_out, connected", "timed_out", "timed_out, timed_out"])
def test_a_list_holds_several_failures_or_several_answers(words: str) -> None:
    """Failures and answers in one list, and lists of one outcome, are refused with their place."""
    with pytest.raises(ManifestError, match=r"base.yaml:\d+: .*expected.outcome"):
        manifest(one=f"expected: {{outcome: [{words}]}}")
