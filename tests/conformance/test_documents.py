"""The documents of a report: the same answer everywhere, valid, and every text of a vendor or a cluster stays a text."""

import hashlib
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lxml import etree

from nettests.conformance.conformance_report import ConformanceReport, Failed, Gap, Missing, Result
from nettests.conformance.report_page import BADGE, MARKDOWN, PAGE, YAML, document, documents
from nettests.conformance.report_text import feature_lines, headline, scope_lines
from nettests.conformance.vendor_profile import Implementation, Level
from nettests.model.words import Outcome, Verdict
from nettests.model.yaml_text import read_yaml
from tests.compare.runs import but
from tests.conformance.claimed import PODS, SOURCES, judged, profile, report
from tests.report.hostile import LABEL, NASTY

PARTIAL = judged(flows_run=[PODS, SOURCES])
FAILED = judged(but(PODS, Outcome.TIMED_OUT, "windows-1/linux-1"))


def schema() -> dict[str, Any]:
    """Return the published schema."""
    text = files("nettests.conformance").joinpath("conformance.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def hostile() -> ConformanceReport:
    """Return a report in which every text that others decide is an attack."""
    made = report(FAILED)
    spoilt = replace(
        made.features[0],
        summary=NASTY,
        failed=(Failed(check=NASTY, verdict=Verdict.FAIL, expected=NASTY, observed=NASTY),),
        missing=(Missing(gap=Gap.SKIPPED, flow=LABEL, reason=NASTY, checks=(NASTY,)),),
        limitations=(LABEL,),
        flows=(LABEL, NASTY),
    )
    core = replace(made.levels[Level.CORE], features=(spoilt,))
    return replace(
        made,
        implementation=Implementation(
            organization=NASTY, project=NASTY, url="javascript:x", version=LABEL, contact=(NASTY,)
        ),
        levels={Level.CORE: core},
        unsupported=(replace(made.unsupported[0], reason=NASTY, flows=(NASTY,)),),
        scope=tuple(replace(row, found=NASTY, claimed=LABEL) for row in made.scope),
        tested=replace(made.tested, plugin=NASTY, exercised=NASTY),
        not_covered=(NASTY,),
    )


@pytest.mark.parametrize("made", [report(), report(PARTIAL), report(FAILED)])
def test_the_document_satisfies_its_schema(made: ConformanceReport) -> None:
    """Also with gaps and failures; and what is written is what is read."""
    Draft202012Validator(schema()).validate(document(made))
    assert read_yaml(documents(made)[YAML], YAML)[0] == document(made)


def test_the_schema_refuses_what_is_no_report() -> None:
    """A word that is none, and an unknown key."""
    told = Draft202012Validator(schema())
    assert not told.is_valid({**document(report()), "result": "great"})
    assert not told.is_valid({**document(report()), "signature": "x"})


def test_the_profile_stands_in_the_document_line_by_line() -> None:
    """People read it there, and get it back as it was."""
    text = documents(report())[YAML]
    assert "\nprofile: |\n  apiVersion: nettests.dev/v1alpha1\n" in text
    assert document(report())["profile"] == profile().text


@pytest.mark.parametrize(
    ("made", "said", "result"),
    [
        (report(), "Conformant: all 3 claimed features succeeded", Result.SUCCESS),
        (
            report(PARTIAL),
            "Partially conformant: 2 of 3 claimed features succeeded, 1 was shown only in part",
            Result.PARTIAL,
        ),
        (report(FAILED), "Not conformant: 1 of 3 claimed features failed", Result.FAILURE),
        (
            report(claims=profile(lambda data: data.update(plugin="calico"))),
            "Partially conformant: 3 of 3 claimed features succeeded; plugin outside what is supported",
            Result.PARTIAL,
        ),
    ],
)
def test_every_document_gives_the_same_answer(
    made: ConformanceReport, said: str, result: Result
) -> None:
    """In a sentence, and the badge in a word."""
    texts = documents(made)
    assert headline(made) == said
    assert document(made)["summary"] == said
    assert said in texts[PAGE]
    assert said in texts[MARKDOWN]
    assert f"{result.value}: core " in texts[BADGE]


def test_the_others_name_the_yaml_document_by_its_digest() -> None:
    """Whoever has a page knows of which report it is."""
    texts = documents(report())
    source = hashlib.sha256(texts[YAML].encode()).hexdigest()
    assert source in texts[PAGE]
    assert source in texts[MARKDOWN]


def test_documents_depend_on_nothing_else() -> None:
    """No clock, no machine, no order of sets."""
    assert documents(report(FAILED)) == documents(report(FAILED))


def test_no_document_names_a_node_or_the_cluster() -> None:
    """They are published."""
    run = judged(but(PODS, Outcome.TIMED_OUT))
    made = report(run)
    for text in documents(made).values():
        assert "staging" not in text
        assert "127.0.0.1" not in text


def test_what_has_one_reason_is_one_line() -> None:
    """Of three flows that were skipped alike, with how many checks there are."""
    one = Missing(gap=Gap.SKIPPED, flow="a", reason="no node", checks=("a/1", "a/2"))
    feature = replace(report().features[0], missing=(one, replace(one, flow="b", checks=("b/1",))))
    assert [*feature_lines(feature)] == ["skipped: 3 checks of a, b: no node"]


def test_where_the_cluster_is_not_supported_is_said_first() -> None:
    """With both sides."""
    other = report(claims=profile(lambda data: data.update(plugin="calico")))
    (line,) = scope_lines(other)
    assert line == "outside what is supported: plugin flannel, supported calico"
    assert line in documents(other)[MARKDOWN]
    broken = replace(report(), tested=replace(report().tested, complete=False))
    assert [*scope_lines(broken)] == ["the run broke off before its end"]


def test_hostile_texts_stay_texts() -> None:
    """No document gets an element, a link, a directive or a hidden character from somebody else."""
    texts = documents(hostile())
    page = etree.fromstring(texts[PAGE].encode(), etree.HTMLParser())
    assert page.findall(".//script") == []
    assert not [one for one in page.iter() if any(name.startswith("on") for name in one.attrib)]
    assert not [one for one in page.iter("a") if "javascript" in one.get("href", "")]
    badge = etree.fromstring(texts[BADGE].encode())
    assert {etree.QName(one).localname for one in badge.iter()} == {
        *("svg", "title", "clipPath", "rect", "g", "text"),
    }
    assert "<script>" not in texts[MARKDOWN]
    assert "[x](javascript" not in texts[MARKDOWN]
    for text in texts.values():
        assert not {"\x00", "\x1b", "\u202e", "\u2028", "\ufeff"} & {*text}
        text.encode()
