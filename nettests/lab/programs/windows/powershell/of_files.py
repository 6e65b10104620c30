"""Cmdlets about files of a node, and about programs in a container: what components left, what scripts wrote."""

import fnmatch
import ntpath
from collections.abc import MutableMapping
from typing import Any

from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, many, text, whole

_PATHS = "Path! LiteralPath"
_MISSING = "System.Management.Automation.ItemNotFoundException"


def _files(call: Call) -> MutableMapping[str, str]:
    node = call.session.process.machine.node
    return node.disk.files if node is not None else {}


def _paths(call: Call) -> list[tuple[str, bool]]:
    """Return the paths that are meant, and whether wildcards in them count; files come by the pipeline too."""
    literal = [(text(each), False) for each in call.list("literalpath")]
    given = [(text(each), True) for each in call.list("path")]
    piped = [
        (text(each.properties.get("FullName") if isinstance(each, Thing) else each), False)
        for each in call.input or ()
    ]
    return literal + given or piped


def _matching(call: Call, path: str, *, wildcards: bool) -> list[str]:
    """Return files at a path, the oldest first."""
    wanted = path.replace("/", "\\").lower()
    return [
        name
        for name in _files(call)
        if (fnmatch.fnmatchcase(name.lower(), wanted) if wildcards else name.lower() == wanted)
    ]


def _is_folder(call: Call, path: str) -> bool:
    below = path.replace("/", "\\").rstrip("\\").lower() + "\\"
    return any(name.lower().startswith(below) for name in _files(call)) or below in {
        "c:\\",
        "c:\\windows\\",
    }


async def _missing(call: Call, path: str) -> None:
    message = f"Cannot find path '{path}' because it does not exist."
    await call.error(call.record(message, "PathNotFound", "ObjectNotFound", path, _MISSING))


def _item(name: str, content: str) -> Thing:
    folder, _, short = name.rpartition("\\")
    return Thing(
        {
            "Mode": "-a----",
            "Length": len(content),
            "Name": short,
            "FullName": name,
            "Extension": ntpath.splitext(short)[1],
            "DirectoryName": folder,
            "CreationTime": 0,
        },
        "System.IO.FileInfo",
    )


@cmdlet("Test-Path", f"{_PATHS} PathType")
async def test_path(call: Call, emit: Emit) -> None:
    """Emit for each path whether it is there."""
    kind = call.text("pathtype").lower()
    for path, wildcards in _paths(call):
        is_file = bool(_matching(call, path, wildcards=wildcards))
        is_folder = _is_folder(call, path)
        await emit({"leaf": is_file, "container": is_folder}.get(kind, is_file or is_folder))


@cmdlet("Get-Item", f"{_PATHS} Force?")
@cmdlet("Get-ChildItem", f"{_PATHS} Filter Include Recurse? Force? File? Directory? Name?")
async def get_items(call: Call, emit: Emit) -> None:
    """Emit files; those in a folder, where a folder is listed."""
    for path, wildcards in _paths(call) or [("C:\\", True)]:
        names = _matching(call, path, wildcards=wildcards)
        lists = call.cmdlet.name == "Get-ChildItem"
        if not names and lists and _is_folder(call, path):
            pattern = f"{path.rstrip(chr(92))}\\{call.text('filter', '*')}"
            names = [
                name
                for name in _matching(call, pattern, wildcards=True)
                if _is_direct(name, path) or call.has("recurse")
            ]
        elif not names and not _is_folder(call, path) and not (wildcards and set(path) & set("*?")):
            await _missing(call, path)
        for name in names:
            await emit(_item(name, _files(call)[name]))


def _is_direct(name: str, folder: str) -> bool:
    return ntpath.dirname(name).lower() == folder.replace("/", "\\").rstrip("\\").lower()


@cmdlet("Get-Content", f"{_PATHS} Tail TotalCount Encoding ReadCount Raw?")
async def get_content(call: Call, emit: Emit) -> None:
    """Emit lines of files, or each as a whole."""
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        if not names and not (wildcards and set(path) & set("*?")):
            await _missing(call, path)
        for name in names:
            content = _files(call)[name]
            lines = content.splitlines()
            if call.has("tail"):
                lines = lines[-whole(call.given["tail"]) :]
            for line in [content] if call.has("raw") else lines:
                await emit(line)


@cmdlet("Set-Content", f"{_PATHS} Value! Encoding Force? NoNewline?")
@cmdlet("Add-Content", f"{_PATHS} Value! Encoding Force?")
@cmdlet("Out-File", "FilePath! Encoding InputObject Append? Force?")
async def set_content(call: Call, _emit: Emit) -> None:
    """Write a file."""
    values = list(call.input) if call.input is not None else many(call.given.get("value", ""))
    written = "".join(f"{text(each)}\r\n" for each in values)
    for path in (
        text(each) for name in ("path", "literalpath", "filepath") for each in call.list(name)
    ):
        keeps = call.cmdlet.name == "Add-Content" or call.has("append")
        _files(call)[path] = (_files(call).get(path, "") if keeps else "") + written


@cmdlet("Remove-Item", f"{_PATHS} Force? Recurse?")
async def remove_item(call: Call, _emit: Emit) -> None:
    """Delete files."""
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        if not names:
            await _missing(call, path)
        for name in names:
            del _files(call)[name]


@cmdlet("Copy-Item", "Path! Destination! LiteralPath Force? Recurse? PassThru?")
async def copy_item(call: Call, _emit: Emit) -> None:
    """Copy a file, or a program of the container."""
    target: Any = call.text("destination")
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        for name in names:
            _files(call)[target] = _files(call)[name]
        if not names and not _copied(call, path, target):
            await _missing(call, path)


def _copied(call: Call, path: str, target: str) -> bool:
    drive = getattr(call.session.process.machine, "drive", None)
    if drive is None or drive.program(path) is None:
        return False
    drive.copy(path, target)
    return True
