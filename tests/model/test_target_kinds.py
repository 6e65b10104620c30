"""The descriptors of target kinds: what must hold of them together, whatever kinds there are."""

import pytest

from nettests.model.target_kinds import Location, Naming, Owner, Proxy, ShownBy, descriptor
from nettests.model.words import TargetKind

EVERY = pytest.mark.parametrize("kind", TargetKind)


@EVERY
def test_every_kind_can_be_named(kind: TargetKind) -> None:
    """Incidents have a noun for what is reached, or reports have a heading for what stands on no node."""
    found = descriptor(kind)
    assert found.noun or found.heading


@EVERY
def test_a_heading_stands_for_a_node_that_is_missing(kind: TargetKind) -> None:
    """What belongs to a node's pod, to a Service or to a node is headed by its pool; the rest by words."""
    found = descriptor(kind)
    placed = found.owner in {
        *(Owner.POD, Owner.SOURCE, Owner.SERVICE, Owner.NODE, Owner.NODE_PORT, Owner.HOST_PORT),
        Owner.OUTSIDE,
    }
    assert placed is not bool(found.heading)


@EVERY
def test_only_services_are_translated(kind: TargetKind) -> None:
    """A Service proxy translates what is sent to a Service, or to a port of a node that belongs to one."""
    found = descriptor(kind)
    assert not found.translated or found.owner in {Owner.SERVICE, Owner.NODE_PORT, Owner.CLUSTER}
    assert found.proxy is not Proxy.TARGET or found.owner is Owner.NODE_PORT


@EVERY
def test_what_nothing_is_sent_to_has_neither_place_nor_control(kind: TargetKind) -> None:
    """The API server, a configuration and a Pod to be made are nowhere, and no other path shows them."""
    found = descriptor(kind)
    pathless = found.owner in {Owner.NOTHING, Owner.CHECK}
    assert pathless is (found.location is Location.NOWHERE)
    assert pathless is (found.shown_by is ShownBy.NOTHING)


@EVERY
def test_another_name_shows_names_alone(kind: TargetKind) -> None:
    """A control by another name is for targets that a resolver is queried for."""
    found = descriptor(kind)
    by_name = found.shown_by in {ShownBy.FULL_NAME, ShownBy.KUBERNETES_NAME}
    assert not by_name or found.by_name


def test_the_words_of_descriptors_are_all_used() -> None:
    """No word is left over that a ``match`` would have to decide for nothing."""
    found = [descriptor(kind) for kind in TargetKind]
    assert {one.owner for one in found} == set(Owner)
    assert {one.location for one in found} == set(Location)
    assert {one.naming for one in found} == set(Naming)
    assert {one.proxy for one in found} == set(Proxy)
    assert {one.shown_by for one in found} == set(ShownBy)
