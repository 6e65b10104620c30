"""The published role grants what a run asks for, and no more than a run uses."""

from ruamel.yaml import YAML

from nettests.cluster.permissions import NEEDED
from nettests.resources import manifests_path

ROLE = YAML(typ="safe").load((manifests_path() / "rbac" / "nettests.yaml").read_text("utf-8"))


def test_the_role_grants_every_permission_that_is_reviewed() -> None:
    """Whoever binds the role passes discovery's review without a denial."""
    granted = {
        (group, resource, verb)
        for rule in ROLE["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    for item in NEEDED:
        assert (item.group, item.resource, item.verb) in granted


def test_the_role_names_no_wildcard_and_no_secret() -> None:
    """A network test has no business with secrets, and a wildcard would hide what it needs."""
    text = str(ROLE["rules"])
    assert "*" not in text
    assert "secrets" not in text
