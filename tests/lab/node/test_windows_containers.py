"""What a Windows container finds as it starts: variables, directory, account, and what the runtime says without one."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.interfaces import Process
from nettests.lab.mounted.files import Volume
from nettests.lab.node.container_state import ContainerLog
from nettests.lab.node.context import NodeContext
from nettests.lab.node.images import find
from nettests.lab.node.preparation import Run, StartFailedError
from nettests.lab.topology import WindowsSettings
from tests.lab.node import nowhere

Json = dict[str, Any]
ID = "0123456789abcdef0123456789abcdef"
SYSTEM = r"NT AUTHORITY\SYSTEM"
ROOTS = {"0.9": rf"C:\C\{ID}", "0.11": rf"C:\hpc\{ID}", "0.12": r"C:\hpc"}
"""Of an old Windows Server 2019, on which the second one finds no bind filter, and the third one is told of it."""


def node(shim: str) -> NodeContext:
    """Return a Windows node with a shim."""
    context = nowhere.node("win-1")
    settings = WindowsSettings(hcsshim=shim, bind_filter=shim == "0.12")
    return replace(context, profile=replace(context.profile, windows=settings))


def process(
    shim: str = "0.12",
    *,
    user: str = SYSTEM,
    host_process: bool = True,
    image: str = nowhere.IMAGE,
    **container: Any,
) -> Process:
    """Return the process of a container before it starts."""
    options = {"windowsOptions": {"runAsUserName": user}} if user else {}
    spec: Json = {"name": "c", "image": image, "securityContext": options, **container}
    context = node(shim)
    return Run(
        node=context,
        pod=nowhere.pod(containers=[spec]),
        spec=spec,
        sandbox=nowhere.sandbox(host_process=host_process),
        image=find(image, context.spec, host_process=host_process),
        container_id=ID,
        message=Volume(),
    ).process(ContainerLog())


@pytest.mark.parametrize("shim", ROOTS)
def test_a_host_process_container_knows_where_its_image_is(shim: str) -> None:
    """With a backslash at the end, which the text that replaces the variable lacks; since 0.10 it is in PATH too."""
    made = process(shim, env=[{"name": "HERE", "value": r"%CONTAINER_SANDBOX_MOUNT_POINT%\a"}])
    variables, root = made.environment, ROOTS[shim]
    assert variables["CONTAINER_SANDBOX_MOUNT_POINT"] == f"{root}\\"
    assert variables["HERE"] == rf"{root}\a"
    extended = rf";{root}\;C:\WINDOWS\System32\WindowsPowerShell\v1.0\;C:\WINDOWS\System32\Wbem"
    assert variables["PATH"].endswith(extended) == (shim != "0.9")
    assert (variables["COMPUTERNAME"], variables["USERNAME"]) == ("WIN-1", "SYSTEM")


def test_variables_of_the_image_stand_in_place_of_the_hosts_whatever_their_case() -> None:
    """So that the host's PATH is gone, and PowerShell's cache is sought where the image has it."""
    variables = process(
        env=[{"name": "empty", "value": ""}, {"name": "os", "value": "x"}]
    ).environment
    assert [name for name in variables if name.lower() == "path"] == ["PATH"]
    assert variables["PATH"].startswith("C:\\dig\\;C:\\bin\\;")
    assert "ContainerAdministrator" in variables["PSModuleAnalysisCachePath"]
    assert "empty" not in variables
    assert variables["os"] == "x"
    assert "OS" not in variables


def test_a_container_of_its_own_has_none_of_the_hosts_variables() -> None:
    """Its image's, and the name of its computer, which NetBIOS cuts."""
    variables = process(user="", host_process=False).environment
    assert variables["COMPUTERNAME"] == "P"
    assert "ComSpec" not in variables
    assert (
        "PATH"
        not in process(
            user="", host_process=False, image="mcr.microsoft.com/windows/nanoserver:1809"
        ).environment
    )


@pytest.mark.parametrize(
    ("shim", "wanted", "directory"),
    [
        ("0.9", "", ROOTS["0.9"]),
        ("0.9", r"C:\work\dir", ROOTS["0.9"] + r"\work\dir"),
        ("0.9", r"$env:CONTAINER_SANDBOX_MOUNT_POINT\a", ROOTS["0.9"] + r"\a"),
        ("0.11", r"C:\work", ROOTS["0.11"] + r"\work"),
        ("0.12", r"C:\work", r"C:\work"),
        ("0.12", r"%CONTAINER_SANDBOX_MOUNT_POINT%\a", r"C:\hpc\a"),
    ],
)
def test_a_directory_counts_below_the_image_unless_that_is_bound(
    shim: str, wanted: str, directory: str
) -> None:
    """Unless it names the image's place itself."""
    assert process(shim, workingDir=wanted).working_directory == directory


@pytest.mark.parametrize(
    ("shim", "user", "account"),
    [
        ("0.9", SYSTEM, SYSTEM),
        ("0.12", r"NT AUTHORITY\Local service", r"NT AUTHORITY\Local service"),
        ("0.12", "Administrators", "win-1\\0123456789abcdef0123"),
        ("0.9", "Administrators", None),
        ("0.12", r"nt authority\system", None),
        ("0.12", "ContainerAdministrator", None),
        ("0.12", "", None),
    ],
)
def test_only_accounts_without_a_password_can_be_logged_on(
    shim: str, user: str, account: str | None
) -> None:
    """Those of the system by the exact name of their domain, and since 0.10 members of groups; not the image's own."""
    if account is not None:
        assert process(shim, user=user).machine.user == account
        return
    with pytest.raises(StartFailedError) as refused:
        process(shim, user=user)
    assert str(refused.value) == (
        "failed to create user process token: failed to logon user: "
        "The user name or password is incorrect.: unknown"
    )
