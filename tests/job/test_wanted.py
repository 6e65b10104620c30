"""What somebody wants of a Job: taken as Kubernetes takes it, refused before anything is created."""

from typing import Any

import pytest

from nettests.errors import PlanError
from nettests.job.validation import Role, Wanted, checked
from tests.job.made import IMAGE, wanted

LONG = "a" * 63


@pytest.mark.parametrize(
    "given",
    [
        {"name": LONG, "namespace": LONG},
        {"name": "a" * 52, "schedule": "17 2 * * *"},
        *(
            {"schedule": one}
            for one in (
                "*/5 1-4,6 * * mon-fri",
                "0 0 1 jan ?",
                "10/20 0-23/2 31 DEC 0,sat",
                "@daily",
            )
        ),
        *({"image": one} for one in ("nettests", "r.example:5000/a/b:1", f"n@sha256:{'0' * 64}")),
        {"claim": "team.reports", "claim_size": "500Mi"},
        {"deadline": 60.0},
    ],
)
def test_what_kubernetes_takes_is_taken(given: dict[str, Any]) -> None:
    """The longest names, each form of schedule and of image."""
    assert wanted(**given) == Wanted(**{"image": IMAGE, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": f"{LONG}a"}, "has 64 characters, and Kubernetes takes 63"),
        ({"name": "a" * 53, "schedule": "17 2 * * *"}, "the CronJob has 53 characters, and Kubernetes takes 52"),
        ({"namespace": f"{LONG}a"}, "the namespace has 64"),
        *(({"name": one}, "the name of the Job cannot be") for one in ("", "Net", "-a", "a-", "a.b", "a_b", "a\n", "ä")),
        ({"namespace": "kube system"}, "the namespace cannot be 'kube system'"),
        ({"claim": "Reports"}, "the name of the claim cannot be"),
        ({"pull_secret": "x/y"}, "the pull Secret cannot be"),
        ({"webhook_secret": "https://hooks.example/x"}, "the webhook's Secret cannot be"),
        *(({"image": one}, "is not the name of an image") for one in ("", "a b", "https//x y", "-x", "x\n", "${IMAGE}")),
        *(({"schedule": one}, "is not a schedule") for one in ("17 2 * *", "daily", "@reboot", "* * * * * *", "17 2 * * *; rm")),
        ({"claim_size": "1Gi"}, "has no name"),
        *(({"claim": "x", "claim_size": one}, "is not a size") for one in ("0", "1 Gi", "-1Gi", "1GB")),
        *(({"deadline": one}, "is no limit for a run") for one in (0.0, 59.0, 1e9)),
    ],
)  # fmt: skip
def test_what_kubernetes_would_refuse_is_refused_here(given: dict[str, Any], said: str) -> None:
    """By name, before an object is made of it, and with what would be taken."""
    with pytest.raises(PlanError, match=said) as refused:
        wanted(**given)
    assert refused.value.hint or "size" in said


def test_only_the_namespaced_role_works_in_a_namespace_of_others() -> None:
    """The other two have one of their own, which is rendered."""
    assert {role: Wanted(image=IMAGE, role=role).own_namespace for role in Role} == {
        Role.DISCOVERY: True,
        Role.NAMESPACED: False,
        Role.FULL: True,
    }
    assert checked(Wanted(image=IMAGE)).role is Role.FULL
