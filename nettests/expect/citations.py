"""Check that entries claim no more than their sources: the exactness of an outcome, and the origin of a version bound.

For authors of manifests, through ``lint``. No document is read: an entry states for each source which outcome it
names, and to which patch releases a merged change was cherry-picked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from nettests.expect.manifest import Citation, Limitation
from nettests.model.versions import Bound, KubernetesVersion, VersionRange
from nettests.model.words import Outcome

WAYS_TO_FAIL = (Outcome.TIMED_OUT, Outcome.REFUSED, Outcome.UNREACHABLE, Outcome.LOST)
"""The outcomes that a document may mean by failing, unsupported or unreachable."""

# sample: "kubernetes/kubernetes pull request 113776", "Bug or Regression (#132647)"
_CHANGE = re.compile(r"pull request \d+|#\d{4,}")


def overstatements(entries: Iterable[Limitation]) -> Iterator[str]:
    """Yield one sentence for each entry that is more exact than its sources."""
    parts: defaultdict[tuple[str, str], list[Limitation]] = defaultdict(list)
    for entry in entries:
        parts[entry.file, entry.id].append(entry)
    for each in parts.values():
        for entry in each:
            yield from _too_exact(entry)
        yield from _unpicked(each)


def _too_exact(entry: Limitation) -> Iterator[str]:
    deviation = entry.deviation or entry.when_present
    if deviation is None or deviation.outcome is None:
        return
    outcomes = (deviation.outcome, *deviation.alternatives)
    named = {citation.names for citation in entry.citations} - {None}
    if len(outcomes) == 1 and outcomes[0] in WAYS_TO_FAIL and outcomes[0] not in named:
        yield (
            f"{entry.place}: {entry.id} expects {outcomes[0]} alone, which none of its sources is said to name; "
            f"list what else may be seen, or write names: {outcomes[0]} at the source that does"
        )
    for stray in sorted(name for name in named if name is not None and name not in outcomes):
        yield f"{entry.place}: {entry.id} has a source that names {stray}, which it does not expect"


def _unpicked(parts: Sequence[Limitation]) -> Iterator[str]:
    entry = parts[0]
    bounds = {bound for part in parts for version in _versions(part) for _, bound in version.bounds}
    minors = sorted(
        bound for bound in bounds if isinstance(bound, KubernetesVersion) and not bound.patch
    )
    for citation in entry.citations:
        if citation.picked is None and minors and is_change(citation):
            yield (
                f"{entry.place}: {entry.id} is bounded by the minor version {minors[-1].major}.{minors[-1].minor}, "
                f"and its source, {citation.source}, is a merged change; name the patch releases that it was picked "
                "to as picked: [...], empty if there are none"
            )
        for release in citation.picked or ():
            if not any(_ends_at(bound, release) for bound in bounds):
                yield (
                    f"{entry.place}: {entry.id} has a source that was picked to {release}, and no bound of its versions "
                    "is in that minor version from there on"
                )


def _ends_at(bound: Bound, release: KubernetesVersion) -> bool:
    """Whether a bound is that patch release, or a later one of the same minor for another change."""
    if not isinstance(bound, KubernetesVersion):
        return False
    minor = (bound.major, bound.minor) == (release.major, release.minor)
    return minor and bound.patch >= release.patch


def is_change(citation: Citation) -> bool:
    """Whether a source is a merged change, which may have been cherry-picked to patch releases of older versions."""
    source = citation.source
    here = source.document.startswith(("kubernetes/kubernetes", "Kubernetes CHANGELOG"))
    return here and bool(_CHANGE.search(f"{source.document} {source.section}"))


def _versions(entry: Limitation) -> Iterator[VersionRange]:
    condition = entry.condition
    for node in (condition.source, condition.target):
        yield from (
            version_range for version_range in (node.kubelet, node.kube_proxy) if version_range
        )
    if condition.kubernetes:
        yield condition.kubernetes
