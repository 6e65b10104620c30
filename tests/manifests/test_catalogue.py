"""The shipped catalogue: complete, written for people, and every fact has a check or a reason."""

import json

import jsonschema
import pytest

from nettests.expect import Fact, gaps, unknown_facts
from nettests.resources import manifests_path
from nettests.session.survey import facts_by_flow, read_catalogue, survey
from tests.manifests.shipped import entries

SURVEY = survey()
FACTS = tuple(SURVEY.catalogue.facts.values())
COUNTS = dict(zip("ABCDEFGHIJK", (22, 32, 33, 17, 18, 8, 11, 16, 42, 25, 21), strict=True))
"""How many facts about networks were found in documents, section by section, each once."""


def test_the_published_schema_is_one() -> None:
    """The schema is a valid JSON Schema of draft 2020-12, with a description for people."""
    file = manifests_path() / "schema" / "catalogue.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["description"]


def test_every_fact_has_a_check_or_a_reason() -> None:
    """No fact has neither; none keeps the reason of a time before its check."""
    assert tuple(gaps(SURVEY.coverages)) == ()


def test_flows_and_limitations_name_documented_facts() -> None:
    """Every id that a flow or an entry names is in the catalogue."""
    told = unknown_facts(SURVEY.catalogue, facts_by_flow(SURVEY.flows), entries())
    assert tuple(told) == ()


def test_every_flow_exercises_a_fact() -> None:
    """A shipped flow that belongs to no documented fact would be somebody's invention."""
    assert [flow.name for flow in SURVEY.flows if not flow.facts] == []


def test_every_limitation_serves_a_fact() -> None:
    """A shipped entry has the id of a fact, or names the facts that it serves."""
    ids = SURVEY.catalogue.facts.keys()
    assert [entry.id for entry in entries() if entry.id not in ids and not entry.facts] == []


def test_no_fact_was_lost() -> None:
    """Each section has as many facts as documents were found to state."""
    found = {section.letter: len(section.facts) for section in read_catalogue().sections}
    assert found == COUNTS


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: str(fact.id))
def test_every_fact_is_written_for_people(fact: Fact) -> None:
    """Statements and reasons are sentences; sources name a document and where in it."""
    texts = [fact.statement, fact.inferred, fact.note, fact.reason.text if fact.reason else ""]
    for text in texts:
        assert not text or (text.endswith(".") and len(text) < 300), text
    for source in fact.sources:
        assert not source.document.startswith("http"), source
        assert source.section or source.address, source
