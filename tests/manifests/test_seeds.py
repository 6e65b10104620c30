"""The shipped seed documents: every section has its rows, every row names what exists or gives a reason."""

import json
import re

import jsonschema
import pytest

from nettests.resources import manifests_path
from nettests.session.survey import survey
from scripts.seeds import (
    SeedDocument,
    Shown,
    Statement,
    cases_by_flow,
    lacking,
    mistakes_in_seeds,
    read_seeds,
    shown,
)
from tests.manifests.seed_headings import SECTIONS, TROUBLESHOOTING

SURVEY, SEEDS = survey(), read_seeds()
STATEMENTS = [one for seed in SEEDS for one in seed.statements]
NAMED = {fact for one in STATEMENTS for fact in one.facts}
FEWEST = 330
"""So many sentences the four documents state something in."""


def titled(document: str) -> str:
    """Return the title of a page, without its publisher and release."""
    # sample: "Kubernetes documentation 1.19, Intro to Windows support in Kubernetes"
    return document.partition(", ")[2]


def test_the_published_schema_is_one() -> None:
    """The schema is a valid JSON Schema of draft 2020-12, with a description for people."""
    file = manifests_path() / "schema" / "seeds.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["description"]


def test_every_section_of_every_document_has_rows() -> None:
    """Documents and sections are those that there are, in their order."""
    found = {seed.document: tuple(part.title for part in seed.sections) for seed in SEEDS}
    assert found == SECTIONS
    assert all(part.statements for seed in SEEDS for part in seed.sections)


def test_every_answer_on_troubleshooting_has_a_row() -> None:
    """The questions of the intro are numbered, and so are their rows."""
    intro = next(seed for seed in SEEDS if "Intro to Windows" in seed.document)
    part = next(one for one in intro.sections if one.title == "Getting Help and Troubleshooting")
    # sample: "3: Virtual machines need MAC address spoofing, or Pods have no network."
    numbers = {int(found[1]) for one in part.statements if (found := re.match(r"(\d+):", one.says))}
    assert numbers == set(range(1, TROUBLESHOOTING + 1))


def test_every_id_exists_and_every_row_has_one_or_a_reason() -> None:
    """Facts, flows and cases that rows name are there; no reason stands beside what exercises a row."""
    flows = cases_by_flow(SURVEY.flows)
    assert tuple(mistakes_in_seeds(SEEDS, SURVEY.by_fact, flows)) == ()


def test_no_sentence_was_lost() -> None:
    """As many as the documents were found to hold; in one section none is told twice."""
    assert len(STATEMENTS) >= FEWEST
    for seed in SEEDS:
        for part in seed.sections:
            says = [one.says for one in part.statements]
            assert len(says) == len(set(says)), part.title


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: str(seed.document))
def test_every_row_is_written_for_people(seed: SeedDocument) -> None:
    """Sentences, what is lacking, and reasons end with a full stop and fit into a table."""
    for one in seed.statements:
        for text in (one.says, one.lacks, one.reason.text if one.reason else ""):
            assert not text or (text.endswith(".") and len(text) < 300), f"{one.place}: {text}"


def test_rows_that_are_open_or_in_part_say_what_is_lacking() -> None:
    """Whoever wants to go on finds where; a fact that is pending says it itself."""
    silent = [
        one.place
        for one in STATEMENTS
        if shown(one, SURVEY.by_fact) in {Shown.PART, Shown.OPEN}
        and not lacking(one, SURVEY.by_fact)
        and not _pending(one)
    ]
    assert silent == []


def test_a_row_is_whole_only_if_its_facts_are() -> None:
    """What a fact leaves untested is lacking in each row that rests on it, whatever checks the row names."""
    untested = {name for name, each in SURVEY.by_fact.items() if each.fact.untested}
    resting = [one for one in STATEMENTS if untested.intersection(one.facts)]
    assert len(resting) > len(untested)
    for one in resting:
        assert shown(one, SURVEY.by_fact) is Shown.PART, one.place
        assert all(
            one.lacks or SURVEY.by_fact[name].fact.untested in lacking(one, SURVEY.by_fact)
            for name in untested.intersection(one.facts)
        ), one.place


def _pending(statement: Statement) -> bool:
    reasons = (SURVEY.by_fact[name].fact.reason for name in statement.facts)
    return any(reason is not None for reason in reasons)


def test_every_fact_that_cites_a_seed_document_is_named_by_a_row() -> None:
    """A fact of another source needs none: its sources say where it comes from."""
    titles = {titled(seed.document) for seed in SEEDS}
    without = {
        fact.id
        for fact in SURVEY.catalogue.facts.values()
        if not (fact.reason and fact.reason.of)
        and any(titled(source.document) in titles for source in fact.sources)
    }
    assert without
    assert without - NAMED == set()
    for fact in SURVEY.catalogue.facts.values():
        assert fact.id in NAMED or fact.sources or fact.inferred or fact.reason, fact.id
