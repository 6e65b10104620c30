"""Tab: shells and kubectl complete commands, options and the values that options take."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from nettests.cli import COMMANDS, main
from nettests.cli.completion import sketch

HOMES = [name for of in COMMANDS.values() for name in of]
ROOT = Path(__file__).parents[2]
BASH = """
source <(_NETTESTS_COMPLETE=bash_source nettests)
complete -p nettests
COMP_WORDS=(nettests {words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_nettests_completion nettests
echo "${{COMPREPLY[@]}}"
"""
PROGRAM = """
import sys
from click.shell_completion import ShellComplete
from nettests.cli import main
for item in ShellComplete(main, {{}}, "nettests", "").get_completions({words!r}, {last!r}):
    print(item.value)
print(*sys.modules, file=sys.stderr)
"""
COMPLETE = "import sys; from nettests.cli.kubectl_plugin import complete; complete()"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, not the one of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "nettests"


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which the programs that an installation brings are found by their names."""
    for name, words in {
        "nettests": "-m nettests",
        "kubectl_complete-nettests": f"-c '{COMPLETE}'",
        "kubectl-nettests": "-c 'from nettests.cli.kubectl_plugin import plugin; plugin()'",
    }.items():
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n', "utf-8")
        program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def told(words: list[str], environment: dict[str, str]) -> str:
    """What a program prints."""
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        ("bash", "complete -o nosort -F _nettests_completion nettests"),
        ("zsh", "#compdef nettests"),
        ("fish", "complete --no-files --command nettests"),
    ],
)
def test_each_shell_has_its_script(shell: str, says: str, on_path: dict[str, str]) -> None:
    """The variable that the guide names makes ``nettests`` print what that shell reads."""
    script = told(["nettests"], {**on_path, "_NETTESTS_COMPLETE": f"{shell}_source"})
    assert says in script
    assert f"_NETTESTS_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_command_is_completed(shell: str, on_path: dict[str, str]) -> None:
    """``nettests ru`` becomes ``nettests run`` in each shell, and nothing else."""
    # fish names the word at the cursor, the others its number.
    at = "ru" if shell == "fish" else "1"
    state = {"_NETTESTS_COMPLETE": f"{shell}_complete", "COMP_WORDS": "nettests ru"}
    answer = told(["nettests"], {**on_path, **state, "COMP_CWORD": at})
    assert [word for word in answer.replace(",", "\n").split() if word in HOMES] == ["run"]
    assert answer.startswith("plain")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ru", "run"),
        ("run --kube", "--kubeconfig"),
        ("run --fail-on n", "new"),
        ("baseline st", "stale"),
    ],
)
def test_bash_completes_with_the_script_that_it_is_given(
    words: str, completed: str, on_path: dict[str, str]
) -> None:
    """Sourced as the guide says, the script answers Tab with commands, options and their values."""
    declared, candidates = told(["bash", "-c", BASH.format(words=words)], on_path).splitlines()
    assert "_nettests_completion" in declared
    assert candidates == completed


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["ru"], ["run\tTest a cluster, judge what it does, write reports.", ":4"]),
        (["run", "--fail-on", "n"], ["new", ":4"]),
        (["run", "--baseline", ""], [":0"]),
        (["run", "--report-dir", ""], [":16"]),
        (["no-such", ""], [*HOMES, ":4"]),
    ],
    ids=" ".join,
)
def test_kubectl_is_told_what_it_may_complete(
    words: list[str], lines: list[str], on_path: dict[str, str]
) -> None:
    """Candidates line by line with their help, then whether files or folders may follow, in kubectl's own form."""
    answer = told(["kubectl_complete-nettests", *words], on_path).splitlines()
    if words[0] == "no-such":
        answer = [line.partition("\t")[0] for line in answer]
    assert answer == lines


def test_a_plugin_calls_itself_as_people_called_it(on_path: dict[str, str]) -> None:
    """Usage and errors say ``kubectl nettests``; the commands are the same."""
    text = told(["kubectl-nettests", "--help"], on_path)
    assert text.startswith("Usage: kubectl nettests [OPTIONS] COMMAND")
    assert [name for name in HOMES if f"\n  {name} " not in text] == []
    refused = subprocess.run(
        ["kubectl-nettests", "run", "--no-such"],
        env=on_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert refused.returncode == 2
    assert "Try 'kubectl nettests run --help' for help." in refused.stderr


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed here")
def test_kubectl_finds_the_plugin(on_path: dict[str, str]) -> None:
    """A real kubectl runs it, and completes its commands."""
    assert "nettests, version" in told(["kubectl", "nettests", "--version"], on_path)
    done = subprocess.run(
        ["kubectl", "__complete", "nettests", "ru"],
        env=on_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines()[0].split("\t")[0] == "run"


@pytest.mark.parametrize(
    ("words", "last", "completed"),
    [
        (["run", "--flow"], "icmp-e", ["icmp-egress"]),
        (["plan", "--flow"], "!icmp-e", ["!icmp-egress"]),
        (["run", "--lab"], "win2019-l2b", ["win2019-l2bridge"]),
        (["run", "--check"], "a/", ["a/linux-1/tcp"]),
        (["run", "--nodes"], "win-1,l", ["win-1,linux-1"]),
        (["watch", "--exclude-node"], "win", ["win-1", "win-2"]),
        (["run", "--rerun-failed"], "lat", ["latest", "latest~1"]),
        (["diff", "latest"], "reports/2", ["reports/20261128-101500-f36e"]),
        (["baseline", "stale"], "latest~", ["latest~1"]),
    ],
)
def test_values_are_completed_from_what_is_on_disk(
    words: list[str],
    last: str,
    completed: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Flows of the shipped suites, profiles, and what the latest run tested; no cluster is contacted."""
    run = tmp_path / "reports" / "20261128-101500-f36e"
    run.mkdir(parents=True)
    nodes = [{"name": name} for name in ("win-1", "win-2", "linux-1")]
    document = {"facts": {"nodes": nodes}, "checks": [{"id": "a/linux-1/tcp"}, {"id": "b/tcp"}]}
    (run / "results.json").write_text(json.dumps(document))
    (run.parent / "latest").symlink_to(run.name)
    monkeypatch.chdir(tmp_path)
    items = ShellComplete(main, {}, "nettests", "").get_completions(words, last)
    assert [item.value for item in items] == completed


@pytest.mark.parametrize("document", [None, "", "[]", '{"facts": null, "checks": {}}'])
def test_a_run_that_cannot_be_read_completes_nothing(
    document: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody wants an error in the middle of a command line."""
    monkeypatch.chdir(tmp_path)
    if document is not None:
        (tmp_path / "reports" / "latest").mkdir(parents=True)
        (tmp_path / "reports" / "latest" / "results.json").write_text(document)
    for option in ("--check", "--nodes"):
        assert ShellComplete(main, {}, "nettests", "").get_completions(["run", option], "") == []


def completed(words: list[str], last: str) -> tuple[list[str], set[str]]:
    """The candidates, and the modules that a process loaded to name them."""
    program = PROGRAM.format(words=words, last=last)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.split(), set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "last"),
    [(["run", "--flow"], "icmp-e"), (["run", "--fail-on"], "n"), (["baseline", "st"], "")],
    ids=" ".join,
)
def test_the_second_tab_imports_no_command(words: list[str], last: str) -> None:
    """What commands declare is read from the cache: neither suites nor pytest nor the Kubernetes client are loaded."""
    first, slow = completed(words, last)
    second, fast = completed(words, last)
    assert first == second
    assert "nettests.cli.options" in slow
    assert not fast & {
        "importlib.metadata",
        "pytest",
        "kubernetes",
        "yaml",
        "nettests.plan",
        "nettests.cli.options",
    }


def test_other_files_are_not_completed_from_what_is_cached(cache: Path) -> None:
    """What was made of other files is written anew, and so is one that is broken."""
    completed(["run", "--fail-on"], "n")
    file = cache / "command-run.json"
    kept = json.loads(file.read_text())
    for other in (json.dumps({**kept, "stamp": [1, *kept["stamp"][1:]], "value": {}}), "{"):
        file.write_text(other)
        assert completed(["run", "--fail-on"], "n")[0] == ["new"]
        assert json.loads(file.read_text()) == kept


def test_a_cache_that_cannot_be_written_costs_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a file where the folder would be, Tab completes all the same."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert completed(["run", "--flow"], "icmp-e")[0] == ["icmp-egress"]


@pytest.mark.parametrize("name", HOMES)
def test_what_is_completed_of_a_command_are_its_parameters(name: str) -> None:
    """The cached form offers every flag, choice and file that the command itself would."""
    whole = main._load(name)
    for command, drawn in pairs(whole, sketch(name, lambda: whole)):
        with click.Context(command) as of_command, click.Context(drawn) as of_drawn:
            for last in ("", "-", "--"):
                expected = [item.value for item in command.shell_complete(of_command, last)]
                help_options = {"-h", "--help"} if last else set()
                offered = {item.value for item in drawn.shell_complete(of_drawn, last)}
                assert offered | help_options == {*expected, *help_options}
        for parameter, copy in zip(command.params, drawn.params, strict=True):
            assert (parameter.name, parameter.opts) == (copy.name, copy.opts)
            for last in ("", "a"):
                assert values(parameter, command, last) == values(copy, drawn, last)


def pairs(
    command: click.Command, drawn: click.Command
) -> Iterator[tuple[click.Command, click.Command]]:
    """A command beside what is drawn of it, and its subcommands beside theirs."""
    yield command, drawn
    if isinstance(command, click.Group):
        assert isinstance(drawn, click.Group)
        for name, subcommand in command.commands.items():
            yield from pairs(subcommand, drawn.commands[name])


def values(parameter: click.Parameter, command: click.Command, last: str) -> list[tuple[str, str]]:
    """What a parameter offers, and of which kind."""
    with click.Context(command, resilient_parsing=True) as context:
        return [(i.type, i.value) for i in parameter.shell_complete(context, last)]
