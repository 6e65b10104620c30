"""Members of values: properties, methods, casts. Missing members are handled as in PowerShell."""

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from nettests.lab.programs.windows.powershell import dotnet
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.dotnet import Type, unknown_type
from nettests.lab.programs.windows.powershell.dotnet_net import IpAddress
from nettests.lab.programs.windows.powershell.session import Session

_METHOD_EXCEPTION = "System.Management.Automation.MethodInvocationException"


async def get(session: Session, target: Any, name: str, *, static: bool = False) -> Any:
    """Return ``target.name``; ``$null`` if there is no such property."""
    wanted = name.lower()
    if static:
        return await _static(session, target, wanted, ())
    if isinstance(target, v.Hashtable):
        special = {"count": len(target), "keys": list(target), "values": list(target.values())}
        key = target.find(name)
        return target[key] if key in target else special.get(wanted)
    if isinstance(target, v.Thing):
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
    if isinstance(target, v.DotNet) and (attribute := _attribute(target, wanted)):
        value = getattr(target, attribute)
        return await value() if inspect.iscoroutinefunction(value) else value
    return 1 if wanted in {"count", "length"} and target is not None else None


async def store(session: Session, target: Any, name: str, value: Any) -> None:
    """Set ``target.name``."""
    if isinstance(target, v.Hashtable):
        target[target.find(name)] = value
    elif isinstance(target, v.Thing) and target.find(name) in target.properties:
        target.properties[target.find(name)] = value
    elif isinstance(target, Type):
        await _guarded(name, (value,), dotnet.store, target, name.lower(), session, value)
    elif isinstance(target, v.DotNet) and (attribute := _attribute(target, name.lower())):
        setattr(target, attribute, value)
    else:
        raise v.runtime(
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
        raise v.runtime(
            "You cannot call a method on a null-valued expression.", "InvokeMethodOnNull"
        )
    if wanted == "tostring" and not arguments:
        return v.text(target)
    if wanted == "gettype":
        return Type.of(target)
    methods: dict[str, Callable[..., Any]] = {}
    if isinstance(target, str):
        methods = _OF_TEXTS
    elif isinstance(target, v.NetError):
        methods = {"getbaseexception": lambda error: error.base}
    elif isinstance(target, v.Hashtable):
        methods = {
            "containskey": lambda table, key: table.find(key) in table,
            "contains": lambda table, key: table.find(key) in table,
        }
    elif isinstance(target, list):
        methods = {"contains": lambda items, item: item in items}
    if wanted in methods:
        return await _guarded(name, arguments, methods[wanted], target, *arguments)
    if isinstance(target, v.DotNet) and (attribute := _attribute(target, wanted)):
        return await _guarded(name, arguments, getattr(target, attribute), *arguments)
    kind = Type.of(target).name
    raise v.runtime(
        f"Method invocation failed because [{kind}] does not contain a method named '{name}'.",
        "MethodNotFound",
    )


async def cast(type_name: str, value: Any) -> Any:
    """Return ``[type]value``."""
    name = type_name.lower().removeprefix("system.")
    if name.endswith("[]"):
        return [await cast(name.removesuffix("[]"), each) for each in v.many(value)]
    if name in _CASTS:
        try:
            return _CASTS[name](value)
        except v.NetError as error:
            raise v.runtime(
                error.message, "InvalidCastFromStringToInteger", "InvalidArgument", kind=error.kind
            ) from None
    raise unknown_type(type_name)


_CASTS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("int", "int32", "int64", "long", "int16", "uint16", "uint32", "uint64", "byte"), v.whole
    ),
    **dict.fromkeys(("double", "float", "decimal", "single"), lambda value: float(v.number(value))),
    **dict.fromkeys(("bool", "boolean", "switch"), v.truth),
    "array": v.many,
    **dict.fromkeys(
        ("hashtable", "ordered", "object", "psobject", "scriptblock", "ref"), lambda value: value
    ),
    "void": lambda _value: v.VOID,
    "string": v.text,
    "char": lambda value: v.Char(chr(value) if isinstance(value, int) else v.text(value)[:1]),
    "pscustomobject": lambda value: (
        v.Thing({v.text(key): each for key, each in value.items()})
        if isinstance(value, v.Hashtable)
        else value
    ),
    "net.ipaddress": lambda value: IpAddress.parsed(v.text(value)),
}


def _properties(target: Any) -> dict[str, Any]:
    if isinstance(target, str):
        return {"length": len(target)}
    if isinstance(target, bytes | bytearray):
        return {"length": len(target), "count": len(target)}
    if isinstance(target, v.ErrorRecord):
        category = v.Thing(
            {"Category": target.category, "Activity": target.activity, "TargetName": target.target}
        )
        return {
            "exception": target.exception,
            "fullyqualifiederrorid": target.error_id,
            "categoryinfo": category,
            "targetobject": target.target,
        }
    if isinstance(target, v.NetError):
        own_properties = {name.lower(): value for name, value in target.properties.items()}
        return {"message": target.message, "innerexception": target.inner, **own_properties}
    if isinstance(target, Type):
        return {"fullname": target.name, "name": target.name.rpartition(".")[2]}
    return {}


def _attribute(target: v.DotNet, wanted: str) -> str | None:
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
        raise v.runtime(
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
    except v.NetError as error:
        message = f'Exception calling "{name}" with "{len(shown)}" argument(s): "{error.message}"'
        exception = v.NetError(_METHOD_EXCEPTION, message, error)
        record = v.ErrorRecord(exception=exception, error_id=error.kind.rpartition(".")[2])
        raise v.PSError(record) from None
    except TypeError:
        raise v.runtime(
            f'Cannot find an overload for "{name}" and the argument count: "{len(shown)}".',
            "MethodCountCouldNotFindBest",
            "NotSpecified",
        ) from None


def _split(value: str, *marks: Any) -> list[str]:
    separators = "".join(map(v.text, marks)) or " \t"
    return re.split(f"[{re.escape(separators)}]", value)


_OF_TEXTS: dict[str, Callable[..., Any]] = {
    "replace": lambda value, old, new: value.replace(v.text(old), v.text(new)),
    "split": _split,
    "startswith": lambda value, start, *_: value.startswith(v.text(start)),
    "endswith": lambda value, end: value.endswith(v.text(end)),
}
