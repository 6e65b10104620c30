"""What documents leave open, as a document: every unspecified entry with what would settle it.

The reference page that ``nettests catalogue --write-open`` makes from the limitation manifests. It renders what
they say; what a run then records is on the run's own pages.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nettests.expect import Limitation
from nettests.expect.manifest import Condition, Deviation, NodeCondition
from nettests.model.expectation import Source
from nettests.model.markdown import literal as escape
from nettests.model.words import Category
from nettests.report.text import plural

HEAD = """# Open questions

Made by `nettests catalogue --write-open`; a test compares it with the manifests.

Where documents disagree, are silent, or leave an outcome to something that no cluster tells, an entry of the [limitations](../guides/limitations.md) says `unspecified`: what happens is recorded, and nothing fails.
Here is each of them, with what would settle it.
Some are settled on your cluster by a line in the [cluster profile](cluster-profile.md).
"""
BUGS = """Whether the bug is there shows only when it is met: an outcome of the third column is the bug's.
"""
OTHERS = {
    Category.PLATFORM: "Windows, of which documents differ",
    Category.BY_DESIGN: "Settings, versions and silence",
    Category.ENVIRONMENT: "The cluster's surroundings",
}

Question = Sequence[Limitation]
"""An entry with the further places of which it says the same."""


def render_open_questions(entries: Iterable[Limitation]) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    parts: defaultdict[str, list[Limitation]] = defaultdict(list)
    for entry in entries:
        if entry.is_open:
            parts[entry.id].append(entry)
    listed = [parts[name] for name in sorted(parts)]
    bugs = [question for question in listed if question[0].category is Category.BUG]
    blocks = [HEAD, _counted(listed, bugs), f"## Known bugs\n\n{BUGS}\n{_bugs(bugs)}"]
    for category, title in OTHERS.items():
        others = [question for question in listed if question[0].category is category]
        blocks.append(f"## {title}\n\n{_others(others)}")
    return "\n".join(blocks)


def _counted(listed: Sequence[Question], bugs: Sequence[Question]) -> str:
    counts = f"{plural(len(listed), 'open question')}: {len(bugs)} for a known bug"
    for category in OTHERS:
        counts += (
            f", {sum(question[0].category is category for question in listed)} {category.value}"
        )
    return f"{counts}.\n"


def _bugs(entries: Sequence[Question]) -> str:
    head = (
        *("entry", "what is open", "where the bug is there", "holds where"),
        *("settled by", "sources"),
    )
    return _table(
        head,
        (
            (
                f"`{entry.id}`",
                escape(entry.summary),
                "<br>".join(dict.fromkeys(_shown(part.when_present) for part in (entry, *further))),
                _places(entry, *further),
                escape(entry.settled_by),
                _sources(entry),
            )
            for entry, *further in entries
        ),
    )


def _others(entries: Sequence[Question]) -> str:
    return _table(
        ("entry", "what is open", "holds where", "settled by", "sources"),
        (
            (
                f"`{entry.id}`",
                escape(entry.summary),
                _places(entry, *further),
                escape(entry.settled_by),
                _sources(entry),
            )
            for entry, *further in entries
        ),
    )


def _shown(deviation: Deviation | None) -> str:
    if deviation is None:
        return ""
    outcomes = [deviation.outcome, *deviation.alternatives] if deviation.outcome else []
    parts = [" or ".join(f"`{outcome}`" for outcome in outcomes)] if outcomes else []
    parts += [f"source `{deviation.source_seen}`"] if deviation.source_seen else []
    parts += [f"`{deviation.distribution}`"] if deviation.distribution else []
    return ", ".join(parts)


def _places(*parts: Limitation) -> str:
    return "<br>or ".join(dict.fromkeys(_where(part.condition) for part in parts))


def _where(condition: Condition) -> str:
    """Return the parts of a condition in its own words, without the operating systems."""
    cluster = [
        ("Kubernetes", condition.kubernetes),
        ("platform", condition.platform),
        ("plugin", condition.cni),
        ("backend", condition.backend),
        ("loopbackDSR", condition.loopback_dsr),
        ("placement", condition.placement),
        ("backend placement", condition.backend_placement),
        ("OutBoundNAT's exceptions", condition.nat_exception),
        ("resolver", condition.resolver),
    ]
    parts = [f"{name} `{_spelled(value)}`" for name, value in cluster if value]
    for side, node in (("source", condition.source), ("target", condition.target)):
        parts += [f"{side}: {part}" for part in [_node(node)] if part]
    return "; ".join(parts) or "everywhere"


def _node(node: NodeCondition) -> str:
    parts = [
        ("build", node.build),
        ("kubelet", node.kubelet),
        ("kube-proxy", node.kube_proxy),
        ("mode", node.mode),
        ("DSR", None if node.dsr is None else ("on" if node.dsr else "off")),
        ("driver", node.driver),
        ("runtime", node.runtime),
        ("runtime's version", node.runtime_version),
        ("firewall", node.firewall),
        ("NodePorts at loopback", node.localhost_node_ports),
        ("DNS suffixes", node.dns_suffixes),
    ]
    settings = [f"{name} `{_spelled(value)}`" for name, value in parts if value]
    system = [node.os.value.capitalize()] if node.os else []
    return ", ".join([*system, *settings])


def _spelled(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _sources(entry: Limitation) -> str:
    return "<br>".join(_source(source) for source in entry.sources)


def _source(source: Source) -> str:
    return f"[{escape(str(source))}]({source.address})" if source.address else escape(str(source))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in cells)} |\n" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("||", "\\|\\|")
