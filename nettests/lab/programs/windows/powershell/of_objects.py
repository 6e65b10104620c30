"""Cmdlets for objects in a pipeline: writing, selecting, sorting, converting, formatting."""

import functools
from typing import Any

from nettests.lab.programs.windows.broken_tools import JSON_CUT, JSON_WRAPPED
from nettests.lab.programs.windows.powershell import dotnet, operators, shown
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.calls import CMDLETS, Call, cmdlet, ready
from nettests.lab.programs.windows.powershell.session import Emit, Shown

_DEPTH = 2
_COMPARING = "eq ne gt ge lt le like notlike match notmatch contains in notin"


def _given(call: Call) -> list[Any]:
    if call.input is not None:
        return list(call.input)
    return v.many(call.given["inputobject"]) if "inputobject" in call.given else []


def _property(item: Any, name: str) -> Any:
    if isinstance(item, v.Hashtable):
        return item.get(item.find(name))
    if isinstance(item, v.Thing):
        return item.properties.get(item.find(name))
    return len(item) if name.lower() == "length" and isinstance(item, str) else None


@cmdlet("Format-Table", "Property! AutoSize? HideTableHeaders? Wrap? InputObject")
async def _format_table(call: Call, emit: Emit) -> None:
    await emit(Shown(_laid_out(await _selected(call, _given(call)), "table")))


@cmdlet("Format-List", "Property! InputObject")
async def _format_list(call: Call, emit: Emit) -> None:
    await emit(Shown(_laid_out(await _selected(call, _given(call)), "list")))


def _laid_out(items: list[Any], view: str) -> str:
    plain = [item for item in items if shown.is_plain(item)]
    lines = "".join(f"{v.text(item)}\n" for item in plain)
    return lines + shown.rows([item for item in items if not shown.is_plain(item)], view)


@cmdlet(
    "Select-Object",
    "Property! First Last Skip Index ExpandProperty ExcludeProperty InputObject Unique?",
)
async def _select_object(call: Call, emit: Emit) -> None:
    items = _given(call)[v.whole(call.given.get("skip")) :]
    if call.has("first"):
        items = items[: v.whole(call.given["first"])]
    if call.has("last"):
        items = items[-v.whole(call.given["last"]) :]
    if call.has("expandproperty"):
        name = call.text("expandproperty")
        items = [each for item in items for each in v.many(_property(item, name))]
    items = await _selected(call, items)
    if call.has("unique"):
        items = list({v.text(item).lower(): item for item in reversed(items)}.values())[::-1]
    for item in items:
        await emit(item)


async def _selected(call: Call, items: list[Any]) -> list[Any]:
    """Return objects with the selected properties; a hash table ``@{n=…;e={…}}`` is a calculated property."""
    chosen = call.list("property")
    if not chosen:
        return items
    rows = []
    for item in items:
        row: dict[str, Any] = {}
        for each in chosen:
            if isinstance(each, v.Hashtable):
                short = {v.text(key).lower()[0]: value for key, value in each.items()}
                value = short.get("e")
                computed = (
                    v.one(await call.invoke(value, item))
                    if isinstance(value, v.ScriptBlock)
                    else _property(item, v.text(value))
                )
                row[v.text(short.get("n") or short.get("l"))] = computed
            elif v.text(each) == "*" and isinstance(item, v.Thing):
                row.update(item.properties)
            else:
                name = item.find(v.text(each)) if isinstance(item, v.Thing) else v.text(each)
                row[name] = _property(item, name)
        rows.append(v.Thing(row))
    return rows


@cmdlet(
    "Where-Object",
    f"FilterScript! Value! Property InputObject {' '.join(f'{each}?' for each in _COMPARING.split())}",
)
async def where_object(call: Call, emit: Emit) -> None:
    """Emit the objects for which a block, or the comparison of a property, is true."""
    condition = call.given.get("filterscript", call.given.get("property"))
    operator = next((each for each in _COMPARING.split() if call.has(each)), "")
    for item in _given(call):
        if isinstance(condition, v.ScriptBlock):
            result: Any = v.one(await call.invoke(condition, item))
        else:
            result = _property(item, v.text(condition))
            if operator:
                result = operators.binary(f"-{operator}", result, call.given.get("value"))
        if isinstance(result, operators.Matched) or v.truth(result):
            await emit(item)


@cmdlet("ForEach-Object", "Process! Begin End MemberName InputObject")
async def _for_each_object(call: Call, emit: Emit) -> None:
    work = call.given.get("process", call.given.get("membername"))
    for stage in ("begin", "", "end"):
        block = call.given.get(stage)
        outputs = await call.invoke(block, None) if isinstance(block, v.ScriptBlock) else []
        for each in outputs:
            await emit(each)
        for item in _given(call) if not stage else ():
            values = (
                await call.invoke(work, item)
                if isinstance(work, v.ScriptBlock)
                else [_property(item, v.text(work))]
            )
            for each in values:
                await emit(each)


@cmdlet("Sort-Object", "Property! InputObject Descending? Unique?")
async def _sort_object(call: Call, emit: Emit) -> None:
    names = [v.text(each) for each in call.list("property")]

    def compare(left: Any, right: Any) -> int:
        if not names:
            return v.order(left, right)
        results = (v.order(_property(left, name), _property(right, name)) for name in names)
        return next(filter(None, results), 0)

    items = sorted(_given(call), key=functools.cmp_to_key(compare), reverse=call.has("descending"))
    for position, item in enumerate(items):
        if not (call.has("unique") and position and compare(items[position - 1], item) == 0):
            await emit(item)


@cmdlet("ConvertTo-Json", "InputObject! Depth Compress? EnumsAsStrings?")
async def convert_to_json(call: Call, emit: Emit) -> None:
    """Emit JSON; a single object from the pipeline is no array, but an array as a parameter stays one."""
    if call.input is None:
        value = call.given.get("inputobject")
        value = list(value) if isinstance(value, list) else value
    elif not call.input:
        return
    else:
        value = call.input[0] if len(call.input) == 1 else list(call.input)
    faults = call.session.process.machine.troubles.tools
    if isinstance(value, list) and JSON_WRAPPED in faults:
        value = v.Wrapped(value)
    depth = v.whole(call.given["depth"]) if call.has("depth") else _DEPTH
    depth = 1 if JSON_CUT in faults else depth
    await emit(
        shown.convert(value, depth, compress=call.has("compress"), desktop=call.session.desktop)
    )


@cmdlet("New-Object", "TypeName! ArgumentList! Property ComObject")
async def _new_object(call: Call, emit: Emit) -> None:
    name = call.text("typename")
    arguments = v.many(call.given["argumentlist"]) if call.has("argumentlist") else []
    try:
        made_object = dotnet.new(call.session, name, arguments)
    except v.NetError as error:
        message = f'Exception calling ".ctor": "{error.message}"'
        await call.fail(message, "ConstructorInvokedThrowException", "InvalidOperation")
        return
    properties = call.given.get("property")
    if isinstance(made_object, v.Thing) and isinstance(properties, v.Hashtable):
        made_object.properties.update({v.text(key): value for key, value in properties.items()})
    if made_object is not v.VOID:
        await emit(made_object)


@cmdlet("Get-Command", "Name! Module CommandType All?")
async def _get_command(call: Call, emit: Emit) -> None:
    for name in call.list("name"):
        candidates = CMDLETS.get(v.text(name).lower().rpartition("\\")[2], ())
        present = [each for each in candidates if await ready(call.session, each)]
        if not present:
            error = v.not_found(v.text(name)).record
            error.activity = "Get-Command"
            error.error_id = f"CommandNotFoundException,{call.cmdlet.class_name}"
            error.start, error.end = call.start, call.end
            await call.error(error)
        for each in present:
            kind = "Function" if each.of_module else "Cmdlet"
            source = each.module or "Microsoft.PowerShell.Core"
            command = {"CommandType": kind, "Name": each.name, "Version": "1.0.0.0"}
            await emit(v.thing(**command, Source=source))
