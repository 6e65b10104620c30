"""Members of values: properties, methods, casts. Missing members are handled as in PowerShell."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from nettests.lab.programs.windows.powershell import dotnet
from nettests.lab.programs.windows.powershell.dotnet import Type, unknown_type
from nettests.lab.programs.windows.powershell.dotnet_net import IpAddress
from nettests.lab.programs.windows.powershell.session import Session
from nettests.lab.programs.windows.powershell.values import (
    VOID,
    Char,
    DotNet,
    ErrorRecord,
    Hashtable,
    NetError,
    PSError,
    Thing,
    many,
    number,
    runtime,
    text,
    truth,
    whole,
)

_METHOD_EXCEPTION = "System.Management.Automation.MethodInvocationException"


async def get(session: Session, target: Any, name: str, *, static: bool = False) -> Any:
    """Return ``target.name``; ``$null`` if there is no such property."""
    wanted = name.lower()
    if static:
        return await _static(session, target, wanted, ())
    if isinstance(target, Hashtable):
        special = {"count": len(target), "keys": list(target), "values": list(target.values())}
        key = target.find(name)
        return target[key] if key in target else special.get(wanted)
    if isinstance(target, Thing):
        return target.properties.get(
            target.find(name), 1 if wanted in {"count", "length"} else None
        )
    if isinstance(target, list):
        if wanted in {"count", "length"}:
            return len(target)
        values = [await get(session, each, name) for each in target]
        present = [value for value in values if value is not None]
        return None if not present else present[0] if len(present) == 1 else present
    properties = _properties(target)
    if wanted in properties:
        return properties[wanted]
    if isinstance(target, DotNet) and (attribute := _attribute(target, wanted)):
        value = getattr(target, attribute)
        return await value() if inspect.iscoroutinefunction(value) else value
    return 1 if wanted in {"count", "length"} and target is not None else None


async def store(session: Session, target: Any, name: str, value: Any) -> None:
    """Set ``target.name``."""
    if isinstance(target, Hashtable):
        target[target.find(name)] = value
    elif isinstance(target, Thing) and target.find(name) in target.properties:
        target.properties[target.find(name)] = value
    elif isinstance(target, Type):
        await _guarded(name, (value,), dotnet.setter(target, name.lower()), session, value)
    elif isinstance(target, DotNet) and (attribute := _attribute(target, name.lower())):
        setattr(target, attribute, value)
    else:
        raise runtime(
            f"The property '{name}' cannot be found on this object. Verify that the property exists and can be set.",
            "PropertyNotFound",
        )


async def call(
    session: Session, target: Any, name: str, arguments: Sequence[Any], *, static: bool = False
) -> Any:
    """Return ``target.name(arguments)``."""
    wanted = name.lower()
    if static:
        return await _static(session, target, wanted, arguments, called=True)
    if target is None:
        raise runtime("You cannot call a method on a null-valued expression.", "InvokeMethodOnNull")
    if wanted == "tostring" and not arguments:
        return text(target)
    if wanted == "gettype":
        return Type.of(target)
    methods: dict[str, Callable[..., Any]] = {}
    if isinstance(target, str):
        methods = _OF_TEXTS
    elif isinstance(target, NetError):
        methods = {"getbaseexception": lambda error: error.base}
    elif isinstance(target, Hashtable):
        methods = {
            "containskey": lambda table, key: table.find(key) in table,
            "contains": lambda table, key: table.find(key) in table,
        }
    elif isinstance(target, list):
        methods = {"contains": lambda items, item: item in items}
    if wanted in methods:
        return await _guarded(name, arguments, methods[wanted], target, *arguments)
    if isinstance(target, DotNet) and (attribute := _attribute(target, wanted)):
        return await _guarded(name, arguments, getattr(target, attribute), *arguments)
    kind = Type.of(target).name
    raise runtime(
        f"Method invocation failed because [{kind}] does not contain a method named '{name}'.",
        "MethodNotFound",
    )


async def cast(type_name: str, value: Any) -> Any:
    """Return ``[type]value``."""
    name = type_name.lower().removeprefix("system.")
    if name.endswith("[]"):
        return [await cast(name.removesuffix("[]"), each) for each in many(value)]
    if name in _CASTS:
        try:
            return _CASTS[name](value)
        except NetError as error:
            raise runtime(
                error.message, "InvalidCastFromStringToInteger", "InvalidArgument", kind=error.kind
            ) from None
    raise unknown_type(type_name)


_CASTS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("int", "int32", "int64", "long", "int16", "uint16", "uint32", "uint64", "byte"), whole
    ),
    **dict.fromkeys(("double", "float", "decimal", "single"), lambda value: float(number(value))),
    **dict.fromkeys(("bool", "boolean", "switch"), truth),
    "array": many,
    **dict.fromkeys(
        ("hashtable", "ordered", "object", "psobject", "scriptblock", "ref"), lambda value: value
    ),
    "void": lambda _value: VOID,
    "string": text,
    "char": lambda value: Char(chr(value) if isinstance(value, int) else text(value)[:1]),
    "pscustomobject": lambda value: (
        Thing({text(key): each for key, each in value.items()})
        if isinstance(value, Hashtable)
        else value
    ),
    "net.ipaddress": lambda value: IpAddress.parsed(text(value)),
}


def _properties(target: Any) -> dict[str, Any]:
    if isinstance(target, str):
        return {"length": len(target)}
    if isinstance(target, bytes | bytearray):
        return {"length": len(target), "count": len(target)}
    if isinstance(target, ErrorRecord):
        category = Thing(
            {"Category": target.category, "Activity": target.activity, "TargetName": target.target}
        )
        return {
            "exception": target.exception,
            "fullyqualifiederrorid": target.error_id,
            "categoryinfo": category,
            "targetobject": target.target,
        }
    if isinstance(target, NetError):
        own_properties = {name.lower(): value for name, value in target.properties.items()}
        return {"message": target.message, "innerexception": target.inner, **own_properties}
    if isinstance(target, Type):
        return {"fullname": target.name, "name": target.name.rpartition(".")[2]}
    return {}


def _attribute(target: DotNet, wanted: str) -> str | None:
    names = (name for name in dir(target) if not name.startswith("_") and name != "kind")
    return next((name for name in names if name.replace("_", "") == wanted), None)


async def _static(
    session: Session, target: Any, wanted: str, arguments: Sequence[Any], *, called: bool = False
) -> Any:
    if not isinstance(target, Type):
        return None
    member = dotnet.static(target, wanted)
    if member is None:
        if not called:
            return None
        raise runtime(
            f"Method invocation failed because [{target.name}] does not contain a method named '{wanted}'.",
            "MethodNotFound",
        )
    return await _guarded(wanted, arguments, member, session, *arguments)


async def _guarded(
    name: str, shown: Sequence[Any], function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a method; its exceptions are wrapped like in PowerShell."""
    try:
        result = function(*arguments)
        return await result if inspect.isawaitable(result) else result
    except NetError as error:
        message = f'Exception calling "{name}" with "{len(shown)}" argument(s): "{error.message}"'
        exception = NetError(_METHOD_EXCEPTION, message, error)
        record = ErrorRecord(exception=exception, error_id=error.kind.rpartition(".")[2])
        raise PSError(record) from None
    except TypeError:
        raise runtime(
            f'Cannot find an overload for "{name}" and the argument count: "{len(shown)}".',
            "MethodCountCouldNotFindBest",
            "NotSpecified",
        ) from None


_OF_TEXTS: dict[str, Callable[..., Any]] = {
    "replace": lambda value, old, new: value.replace(text(old), text(new)),
    "split": lambda value, *marks: _parts(value, marks),
    "startswith": lambda value, start, *_: value.startswith(text(start)),
    "endswith": lambda value, end: value.endswith(text(end)),
}


def _parts(value: str, marks: Sequence[Any]) -> list[str]:
    separators = "".join(text(mark) for mark in marks) or " \t"
    for mark in separators[1:]:
        value = value.replace(mark, separators[0])
    return value.split(separators[0])
