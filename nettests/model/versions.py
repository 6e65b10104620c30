"""Comparable versions: Kubernetes releases and Windows builds with their patch level.

Limitation manifests contain ranges of both; discovery reads both from node objects. Parsing is
strict: anything else raises ``ValueError``, which discovery turns into an unknown fact.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import total_ordering
from typing import Any

import semver


@total_ordering
@dataclass(frozen=True, slots=True)
class KubernetesVersion:
    """A Kubernetes release, compared without vendor suffixes (``v1.29.4-eks-036c24b`` = 1.29.4)."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> "KubernetesVersion":
        """Read ``v1.36.2``, ``1.36``, ``v1.29.4-eks-036c24b`` or ``1.27+``; else ``ValueError``."""
        # sample: "v1.29.4-eks-036c24b", "v1.30.0+rke2r1", "1.27+"
        match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", text.strip())
        if match is None:
            raise ValueError(f"not a Kubernetes version: {text!r}")
        numbers = semver.Version(*(int(part or 0) for part in match.groups()))
        return cls(numbers.major, numbers.minor, numbers.patch)

    def __lt__(self, other: "KubernetesVersion") -> bool:
        return self._key < other._key

    @property
    def _key(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


WIDER_SKEW = KubernetesVersion(1, 28)
"""From this API server on, node components may be three minor versions older, not two."""

_LAST_PATCH = 999
"""Above every patch release: an upper bound for a whole minor version."""


def minors_behind(server: KubernetesVersion) -> int:
    """Return how many minor versions a kubelet or kube-proxy may be older than its API server.

    Source: Kubernetes documentation, Version Skew Policy; neither may be newer.
    """
    return 3 if server >= WIDER_SKEW else 2


WIDER_PROXY_SKEW = KubernetesVersion(1, 25)
"""From this kube-proxy on, it may be three minor versions off the node's kubelet, not two."""


def minors_beside(proxy: KubernetesVersion) -> int:
    """Return how many minor versions kube-proxy may be older or newer than the kubelet on its node.

    Source: Kubernetes documentation, Version Skew Policy. Until April 2023 it demanded the same
    minor version, which kubernetes/website #40672 withdrew for all releases; #40932 then allowed
    two, #42218 three from 1.25 on.
    """
    return 3 if proxy >= WIDER_PROXY_SKEW else 2


@total_ordering
@dataclass(frozen=True, slots=True)
class WindowsBuild:
    """A Windows build with its patch level (UBR): ``17763.1339``.

    A build with an unknown patch level compares as its lowest patch; ``patch_known`` is then false,
    and conditions on patch levels are undecided.
    """

    build: int
    patch: int | None = None

    @classmethod
    def parse(cls, text: str) -> "WindowsBuild":
        """Read ``17763``, ``17763.1339``, ``10.0.17763`` or ``10.0.17763.1339``; else ``ValueError``."""
        # sample: nodeInfo.kernelVersion "10.0.17763.1339"; label windows-build "10.0.17763"
        match = re.fullmatch(r"(?:10\.0\.)?(\d{5})(?:\.(\d+))?", text.strip().split(" ")[0])
        if match is None:
            raise ValueError(f"not a Windows build: {text!r}")
        return cls(int(match[1]), int(match[2]) if match[2] else None)

    @property
    def patch_known(self) -> bool:
        """Whether the patch level was read."""
        return self.patch is not None

    def __lt__(self, other: "WindowsBuild") -> bool:
        return (self.build, self.patch or 0) < (other.build, other.patch or 0)

    def __str__(self) -> str:
        return f"{self.build}" if self.patch is None else f"{self.build}.{self.patch}"


Bound = KubernetesVersion | WindowsBuild

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Bounds such as ``>=17763.1432 <20348``; ``<1.24.10 || >=1.25 <1.25.6`` is either of two conjunctions.

    A change cherry-picked to patch releases of several minor versions has a bound in each.
    """

    text: str
    spans: tuple[tuple[tuple[str, Bound], ...], ...]

    @classmethod
    def parse(cls, text: str, kind: type[KubernetesVersion] | type[WindowsBuild]) -> "VersionRange":
        """Read bounds separated by blanks or commas; ``ValueError`` names the bound it cannot read."""
        return cls(text, tuple(_span(part, kind) for part in text.split("||")))

    @property
    def bounds(self) -> tuple[tuple[str, Bound], ...]:
        """The bounds of all its conjunctions."""
        return tuple(bound for span in self.spans for bound in span)

    def holds(self, version: Bound) -> bool:
        """Whether every bound of a conjunction holds for ``version``."""
        return any(
            all(_OPERATORS[sign](version, bound) for sign, bound in span) for span in self.spans
        )

    def holds_within_skew(self, server: KubernetesVersion) -> bool | None:
        """Whether it holds for every version of a node component allowed with ``server``.

        ``None`` if only some of the versions that the skew policy allows are inside.
        """
        oldest = KubernetesVersion(server.major, max(server.minor - minors_behind(server), 0))
        newest = replace(server, patch=_LAST_PATCH)
        settled = [_settled(span, oldest, newest) for span in self.spans]
        if True in settled:
            return True
        return None if None in settled else False

    def decides_by_patch(self, version: WindowsBuild) -> bool:
        """Whether a bound lies within ``version``'s own build, so that its patch level decides."""
        return any(
            isinstance(bound, WindowsBuild) and bound.build == version.build and bound.patch
            for _, bound in self.bounds
        )

    def __str__(self) -> str:
        return self.text


def _span(
    text: str, kind: type[KubernetesVersion] | type[WindowsBuild]
) -> tuple[tuple[str, Bound], ...]:
    bounds = []
    for part in re.split(r"[\s,]+", text.strip()):
        # sample: ">=17763.1432", "<1.27"
        match = re.fullmatch(r"(>=|<=|==|>|<)(\S+)", part)
        if match is None:
            raise ValueError(f"not a version bound: {part!r} (write for example >=1.20 <1.27)")
        bounds.append((match[1], kind.parse(match[2])))
    return tuple(bounds)


def _settled(
    span: tuple[tuple[str, Bound], ...], oldest: KubernetesVersion, newest: KubernetesVersion
) -> bool | None:
    ends = [
        (sign, _OPERATORS[sign](oldest, bound), _OPERATORS[sign](newest, bound))
        for sign, bound in span
    ]
    if all(low and high for _, low, high in ends):
        return True
    # A one-sided bound that holds for neither end holds for nothing between them.
    excluded = any(sign != "==" and not (low or high) for sign, low, high in ends)
    return False if excluded else None
