"""The tables of drivers, plugins and versions say what the manifests and the code have."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nettests.cluster.plugins import DAEMON_SETS
from nettests.lab.topology import PRODUCTS, Driver, ProxyMode, profiles
from nettests.resources import manifests_path
from tests.docs.documents import ROOT, rows, text_of
from tests.manifests.shipped import entries

PAGE = "docs/reference/drivers.md"
HEADER = "| {} | recognised by | limitations | lab profile, or why none |"
KINDS = ("drivers", "plugins", "ipam", "kube-proxy", "runtimes", "windows", "families")
LAB = manifests_path() / "lab"


def table(kind: str) -> dict[str, list[str]]:
    """The rows of one table by their first cell."""
    found = {row[0].strip("`"): row for row in rows(PAGE, HEADER.format(kind))}
    assert found, kind
    return found


def linked(cell: str) -> list[Path]:
    """The files that a cell links to."""
    return [(ROOT / PAGE).parent / target for target in re.findall(r"\]\(([^)]+)\)", cell)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_a_profile_or_a_reason(kind: str) -> None:
    """Each system says how it is recognised, and names a lab profile or says why there is none."""
    for name, row in table(kind).items():
        assert len(row) == 4, name
        assert all(len(cell) > 1 for cell in row), name
        assert linked(row[3]) or re.match(r"(none: .{10}|as `|every profile)", row[3]), name
        assert all(file.exists() for cell in row for file in linked(cell)), name


def test_every_profile_is_somewhere_in_the_tables() -> None:
    """No profile without a row, but for the one without Windows nodes."""
    named = {file.stem for kind in KINDS for row in table(kind).values() for file in linked(row[3])}
    assert named == {file.stem for file in LAB.rglob("*.yaml")} - {"linux"}


def test_every_driver_has_a_row_and_its_profiles_have_that_driver() -> None:
    """The rows are the drivers of the schema, and each links profiles of its own driver only."""
    schema = text_of_schema()
    assert set(table("drivers")) == schema
    assert {driver.value for driver in Driver} <= schema
    for name, row in table("drivers").items():
        drivers = {profiles.load(str(file)).cni.driver.value for file in linked(row[3])}
        assert drivers == ({name} if name != "nat" else set())


def text_of_schema() -> set[str]:
    """The drivers that a cluster profile may state."""
    file = manifests_path() / "schema" / "cluster-profile.schema.json"
    found = re.search(r'"driver": \{\s*"enum": \[([^\]]*)\]', file.read_text("utf-8"))
    assert found is not None
    return set(re.findall(r"\w+", found[1]))


def test_every_recognised_plugin_has_a_row() -> None:
    """Each DaemonSet name by which discovery knows a plugin stands in the table of plugins."""
    told = " ".join(row[1] for row in [*table("plugins").values(), *table("ipam").values()])
    assert [name for name in DAEMON_SETS if f"`{name}*`" not in told] == []


def test_modes_and_builds_have_rows_with_profiles_that_have_them() -> None:
    """A profile linked by a mode or a build has that mode, or a node of that build."""
    for name, row in table("kube-proxy").items():
        assert ProxyMode(name)
        for file in linked(row[3]):
            assert profiles.load(str(file)).kube_proxy.mode.value == name, file
    builds = set()
    for name, row in table("windows").items():
        own = {int(number) for number in re.findall(r"\((\d+)\)", name)}
        builds |= own
        for file in linked(row[3]):
            assert own & {node.build for node in profiles.load(str(file)).nodes}, file
    assert builds >= set(PRODUCTS)


def test_the_words_of_conditions_have_rows() -> None:
    """Plugins, drivers, modes and runtimes that entries request are those of the tables."""
    page = text_of(PAGE).lower()
    for entry in entries():
        words = [*entry.condition.cni]
        for side in (entry.condition.source, entry.condition.target):
            words += [*side.driver, *side.mode, *side.runtime]
        assert all(word.removesuffix("-cni") in page for word in words), entry.id


def test_historic_profiles_say_what_they_are() -> None:
    """A historic profile is marked as one in its file, and is called like it."""
    for file in (LAB / "historic").glob("*.yaml"):
        assert file.read_text("utf-8").startswith("# Historic: ")
        assert YAML(typ="safe").load(file)["name"] == file.stem
