"""Layers: entries that agree, collide, override and cancel, and those that expire."""

from datetime import date

import pytest

from nettests.errors import ManifestError
from nettests.expect import Manifest, lint, resolve, unused
from nettests.expect.manifest import Layer
from nettests.expect.manifest_reading import read_manifest
from nettests.model.expectation import Expectation, Expected
from nettests.model.facts import unknown
from nettests.model.words import Distribution, Outcome, Protocol, SourceSeen
from tests.expect.entries import check, manifest
from tests.facts import cluster_facts, with_windows

FACTS = cluster_facts("win2019-l2bridge")
TIMED_OUT = "expected: {outcome: timed_out}"
REFUSED = "expected: {outcome: refused}"
TODAY = date(2026, 11, 21)


def expectation(*manifests: Manifest, **probed: object) -> Expectation:
    """Return what is expected of the default check under these manifests."""
    one = check(**probed)  # type: ignore[arg-type]  # keywords are the check's own
    return resolve([one], FACTS, manifests, today=TODAY)[one.id]


def test_without_entries_the_claim_is_expected() -> None:
    """A flow that no entry speaks of is expected to work as claimed."""
    found = expectation(manifest())
    assert (found.expected, found.limitation) == (found.claim, None)


def test_two_entries_of_one_layer_collide() -> None:
    """Different outcomes for one check are an error that names both entries, with file and line."""
    with pytest.raises(ManifestError) as caught:
        expectation(manifest(one=TIMED_OUT, two=REFUSED))
    told = str(caught.value)
    assert "one (base.yaml:5)" in told
    assert "two (base.yaml:12)" in told
    assert "timed_out and refused" in told
    assert check().id in told


def test_unspecified_collides_with_an_outcome() -> None:
    """Left open and timed out are different things."""
    with pytest.raises(ManifestError, match="unspecified"):
        expectation(manifest(one=TIMED_OUT, two="expected: unspecified"))


def test_a_collision_is_found_only_where_both_apply() -> None:
    """Conditions that exclude each other on these facts do not collide."""
    other = f"{REFUSED}\nwhen: {{source: {{dsr: true}}}}"
    assert expectation(manifest(one=TIMED_OUT, two=other)).expected == Expected(
        outcome=Outcome.TIMED_OUT
    )


def test_a_higher_layer_has_to_say_that_it_overrides() -> None:
    """Layers are no silent ranking: a different outcome without ``overrides`` is an error too."""
    with pytest.raises(ManifestError, match="overrides"):
        expectation(manifest(one=TIMED_OUT), manifest("cni", two=REFUSED))


def test_entries_that_agree_are_listed_together() -> None:
    """The first by id decides; the other is named as agreeing, and both count as used."""
    found = expectation(manifest(b=TIMED_OUT, a=TIMED_OUT))
    assert found.limitation is not None
    assert found.limitation.id == "a"
    assert found.limitation.because == ("b (base.yaml:5) expects the same",)
    assert set(found.entries) == {"a", "b"}


@pytest.mark.parametrize("layer", ["cni", "platform", "site"])
def test_overriding_replaces_the_lower_entry(layer: str) -> None:
    """The overriding entry decides where it applies."""
    found = expectation(
        manifest(one=TIMED_OUT), manifest(layer, two=f"{REFUSED}\noverrides: [one]")
    )
    assert found.expected == Expected(outcome=Outcome.REFUSED)
    assert found.limitation is not None
    assert (found.limitation.id, found.limitation.layer) == ("two", layer)


def test_an_override_that_does_not_apply_changes_nothing() -> None:
    """Overriding is bound to the overriding entry's own condition."""
    upper = manifest("cni", two=f"{REFUSED}\noverrides: [one]\nwhen: {{source: {{dsr: true}}}}")
    assert expectation(manifest(one=TIMED_OUT), upper).expected == Expected(
        outcome=Outcome.TIMED_OUT
    )


def test_cancelling_restores_the_claim() -> None:
    """Where an entry is cancelled the flow is expected to work again."""
    found = expectation(manifest(one=TIMED_OUT), manifest("site", two="cancels: [one]"))
    assert (found.expected, found.limitation) == (found.claim, None)


def test_an_entry_that_expects_the_claim_is_no_limitation() -> None:
    """What equals the claim passes; it is not reported as a deviation."""
    upper = manifest("cni", two="expected: {outcome: connected}\noverrides: [one]")
    found = expectation(manifest(one=TIMED_OUT), upper)
    assert (found.expected, found.limitation) == (found.claim, None)


def test_an_undecided_override_leaves_the_check_undecided() -> None:
    """Whether the lower entry is replaced depends on a fact that is unknown."""
    facts = with_windows(FACTS, cni_driver=unknown("it cannot be read"))
    one = check()
    for body in (f"{REFUSED}\noverrides: [one]", "cancels: [one]"):
        upper = manifest("cni", two=f"{body}\nwhen: {{source: {{driver: [overlay]}}}}")
        found = resolve([one], facts, [manifest(one=TIMED_OUT), upper])[one.id]
        assert found.undecided is not None
        assert "two depends on what is not known" in found.undecided
        assert (found.expected, found.limitation) == (None, None)


def test_cancelling_what_does_not_apply_needs_no_decision() -> None:
    """An undecided entry that cancels nothing here leaves nothing undecided."""
    facts = with_windows(FACTS, cni_driver=unknown("it cannot be read"))
    lower = manifest(one=f"{TIMED_OUT}\nwhen: {{source: {{dsr: true}}}}")
    upper = manifest("cni", two="cancels: [one]\nwhen: {source: {driver: [overlay]}}")
    one = check()
    assert resolve([one], facts, [lower, upper])[one.id].undecided is None


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ("base", ("cni", "cancels: [nosuch]"), "nosuch, unknown here"),
        ("cni", ("base", f"{REFUSED}\noverrides: [one]"), "only a higher layer"),
        ("base", ("base", f"{REFUSED}\noverrides: [one]"), "only a higher layer"),
    ],
)
def test_references_lead_to_lower_layers(lower: str, upper: tuple[str, str], said: str) -> None:
    """What is overridden exists, and stands lower; lint says the same as a run."""
    read = (manifest(lower, one=TIMED_OUT), manifest(upper[0], two=upper[1]))
    with pytest.raises(ManifestError, match=said) as caught:
        expectation(*read)
    assert caught.value.message in lint(read)


def test_one_id_stands_in_one_file() -> None:
    """The same id in two files is an error that names both places; lint says the same as a run."""
    read = (manifest(one=TIMED_OUT), manifest("cni", one=TIMED_OUT))
    with pytest.raises(ManifestError, match=r"base\.yaml:5 and cni\.yaml:5") as caught:
        expectation(*read)
    assert lint(read) == (caught.value.message,)


@pytest.mark.parametrize(
    ("today", "expired"), [(date(2026, 12, 31), False), (date(2027, 1, 1), True)]
)
def test_a_site_entry_expires(today: date, *, expired: bool) -> None:
    """On its review date an entry still holds; the day after it stops the run."""
    manifests = [manifest("site", one=TIMED_OUT)]
    one = check()
    if not expired:
        assert resolve([one], FACTS, manifests, today=today)[one.id].limitation is not None
        return
    with pytest.raises(ManifestError, match="was to be reviewed by 2026-12-31"):
        resolve([one], FACTS, manifests, today=today)


def test_expiry_is_never_overlooked() -> None:
    """Without today's date, entries that expire cannot be used."""
    with pytest.raises(ManifestError, match="today's is not known"):
        resolve([check()], FACTS, [manifest("site", one=TIMED_OUT)])


def test_what_never_applied_is_unused() -> None:
    """Unused entries are those that applied to no check; overridden and agreeing ones were used."""
    manifests = [
        manifest(
            a=TIMED_OUT,
            b=TIMED_OUT,
            never=f"{REFUSED}\nwhen: {{source: {{dsr: true}}}}",
        ),
        manifest("cni", upper=f"{REFUSED}\noverrides: [a, b]"),
    ]
    found = resolve([check()], FACTS, manifests)
    assert [entry.id for entry in unused(manifests, found)] == ["never"]


@pytest.mark.parametrize(
    ("body", "claim", "expected"),
    [
        (
            "{source: client-node}",
            Expected(outcome=Outcome.REPLIED, source_seen=SourceSeen.CLIENT_POD),
            Expected(outcome=Outcome.REPLIED, source_seen=SourceSeen.CLIENT_NODE),
        ),
        (
            "{distribution: several-backends}",
            Expected(outcome=Outcome.CONNECTED, distribution=Distribution.ONE_BACKEND),
            Expected(outcome=Outcome.CONNECTED, distribution=Distribution.SEVERAL_BACKENDS),
        ),
        (
            "{outcome: timed_out}",
            Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD),
            Expected(outcome=Outcome.TIMED_OUT),
        ),
    ],
)
def test_what_an_entry_leaves_out_is_as_claimed(
    body: str, claim: Expected, expected: Expected
) -> None:
    """Parts that are not stated stay as claimed; a negative outcome has no other parts."""
    found = expectation(manifest(one=f"expected: {body}"), claim=claim, protocol=Protocol.UDP)
    assert found.expected == expected


def test_an_unspecified_outcome_is_expected_by_nobody() -> None:
    """Left open: nothing is expected, and the entry that says so is named."""
    found = expectation(manifest(one="expected: unspecified"))
    assert found.expected is None
    assert found.undecided is None
    assert found.limitation is not None
    assert found.limitation.id == "one"


@pytest.mark.parametrize("layer", Layer)
def test_a_manifest_has_the_layer_that_it_states(layer: Layer) -> None:
    """Of the file as of each of its entries."""
    text = f"apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlayer: {layer.name.lower()}\nlimitations: []\n"
    assert read_manifest(text, "x.yaml").layer is layer
