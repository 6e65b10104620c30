"""Missing rights as roles: what is printed grants exactly what was missing. Quantities as Kubernetes spells them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.permission import CONFIG_MAPS, Permission, reviewed
from nettests.model.versions import KubernetesVersion
from nettests.preflight.demand import quantity
from nettests.preflight.evidence import defaults_of, quotas_of
from nettests.preflight.rights import roles

EVERYTHING = reviewed(KubernetesVersion(1, 35), CONFIG_MAPS, own_namespace=False)


def granted(found: list[dict[str, object]], one: Permission) -> bool:
    """Tell whether these roles allow ``one``, as RBAC would."""
    for role in found:
        place = role["metadata"].get("namespace", "")  # type: ignore[attr-defined]
        if place and place != one.namespace:
            continue
        for rule in role["rules"]:  # type: ignore[attr-defined]
            if (
                one.verb in rule["verbs"]
                and one.resource in rule["resources"]
                and one.group in rule["apiGroups"]
                and one.name in rule.get("resourceNames", [one.name])
            ):
                return True
    return False


@given(st.sets(st.sampled_from(EVERYTHING)))
def test_the_rules_grant_what_is_missing_and_nothing_else(wanted: set[Permission]) -> None:
    """For any set of missing permissions: each is granted, and none that is not among them."""
    here = {one.within("staging") for one in wanted}
    found = roles(sorted(here, key=str))
    for one in EVERYTHING:
        placed = one.within("staging")
        if placed in here:
            assert granted(found, placed), placed
    rules = [rule for role in found for rule in role["rules"]]
    pairs = sum(len(rule["verbs"]) for rule in rules)
    assert pairs == len({(o.verb, o.resource, o.group, o.name, _place(o)) for o in here})


def _place(one: Permission) -> str:
    return "" if one.namespace == "*" else one.namespace


def test_a_place_of_its_own_has_a_role_of_its_own() -> None:
    """What is needed in one namespace is not granted in all."""
    found = roles([one.within("staging") for one in EVERYTHING])
    places = {(role["kind"], role["metadata"].get("namespace")) for role in found}
    assert places == {
        ("ClusterRole", None),
        ("Role", "default"),
        ("Role", "kube-system"),
        ("Role", "staging"),
    }


@pytest.mark.parametrize(
    ("text", "number"),
    [("100", 100), ("500m", 0.5), ("1.5Gi", 1.5 * 2**30), ("2k", 2000), ("2e3", 2000)],
)
def test_a_quantity_is_a_number(text: str, number: float) -> None:
    """Decimal, binary and exponent forms are read."""
    assert quantity(text) == number


@pytest.mark.parametrize("text", ["", "1Zi", "many"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """A word or an unknown suffix is an error, never a zero."""
    with pytest.raises(ValueError, match="not a quantity"):
        quantity(text)


def test_quotas_are_read_with_what_is_used() -> None:
    """The status counts; a quota that is scoped to a class of pods concerns no probe."""
    plain = {
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "10"}},
        "status": {"hard": {"pods": "10"}, "used": {"pods": "3"}},
    }
    scoped = {**plain, "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}
    (found,) = quotas_of([plain, scoped])
    assert (found.resource, int(found.hard), int(found.used)) == ("pods", 10, 3)


def test_a_default_limit_is_a_default_request() -> None:
    """LimitRanger fills requests from limits; limits of whole pods give nothing."""
    limits = [
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "1Mi"}},
        {"type": "Pod", "max": {"cpu": "4"}},
    ]
    found = defaults_of([{"metadata": {"name": "l"}, "spec": {"limits": limits}}])
    assert {name: float(amount) for name, amount in found.items()} == {
        "limits.cpu": 1.0,
        "requests.cpu": 1.0,
        "requests.memory": 2.0**20,
    }
