"""Cmdlets about files of a node, and about programs in a container: what components left, what scripts wrote."""

import fnmatch
import ntpath
from collections.abc import MutableMapping
from typing import Any

from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, many, text, thing, whole

_PATHS = "Path! LiteralPath"
_MISSING = "System.Management.Automation.ItemNotFoundException"


def _files(call: Call) -> MutableMapping[str, str]:
    return call.session.process.machine.disk.files


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
    wanted = path.replace("/", "\\").lower()
    return [
        name
        for name in _files(call)
        if (fnmatch.fnmatchcase(name.lower(), wanted) if wildcards else name.lower() == wanted)
    ]


def _is_folder(call: Call, path: str) -> bool:
    below = path.replace("/", "\\").rstrip("\\").lower() + "\\"
    everywhere = below in {"c:\\", "c:\\windows\\"}
    return everywhere or any(name.lower().startswith(below) for name in _files(call))


async def _missing(call: Call, path: str) -> None:
    message = f"Cannot find path '{path}' because it does not exist."
    await call.fail(message, "PathNotFound", "ObjectNotFound", path, _MISSING)


def _item(name: str, content: str) -> Thing:
    folder, _, short = name.rpartition("\\")
    names = {"Name": short, "FullName": name, "Extension": ntpath.splitext(short)[1]}
    size = {"Mode": "-a----", "Length": len(content)}
    return thing("System.IO.FileInfo", **size, **names, DirectoryName=folder, CreationTime=0)


@cmdlet("Test-Path", f"{_PATHS} PathType")
async def _test_path(call: Call, emit: Emit) -> None:
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
            folder = path.replace("/", "\\").rstrip("\\")
            names = [
                name
                for name in _matching(call, f"{folder}\\{call.text('filter', '*')}", wildcards=True)
                if call.has("recurse") or ntpath.dirname(name).lower() == folder.lower()
            ]
        elif not names and not _is_folder(call, path) and not (wildcards and set(path) & set("*?")):
            await _missing(call, path)
        for name in names:
            await emit(_item(name, _files(call)[name]))


@cmdlet("Get-Content", f"{_PATHS} Tail TotalCount Encoding ReadCount Raw?")
async def _get_content(call: Call, emit: Emit) -> None:
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
async def _set_content(call: Call, _emit: Emit) -> None:
    values = list(call.input) if call.input is not None else many(call.given.get("value", ""))
    written = "".join(f"{text(each)}\r\n" for each in values)
    for path in (
        text(each) for name in ("path", "literalpath", "filepath") for each in call.list(name)
    ):
        keeps = call.cmdlet.name == "Add-Content" or call.has("append")
        _files(call)[path] = (_files(call).get(path, "") if keeps else "") + written


@cmdlet("Remove-Item", f"{_PATHS} Force? Recurse?")
async def _remove_item(call: Call, _emit: Emit) -> None:
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        if not names:
            await _missing(call, path)
        for name in names:
            del _files(call)[name]


@cmdlet("Copy-Item", "Path! Destination! LiteralPath Force? Recurse? PassThru?")
async def _copy_item(call: Call, _emit: Emit) -> None:
    target: Any = call.text("destination")
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        for name in names:
            _files(call)[target] = _files(call)[name]
        drive = call.session.process.machine.drive
        if not names and drive is not None and drive.program(path) is not None:
            drive.copy(path, target)
        elif not names:
            await _missing(call, path)
