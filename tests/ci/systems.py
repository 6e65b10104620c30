"""How GitHub Actions, GitLab CI, Azure Pipelines and Prow run the shell of their files, and what they keep."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.ci.ci_files import AZURE, GITHUB, GITLAB, PROW, read, shells
from tests.ci.workspace import Workspace

GITHUB_BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a job ended with, and the folders that its system keeps."""

    code: int
    """The exit code that the system shows."""
    report: Path
    junit: Path
    history: Path
    summary: str
    """What stands in the job's summary, where the system has one."""
    said: str


def github(workspace: Workspace) -> Night:
    """Run every step: those after a failed one are marked ``always()``, and the first failure counts."""
    temporary = workspace.folder.parent / "runner"
    temporary.mkdir()
    summary = temporary / "summary"
    steps = [one for one in read(GITHUB)["jobs"]["nightly"]["steps"] if "run" in one]
    failed, said = 0, ""
    for step in steps:
        if failed and step.get("if") != "always()":
            continue
        known = {"RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(summary)}
        if "KUBECONFIG_TEXT" in step.get("env", {}):
            known["KUBECONFIG_TEXT"] = workspace.kubeconfig
        done = workspace.run(*GITHUB_BASH, step["run"], **known)
        failed = failed or done.returncode
        said += done.stdout + done.stderr
    assert not (temporary / "kubeconfig").exists()
    return Night(
        code=failed,
        report=workspace.folder / "report",
        junit=workspace.folder / "report" / "junit.xml",
        history=workspace.folder / "history",
        summary=summary.read_text("utf-8") if summary.exists() else "",
        said=said,
    )


def gitlab(workspace: Workspace) -> Night:
    """Run the job's lines in one shell."""
    file = _kubeconfig(workspace)
    script = "\n".join(shells(read(GITLAB)))
    done = workspace.run("bash", "-eo", "pipefail", "-c", script, NETTESTS_KUBECONFIG=str(file))
    allowed = read(GITLAB)["nettests"]["allow_failure"]["exit_codes"]
    return Night(
        code=0 if done.returncode in allowed else done.returncode,
        report=workspace.folder / "report",
        junit=workspace.folder / "report" / "junit.xml",
        history=workspace.folder / "history",
        summary="",
        said=done.stdout + done.stderr,
    )


def azure(workspace: Workspace) -> Night:
    """Run both jobs: the second one gets what the first one said that the code is."""
    first, second = read(AZURE)["jobs"]
    secret = {"KUBECONFIG_FILE": str(_kubeconfig(workspace))}
    code, said = 0, ""
    for shell in shells(first):
        done = workspace.run("bash", "--noprofile", "--norc", "-c", shell, **secret)
        code = code or done.returncode
        said += done.stdout + done.stderr
    # sample: "##vso[task.setvariable variable=code;isOutput=true]0"
    told = re.search(r"##vso\[task.setvariable variable=code;isOutput=true\](\d+)", said)
    (shell,) = shells(second)
    done = workspace.run("bash", "-c", shell, CODE=told[1] if told else "")
    summary = re.search(r"##vso\[task.uploadsummary\](.+)", said)
    return Night(
        code=code or done.returncode,
        report=workspace.folder / "report",
        junit=workspace.folder / "report" / "junit.xml",
        history=workspace.folder / "history",
        summary=Path(summary[1]).read_text("utf-8") if summary else "",
        said=said + done.stdout + done.stderr,
    )


def prow(workspace: Workspace) -> Night:
    """Run the container's command; its paths are beside the checkout here."""
    beside = workspace.folder.parent
    artifacts = beside / "artifacts"
    artifacts.mkdir()
    (container,) = read(PROW)["periodics"][0]["spec"]["containers"]
    (shell,) = container["args"]
    here = shell.replace("/etc/nettests/kubeconfig", str(_kubeconfig(workspace)))
    here = here.replace("/var/lib/nettests/history", str(beside / "history"))
    done = workspace.run(*container["command"], here, ARTIFACTS=str(artifacts))
    return Night(
        code=done.returncode,
        report=artifacts / "report",
        junit=artifacts / "junit_nettests.xml",
        history=beside / "history",
        summary="",
        said=done.stdout + done.stderr,
    )


def _kubeconfig(workspace: Workspace) -> Path:
    file = workspace.folder.parent / "secret"
    file.touch(mode=0o600)
    file.write_text(f"{workspace.kubeconfig}\n", "utf-8")
    return file


SYSTEMS: dict[str, Callable[[Workspace], Night]] = {
    GITHUB: github,
    GITLAB: gitlab,
    AZURE: azure,
    PROW: prow,
}
