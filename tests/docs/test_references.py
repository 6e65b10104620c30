"""What documents refer to is there: files, options, fields, keys; and documents keep their form."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import timedelta
from importlib import import_module
from typing import Any

import click
import pytest

from nettests.bounds import Bounds
from nettests.cli import main
from nettests.cluster.profile_file import parse_profile
from nettests.lab.cli import lab
from nettests.model.cluster_profile import AGNHOST, DiagnosticsLimits, Timing
from nettests.model.exit_code import ExitCode
from nettests.model.words import Verdict
from tests.ci.ci_files import FILES, command_lines
from tests.docs.documents import (
    ROOT,
    commands,
    documents,
    every_block,
    prose,
    rows,
    text_of,
)

REPORT = "docs/guides/reading-a-report.md"
PROFILE = "docs/reference/cluster-profile.md"
TIMING = "docs/reference/timing.md"
OTHERS = {
    "--enable-dsr": "kube-proxy",
    "--proxy-mode": "kube-proxy",
    "--source-vip": "kube-proxy",
    "--iptables-localhost-nodeports": "kube-proxy",
    "--allow-privileged": "kube-apiserver",
    "--http-override": "agnhost netexec",
    "--udp-listen-addresses": "agnhost netexec",
    "--junitxml": "pytest",
    "--lab-only": "bench/fleet.py",
    "--write-out": "curl",
    "--service-principal": "az",
    "--federated-token": "az",
    "--data-binary": "curl",
    "--render": "scripts/sample.py",
    "--preserve-credentials": "nsenter",
    "--query": "az",
    "--file": "az aks get-credentials",
    "--disable-windows-outbound-nat": "az",
    "--user": "nsenter",
    "--net": "nsenter",
}
"""Options of other programs that documents speak of."""


def links() -> Iterator[tuple[str, str]]:
    # sample: "[ARCHITECTURE.md](ARCHITECTURE.md)", "[a schema](../nettests/report/junit.xsd)"
    pattern = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
    for document in documents():
        for target in pattern.findall(text_of(document)):
            yield document, target


def test_links_within_the_repository_lead_somewhere() -> None:
    """Every relative link of a document names a file that is there."""
    missing = [
        (where, to) for where, to in links() if not (ROOT / where).parent.joinpath(to).exists()
    ]
    assert missing == []


def test_every_page_is_reached() -> None:
    """Following links from README.md and docs/README.md leads to every page below docs."""
    reached, left = set(), [ROOT / "README.md", ROOT / "docs" / "README.md"]
    targets = list(links())
    while left:
        page = left.pop()
        reached.add(page)
        here = str(page.relative_to(ROOT))
        pages = [(page.parent / to).resolve() for where, to in targets if where == here]
        left += [to for to in pages if to.suffix == ".md" and to not in reached]
    assert set((ROOT / "docs").rglob("*.md")) - reached == set()


def test_paths_in_code_spans_exist() -> None:
    """A code span that looks like a path of the repository is one."""
    # sample: `tests/acceptance/test_no_table.py`, `nettests/lab/network`, `manifests/lab/`
    pattern = re.compile(r"`((?:nettests|tests|suites|manifests|scripts|docs|ci)/[\w./-]+)`")
    missing = [
        (document, path)
        for document in documents()
        for path in pattern.findall(prose(document))
        if not (ROOT / path).exists()
    ]
    assert missing == []


def test_where_things_are_is_answered_within_three_files() -> None:
    """Each question of the architecture's table has an answer of one to three paths, and all of them exist."""
    answers = rows("ARCHITECTURE.md", "| question | open |")
    assert len(answers) >= 8
    for question, answer in answers:
        # sample: `nettests/bounds.py`, `manifests/lab/`, `CONTRIBUTING.md`
        paths = re.findall(r"`([\w./-]+(?:\.(?:py|md)|/))`", answer)
        assert 1 <= len(paths) <= 3, question
        assert [path for path in paths if not (ROOT / path).exists()] == [], question


def test_a_line_of_prose_is_one_sentence() -> None:
    """Outside blocks and tables a line ends with its sentence, so that differences read well."""
    own = [name for name in documents() if name.startswith(("docs/", "ARCH", "CONTR", "CHANGE"))]
    # sample: "A run asks beforehand. It refuses to start."
    several = re.compile(r"[a-z0-9`*)\"][.?!] +[A-Z`*]")
    found = [
        (document, line)
        for document in own
        for line in prose(document).splitlines()
        if not line.startswith("|") and several.search(re.sub(r"^\s*\d+\. ", "", line))
    ]
    assert found == []


def options_of(command: click.Command) -> set[str]:
    """The options that a command takes."""
    return {name for one in command.params for name in one.opts} | {"--help", "-h"}


def tree(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """A command with all that is below it, by the words that call it."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from tree(below, f"{name} {word}")


COMMANDS = {**dict(tree(main, "nettests")), **dict(tree(lab, "nettests lab"))}


def called(line: str) -> Iterator[tuple[str, list[str]]]:
    """Each call of nettests in a shell line: the command's words, and the rest up to its end."""
    # sample: "nettests discover --kubeconfig $(nettests lab kubeconfig --name look)"
    while inner := re.search(r"\$\(([^()]*)\)", line):
        yield from called(inner[1])
        line = line.replace(inner[0], "…")
    for found in re.finditer(r"(?:^|[!&] )(nettests [^|>&]*)", line.strip()):
        words = found[1].split()
        depth = max(n for n in range(1, len(words) + 1) if " ".join(words[:n]) in COMMANDS)
        yield " ".join(words[:depth]), words[depth:]


def test_options_of_commands_in_blocks_exist() -> None:
    """Every option that a command line shows is one that this very command takes."""
    wrong = [
        (block.place, command, word)
        for block in every_block("sh", "console")
        for line in commands(block)
        for command, rest in called(line)
        for word in rest[: rest.index("--") if "--" in rest else None]
        if word.startswith("-") and word.partition("=")[0] not in options_of(COMMANDS[command])
    ]
    assert wrong == []


@pytest.mark.parametrize("file", FILES)
def test_commands_in_ci_files_exist(file: str) -> None:
    """The shell of a CI file calls commands that are there, with options that they take."""
    calls = [call for line in command_lines(file) for call in called(line)]
    assert {command for command, _ in calls} == {"nettests run", "nettests history"}
    words = [(command, word) for command, rest in calls for word in rest if word[:2] == "--"]
    assert {"--kubeconfig", "--baseline", "--fail-on", "--html"} <= {word for _, word in words}
    assert [one for one in words if one[1] not in options_of(COMMANDS[one[0]])] == []


def test_options_in_prose_exist(pytestconfig: pytest.Config) -> None:
    """Every option in a code span belongs to one of our commands, or to a program that is named here."""
    known = {name for command in COMMANDS.values() for name in options_of(command)}
    known |= OTHERS.keys()
    # sample: `--limitations`, `nettests lab up --profile win2019-l2bridge`
    spans = (
        (document, span)
        for document in documents()
        for span in re.findall(r"`([^`\n]+)`", prose(document))
    )
    wrong = [
        (document, word)
        for document, span in spans
        for word in re.findall(r"(?<!\S)--[a-z][\w-]*", span)
        if word not in known
    ]
    assert wrong == []
    assert pytestconfig.getoption("--report-dir", "reports") == "reports"


def test_commands_in_prose_exist() -> None:
    """A code span that calls nettests calls a command that is there, with options that it takes."""
    wrong = []
    for document in documents():
        # sample: `nettests gc --run <run id> --yes`, `nettests run … -- -k '<part of its id>'`
        for span in re.findall(r"`nettests ([^`\n]+)`", prose(document)):
            words = span.split()
            path = "nettests"
            while words and f"{path} {words[0]}" in COMMANDS:
                path = f"{path} {words.pop(0)}"
            own = words[: words.index("--")] if "--" in words else words
            options = [word for word in own if word.startswith("-")]
            known = options_of(COMMANDS[path])
            lacks = [word for word in options if word.partition("=")[0] not in known]
            names_none = isinstance(COMMANDS[path], click.Group) and own and not options
            if names_none or lacks:
                wrong.append((document, span))
    assert wrong == []


def test_targets_of_make_in_documents_exist() -> None:
    """Whatever a document says to make is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = [
        (document, target)
        for document in documents()
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text_of(document), re.MULTILINE)
    ]
    assert [one for one in named if one[1] not in targets] == []


def field(value: Any, path: str) -> Any:
    """Return what ``checks[].source.kind`` names in a document; ``KeyError`` when nothing has it."""
    part, _, rest = path.partition(".")
    found = value[part.removesuffix("[]")]
    if not part.endswith("[]"):
        return field(found, rest) if rest else found
    for item in found:
        with suppress(KeyError):
            return field(item, rest)
    raise KeyError(path)


def test_fields_of_results_exist() -> None:
    """Every field that the guide names is in the sample's results."""
    results = json.loads((ROOT / "reports" / "sample" / "results.json").read_text("utf-8"))
    names = [
        name
        for cells in rows(REPORT, "| field | meaning |")
        for name in re.findall(r"`([^`]+)`", cells[0])
    ]
    assert len(names) > 40
    for name in names:
        field(results, name)


def test_every_verdict_is_explained() -> None:
    """Architecture and guide have a row for each verdict, once."""
    verdicts = {verdict.value for verdict in Verdict}
    one = [cells[0].strip("`") for cells in rows("ARCHITECTURE.md", "| verdict | when | pytest |")]
    other = [cells[1].strip("`") for cells in rows(REPORT, "| | verdict | what to do |")]
    assert set(one) == set(other) == verdicts
    assert len(one) == len(other) == len(verdicts)


def test_every_exit_code_is_explained() -> None:
    """The guide names the codes that a run may end with."""
    codes = [cells[0] for cells in rows(REPORT, "| code | when |")]
    told = {int(code) for cell in codes for code in cell.split(",")}
    assert told == {*ExitCode}


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The dotted keys of a schema that hold values."""
    for name, below in schema.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        if "properties" in below and name not in {"timing", "diagnostics"}:
            yield from leaves(below, here)
        else:
            yield here


def test_every_key_of_the_cluster_profile_is_explained() -> None:
    """The reference has a row for each key of the schema, and no other, with the shipped image."""
    text = (ROOT / "manifests" / "schema" / "cluster-profile.schema.json").read_text("utf-8")
    table = rows(PROFILE, "| key | meaning | without it |")
    assert [cells[0].strip("`") for cells in table if cells] != []
    told = {cells[0].strip("`") for cells in table}
    assert told == set(leaves(json.loads(text))) - {"apiVersion", "kind"}
    assert AGNHOST in text_of(PROFILE)


def test_every_delay_is_explained_with_its_default() -> None:
    """The reference has a row for each value of a run's timing, as the code has it."""
    told = {}
    for key, value, *_ in rows(TIMING, "| key | default | what it bounds |"):
        read = parse_profile(
            "{apiVersion: nettests.dev/v1alpha1, kind: ClusterProfile, "
            f"timing: {{{key.strip('`')}: {value.split()[0]}}}}}",
            TIMING,
        )
        assert read.timing == Timing(), key
        told[key.strip("`")] = value
    assert len(told) == len(fields(Timing))


def test_every_constant_that_bounds_a_wait_is_named_with_its_value() -> None:
    """What waits or retries without a key of the profile has a row with its value."""
    # sample: POLL_SECONDS = 0.2
    pattern = re.compile(
        r"^([A-Z_]*(?:SECONDS|TRIES|PAUSE|PATIENCE|ROUNDS|IN_A_ROW|RENEWALS|EXPIRES_AFTER)) =",
        re.MULTILINE,
    )
    found = {
        f"{'.'.join(path.relative_to(ROOT / 'nettests').with_suffix('').parts)}.{name}"
        for part in (
            "cluster",
            "probes",
            "rules",
            "session",
            "capture",
            "diagnose",
            "plugin",
            "cli",
        )
        for path in (ROOT / "nettests" / part).rglob("*.py")
        for name in pattern.findall(path.read_text("utf-8"))
    }
    told: dict[str, float] = {}
    for name, value, *_ in rows(TIMING, "| constant | value | what it bounds |"):
        digits, _, unit = value.partition(" ")
        told[name.strip("`")] = float(digits) * (3600 if unit == "h" else 1)
    assert set(told) == found
    for name, number in told.items():
        module, _, constant = name.rpartition(".")
        has = getattr(import_module(f"nettests.{module}"), constant)
        assert (has.total_seconds() if isinstance(has, timedelta) else has) == number, name


def test_every_bound_on_what_happens_at_once_is_explained_with_its_value() -> None:
    """The reference has a row for each field of ``Bounds``, with the value that it has."""
    told = {
        name.strip("`"): float(value.partition(" ")[0])
        for name, value, *_ in rows(TIMING, "| bound | value | what it bounds |")
    }
    assert told == asdict(Bounds())


def test_every_bound_of_diagnostics_is_explained_with_its_default() -> None:
    """The reference has a row for each bound of what is collected, as the code has it."""
    bounds = rows(TIMING, "| key of `diagnostics` | default | what it bounds |")
    for key, value, *_ in bounds:
        read = parse_profile(
            "{apiVersion: nettests.dev/v1alpha1, kind: ClusterProfile, "
            f"diagnostics: {{{key.strip('`')}: {value}}}}}",
            TIMING,
        )
        assert read.diagnostics == DiagnosticsLimits(), key
    assert len(bounds) == len(fields(DiagnosticsLimits))


def test_the_readme_says_how_many_checks_the_sample_has() -> None:
    """The hundreds that its text names, and the counts of its summary, are those of the committed run."""
    coverage = json.loads((ROOT / "reports/sample/results.json").read_text())["coverage"]
    text, ran = (ROOT / "README.md").read_text("utf-8"), coverage["ran"]
    named = re.findall(r"runs more than (\d+) checks", text)
    assert {*named} == {str(ran // 100 * 100)}
    counted = f"{coverage['due']} checks planned: {ran} ran, {coverage['skipped']} skipped, in "
    assert counted in text


def test_the_modules_of_one_check_exist_and_are_counted() -> None:
    """Each row of the page names modules that are there, as many as it says, and the last row has their sum."""
    listed = rows(
        "docs/reference/one-check.md",
        "| package | before | now | what it does with the check | modules now |",
    )
    *packages, total = listed
    for package, _, now, _, modules in packages:
        name = package.strip("`")
        folder = ROOT / "nettests" / ("" if name.endswith(".py") else name)
        files = [module.strip("` ").removesuffix(".py") for module in modules.split(",")]
        assert [one for one in files if not (folder / f"{one}.py").is_file()] == [], package
        assert int(now) == len(files), package
    for column in (1, 2):
        assert int(total[column]) == sum(int(one[column]) for one in packages)
