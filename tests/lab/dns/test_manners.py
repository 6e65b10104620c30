"""Which names a resolver requests: the documented difference between Linux and Windows."""

import pytest

from nettests.lab.dns import clients
from nettests.lab.interfaces import ResolverConfig

CONFIG = ResolverConfig(
    servers=("10.96.0.10",),
    searches=("demo.svc.cluster.local", "svc.cluster.local", "cluster.local"),
)
SUFFIXED = [f"kubernetes.{suffix}." for suffix in CONFIG.searches]


def test_linux_walks_the_list_before_the_bare_name() -> None:
    """Fewer dots than ``ndots``: suffixes first, the name itself last."""
    assert list(clients.linux_candidates(CONFIG, "web.demo")) == [
        "web.demo.demo.svc.cluster.local.",
        "web.demo.svc.cluster.local.",
        "web.demo.cluster.local.",
        "web.demo.",
    ]


def test_linux_tries_a_name_with_enough_dots_first() -> None:
    """``ndots`` dots or more: the name itself first."""
    name = "a.b.c.d.e.f"
    assert next(iter(clients.linux_candidates(CONFIG, name))) == f"{name}."


@pytest.mark.parametrize("candidates", [clients.linux_candidates, clients.windows_candidates])
def test_an_absolute_name_is_queried_alone(candidates: object) -> None:
    """A final dot ends the search on both systems."""
    assert callable(candidates)
    assert list(candidates(CONFIG, "web.demo.")) == ["web.demo."]


def test_windows_gives_a_dot_less_name_the_suffixes_only() -> None:
    """A name without a dot is never run bare."""
    assert list(clients.windows_candidates(CONFIG, "kubernetes")) == SUFFIXED


@pytest.mark.parametrize("name", ["kubernetes.default", "kubernetes.default.svc"])
def test_windows_takes_a_dotted_name_for_final(name: str) -> None:
    """A name that contains a dot gets no suffix."""
    assert list(clients.windows_candidates(CONFIG, name)) == [f"{name}."]
