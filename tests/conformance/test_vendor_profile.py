"""Vendor profiles: what is right becomes values, what is wrong an error with file, line, key and what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from nettests.conformance.vendor_profile import Level, Own, read_vendor_profile
from nettests.errors import ManifestError
from nettests.model.versions import KubernetesVersion, WindowsBuild
from tests.conformance.claimed import DATA, FILE, PODS, SERVICES, profile, text_of


def refused(text: str) -> ManifestError:
    """Return the error of a text."""
    with pytest.raises(ManifestError) as caught:
        read_vendor_profile(text, FILE)
    return caught.value


def test_a_profile_is_read() -> None:
    """Claims by level, supported versions, and the text itself, which reports carry."""
    read = profile()
    assert read.implementation.project == "Acme CNI"
    assert [one.name for one in read.of(Level.CORE)] == ["Pod network", "Services"]
    assert read.of(Level.UNSUPPORTED)[0].reason == "OutBoundNAT brings no answer back."
    assert read.supports.kubernetes.holds(KubernetesVersion(1, 24, 17))
    assert not read.has_own_files
    assert read.text == text_of()


def test_what_is_the_vendors_own_is_named_with_its_line() -> None:
    """Paths and packages stay as they are written; errors about them have a place."""
    read = profile(
        lambda data: data.update(suites=["a", "b"], limitations=["l.yaml"], packages=["acme"])
    )
    lines = read.text.splitlines()
    assert read.suites == (
        Own(name="a", line=lines.index("- a") + 1),
        Own(name="b", line=lines.index("- b") + 1),
    )
    assert (read.limitations[0].name, read.packages[0].name) == ("l.yaml", "acme")
    assert read.has_own_files


@pytest.mark.parametrize(
    ("written", "build", "holds"),
    [
        ("17763", "17763", True),
        ("17763", "17763.9999", True),
        ("17763", "17764", False),
        (">=17763.1432 <17764", "17763.1431", False),
        (">=17763.1432 <17764", "17763.1432", True),
        (">=17763.1432 <17764", "17763", None),
        (">=17763.1432 <17764", "20348", False),
    ],
)
def test_builds_are_ranges_or_any_patch_of_one(
    written: str, build: str, holds: bool | None
) -> None:
    """Where the patch level decides and is not known, nothing is decided."""
    read = profile(lambda data: data["supports"].update(builds=[written]))
    assert read.supports.builds[0].holds(WindowsBuild.parse(build)) is holds


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str, str]] = {
    "a list for a text": (lambda d: d.update(plugin=["flannel"]), "plugin", "type"),
    "a text for features": (lambda d: d.update(features="all"), "features", "type"),
    "no feature": (lambda d: d.update(features=[]), "features", "should be non-empty"),
    "no flow": (lambda d: d["features"][0].update(flows=[]), "features.0.flows", "non-empty"),
    "a number as a version": (
        lambda d: d["supports"].update(kubernetes=1.24),
        "supports.kubernetes",
        "write a version in quotes",
    ),
    "a number as a build": (
        lambda d: d["supports"].update(builds=[17763]),
        "supports.builds.0",
        "type",
    ),
    "an unknown key": (lambda d: d.update(feature=[]), "feature", "did you mean 'features'?"),
    "an unknown level": (
        lambda d: d["features"][0].update(level="croe"),
        "features.0.level",
        "did you mean 'core'?",
    ),
    "an unknown driver": (
        lambda d: d["supports"].update(drivers=["l2brigde"]),
        "supports.drivers.0",
        "did you mean 'l2bridge'?",
    ),
    "a missing contact": (
        lambda d: d["implementation"].pop("contact"),
        "implementation",
        "contact is missing",
    ),
    "an address of a script": (
        lambda d: d["implementation"].update(url="javascript:alert(1)"),
        "implementation.url",
        "does not match",
    ),
    "a version with blanks": (
        lambda d: d["implementation"].update(version="the latest"),
        "implementation.version",
        "does not match",
    ),
    "markup as a name": (
        lambda d: d["features"][0].update(name="<script>alert(1)</script>"),
        "features.0.name",
        "does not match",
    ),
    "a path as a name": (
        lambda d: d["features"][0].update(name="../../etc"),
        "features.0.name",
        "does not match",
    ),
    "a name without an end": (
        lambda d: d["features"][0].update(name="a" * 61),
        "features.0.name",
        "too long",
    ),
    "the same flow twice in a feature": (
        lambda d: d["features"][0].update(flows=[PODS, PODS]),
        "features.0.flows",
        "non-unique",
    ),
    "a range that is none": (
        lambda d: d["supports"].update(kubernetes="1.24 or so"),
        "supports.kubernetes",
        "write for example >=1.20 <1.27",
    ),
    "a build that is none": (
        lambda d: d["supports"].update(builds=["Windows Server 2022"]),
        "supports.builds.0",
        'a build with any patch level is "20348"',
    ),
    "no core feature": (
        lambda d: d.update(features=d["features"][2:]),
        "features",
        "name what nobody should run the plugin without",
    ),
    "nothing said of why": (
        lambda d: d["features"][3].pop("reason"),
        "features.3",
        "Echo requests is unsupported, and its reason is missing",
    ),
    "a reason of blanks": (
        lambda d: d["features"][3].update(reason="  "),
        "features.3",
        "its reason is missing",
    ),
    "a reason for what works": (
        lambda d: d["features"][0].update(reason="it is good"),
        "features.0.reason",
        "only what is unsupported has a reason",
    ),
    "two features of one name": (
        lambda d: d["features"][1].update(name="POD network"),
        "features.1.name",
        "is listed twice",
    ),
    "another kind": (lambda d: d.update(kind="ClusterProfile"), "kind", "VendorProfile"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named_with_its_line(what: str) -> None:
    """Every error begins with file and line and names the key."""
    change, key, told = WRONG[what]
    error = refused(text_of(change))
    place, _, rest = error.message.partition(": ")
    file, _, line = place.partition(":")
    assert file == FILE
    assert 1 <= int(line) <= len(text_of(change).splitlines())
    assert key in rest
    assert told in str(error)


def test_a_flow_of_two_features_names_both() -> None:
    """A flow that were core and unsupported at once would pass whatever it does."""
    error = refused(text_of(lambda data: data["features"][3]["flows"].append(SERVICES)))
    lines = text_of().splitlines()
    first = lines.index("- name: Services") + 1
    assert (
        f"the flow {SERVICES} is claimed twice: by Echo requests and, in line {first}, by Services"
        in error.message
    )
    assert "a flow has one level" in error.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "None is not of type 'object'"),
        ("- a\n- b\n", "not of type 'object'"),
        ("kind: [", "not valid YAML"),
        ("a: 1\na: 2\n", "duplicate key"),
        ("a: &a [*a]\n", "stands for a part of itself"),
        ("x" * (4 << 20) + ": 1", "larger than 4 MiB"),
        ("[" * 500, "levels deep"),
        ("!!python/object/apply:os.system ['true']", "python/object/apply"),
    ],
)
def test_no_text_is_more_than_an_error(text: str, told: str) -> None:
    """What is no profile, or is made to exhaust its reader, is refused in words."""
    assert told in refused(text).message


def test_aliases_cannot_grow_without_bound() -> None:
    """Ten lines that stand for thousands of millions of nodes are not composed."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 11)]
    assert "aliases" in refused("\n".join(lines)).message


@pytest.mark.parametrize("letter", ["\u202e", "\x1b", "\u200b", "\r"])
def test_hidden_characters_are_refused_with_their_line(letter: str) -> None:
    """A report publishes the text as it is: nothing in it may reorder, hide or be obeyed."""
    text = text_of().replace("Acme CNI", f"Acme{letter} CNI")
    line = next(n for n, one in enumerate(text.split("\n"), 1) if "project" in one)
    error = refused(text)
    assert error.message.startswith(f"{FILE}:{line}: there is a hidden character: ")
    assert letter not in error.message


def test_every_required_key_is_missed() -> None:
    """Each of them left out is an error that names it."""
    for key in DATA:
        error = refused(text_of(lambda data, key=key: data.pop(key)))  # type: ignore[misc]
        assert f"{key} is missing" in error.message
