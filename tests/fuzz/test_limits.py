"""Texts that are deep, entangled or endless: a clear error at once, and never the end of the process."""

import json
import time
from pathlib import Path

import pytest

from nettests.cluster import cni, kubeproxy, networks, plugin_settings
from nettests.cluster.kubeconfig import choose
from nettests.cluster.profile_file import parse_profile
from nettests.errors import ClusterError, ManifestError
from nettests.model import limits
from nettests.model.json_text import read_json
from nettests.model.limits import TooMuchError
from nettests.model.yaml_text import read_yaml

DEEP = ["[" * 500, "[" * 500 + "]" * 500, "[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000]
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefg", "bcdefgh", strict=True)
)
TANGLED = {
    "bomb": BOMB,
    "part of itself": "&a [*a]",
    "many aliases": "a: &a 1\nb: [" + "*a, " * 1000 + "]",
    "deep blocks": "\n".join("- " * level + "x" for level in (1, 5000)),
    "deep by aliases": "a0: &a0 [x]\n"
    + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 190)),
    "large": "x: " + "y" * (limits.YAML_BYTES + 1),
    "digits": "x: " + "9" * 10_000,
    "not printable": "x: \x00",
    "half a pair": "x: \ud800",
}
HOSTILE = {**{f"deep {n}": text for n, text in enumerate(DEEP)}, **TANGLED}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_yaml_of_a_user_gets_a_clear_error(text: str) -> None:
    """A profile of that kind is refused with its name, within moments."""
    began = time.monotonic()
    with pytest.raises(ManifestError, match=r"^profile\.yaml:"):
        parse_profile(text, "profile.yaml")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_config_maps_say_nothing(text: str) -> None:
    """A ConfigMap that cannot be read leaves unknown what it would have told."""

    def data(key: str) -> dict[str, object]:
        return {"data": {key: text}}

    assert kubeproxy.config_of(None, {"kube-system/kube-proxy": data("config.conf")})[0] is None
    assert networks.kubeadm_networking(data("ClusterConfiguration")) == {}
    assert cni.flannel_network(data("net-conf.json")) == {}
    assert plugin_settings.antrea_backend({"x/y": data("antrea-agent.conf")}).value is None


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_kubeconfig_gets_a_clear_error(text: str, tmp_path: Path) -> None:
    """The client library's own reader, which knows no limits, does not get to see it."""
    file = tmp_path / "kubeconfig"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(ClusterError, match=r"the kubeconfig .* (cannot be used|was not read)"):
        choose(file, None)


@pytest.mark.parametrize("text", DEEP, ids=["open", "closed", "very deep", "objects"])
def test_deep_json_is_no_json(text: str) -> None:
    """JSON that is too deep is an error of the kind that every reader of JSON expects."""
    with pytest.raises(ValueError, match=r"levels deep|Expecting|delimiter"):
        read_json(text)


def test_json_at_the_limit_is_read() -> None:
    """What is just deep enough is data; one level more is not."""
    for depth in (1, limits.DEPTH):
        text = "[" * depth + "]" * depth
        assert json.dumps(read_json(text)) == text
    with pytest.raises(TooMuchError, match="100 levels deep"):
        read_json("[" * (limits.DEPTH + 1) + "]" * (limits.DEPTH + 1))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_no_json(number: str) -> None:
    """Python would read it, and fail where it computes with it."""
    with pytest.raises(ValueError, match=f"{number} is not a number"):
        read_json(f'{{"seconds": {number}}}')


def test_large_json_is_not_read() -> None:
    """The size is looked at first."""
    with pytest.raises(TooMuchError, match="larger than 10 bytes"):
        read_json("[1, 2, 3, 4]", most=10)


def test_honest_aliases_are_read() -> None:
    """Anchors as people use them work as before."""
    data, _ = read_yaml("a: &a {x: 1}\nb: *a\nc: [*a, *a]\n", "x")
    assert data == {"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}, {"x": 1}]}
