"""What a check should observe, and which documented limitation says so.

``expect`` derives it from suites' claims and limitation manifests; ``judge`` and ``report`` read
it. It does not contain what was observed.
"""

from dataclasses import dataclass

from nettests.model.words import Category, Distribution, Outcome, SourceSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """An expected outcome, as exact as its source; ``None`` means that this part is not asserted.

    ``alternatives`` also satisfy it, if a source says that something fails but not how.
    """

    outcome: Outcome
    source_seen: SourceSeen | None = None
    distribution: Distribution | None = None
    alternatives: tuple[Outcome, ...] = ()

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome that satisfies it."""
        return (self.outcome, *self.alternatives)

    def __str__(self) -> str:
        parts = [" or ".join(outcome.value for outcome in self.outcomes)]
        if self.source_seen:
            parts.append(f"source = {self.source_seen.value}")
        if self.distribution:
            parts.append(self.distribution.value)
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The source of a rule: a document and its section, with a web address if it has one."""

    document: str
    section: str = ""
    address: str = ""

    def __str__(self) -> str:
        return f"{self.document} §{self.section}" if self.section else self.document


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLimitation:
    """A limitation that decides a check, with the facts that made its condition hold."""

    id: str
    summary: str
    layer: str
    category: Category
    mechanism: str
    sources: tuple[Source, ...]
    because: tuple[str, ...]
    """One sentence per condition, in order, with the fact's value and origin."""
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """A documented bug that this cluster may have; the outcome ``shows`` is its symptom."""

    id: str
    summary: str
    shows: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What one check should observe.

    ``limitation`` is set when a documented deviation decides. ``expected`` is ``None`` when the
    documents leave the outcome open (``unspecified``): what happens is recorded. ``undecided`` is set
    when a condition needs an unknown fact: the check can then not be judged, and says which fact.
    ``claim`` is what would be expected without the limitation.
    """

    claim: Expected
    expected: Expected | None
    limitation: AppliedLimitation | None = None
    undecided: str | None = None
    entries: tuple[str, ...] = ()
    """Ids of all manifest entries that applied: deciding, agreeing, overridden or cancelled."""
    known_bugs: tuple[KnownBug, ...] = ()
    """If the outcome is open: the known bugs among the reasons, with their symptoms. Empty if the
    documents differ, are silent or leave it to a setting."""
    among: tuple[Outcome, ...] = ()
    """If the outcome is open: those that the documents allow; empty if any is."""
