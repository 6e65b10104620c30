"""Evaluation of expressions: variables, members, operators, and output of statements in parentheses."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nettests.lab.programs.windows.powershell import members, operators
from nettests.lab.programs.windows.powershell import syntax as s
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.dotnet import Type
from nettests.lab.programs.windows.powershell.session import Emit, Session


class Expressions:
    """Evaluates expressions of one script."""

    statements: Callable[[Sequence[s.Node], Emit], Awaitable[None]]

    def __init__(self, session: Session) -> None:
        self.session = session

    async def value(self, node: s.Node) -> Any:
        """Return the value of an expression, or the output of a statement."""
        reading = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reading is not None:
            return await reading(node)
        match node:
            case None:
                return None
            case s.Pipeline(elements=(element,), redirections=()):
                if not isinstance(element, s.Command):
                    return await self.value(element)
        return v.one(await self.output([node]))

    async def output(self, body: Sequence[s.Node]) -> list[Any]:
        """Return the output of statements."""
        output: list[Any] = []
        await self.statements(body, appending(output))
        return output

    async def _constant(self, node: s.Constant) -> Any:
        return node.value

    async def _expandable(self, node: s.Expandable) -> Any:
        return "".join([v.text(await self.value(part)) for part in node.parts])

    async def _typename(self, node: s.TypeName) -> Any:
        return Type.named(node.name)

    async def _items(self, node: s.Items) -> Any:
        return [await self.value(item) for item in node.items]

    async def _hash(self, node: s.Hash) -> Any:
        return v.Hashtable(
            [(await self.value(key), await self.value(each)) for key, each in node.entries]
        )

    async def _block(self, node: s.Block) -> Any:
        return v.ScriptBlock(node)

    async def _index(self, node: s.Index) -> Any:
        return operators.index(await self.value(node.target), await self.value(node.index))

    async def _cast(self, node: s.Cast) -> Any:
        return await members.cast(node.type, await self.value(node.operand))

    async def _group(self, node: s.Group) -> Any:
        first = node.body[0] if len(node.body) == 1 else None
        if not node.kind and isinstance(first, s.Assign):
            await self.assign(first)
            return await self.value(first.target)
        if node.kind != "@" and isinstance(first, s.Pipeline):
            return await self.value(first)
        output = await self.output(node.body)
        return output if node.kind == "@" else v.one(output)

    async def assign(self, node: s.Assign) -> None:
        """Assign a value to a variable, a property or an element."""
        value = await self.value(node.value)
        self.session.success = True
        if node.operator != "=":
            value = operators.binary(node.operator[0], await self.value(node.target), value)
        await self._store(node.target, value)

    async def _store(self, target: s.Node, value: Any) -> None:
        match target:
            case s.Variable(name=name):
                self.set(name, value)
            case s.Cast(type=type_name, operand=operand):
                await self._store(operand, await members.cast(type_name, value))
            case s.Member(target=holder, name=name):
                property_name = v.text(await self.value(name))
                await members.store(self.session, await self.value(holder), property_name, value)
            case s.Index(target=holder, index=index):
                operators.store(await self.value(holder), await self.value(index), value)
            case _:
                raise v.runtime("The assignment expression is not valid.", "InvalidLeftHandSide")

    def set(self, name: str, value: Any) -> None:
        """Set a variable, in the innermost scope unless its name has a scope."""
        scope, _, short = name.rpartition(":")
        if scope == "env":
            environment = {**self.session.process.environment, short: v.text(value)}
            self.session.process.environment = environment
        elif short not in {"null", "true", "false"}:
            outer = scope in {"script", "global"}
            self.session.scopes[0 if outer else -1][short] = value

    async def _variable(self, node: s.Variable) -> Any:
        session, (scope, _, short) = self.session, node.name.rpartition(":")
        if scope == "env":
            wanted = session.process.environment
            return next((value for key, value in wanted.items() if key.lower() == short), None)
        match short:
            case "null":
                return None
            case "true" | "false":
                return short == "true"
            case "?":
                return session.success
            case "lastexitcode":
                return session.last_exit
            case "error":
                return list(session.errors)
            case "psitem":
                return session.find("_")
            case "psversiontable":
                return v.Thing(
                    {
                        "PSVersion": "5.1" if session.desktop else "6.2.7",
                        "PSEdition": "Desktop" if session.desktop else "Core",
                    }
                )
        return session.find(short)

    async def _member(self, node: s.Member) -> Any:
        target = await self.value(node.target)
        name = v.text(await self.value(node.name))
        if node.arguments is None:
            return await members.get(self.session, target, name, static=node.static)
        arguments = [  # ``[ref]$x`` is the value of the variable
            await self.value(
                each.operand if isinstance(each, s.Cast) and each.type.lower() == "ref" else each
            )
            for each in node.arguments
        ]
        return await members.call(self.session, target, name, arguments, static=node.static)

    async def _unary(self, node: s.Unary) -> Any:
        value = await self.value(node.operand)
        if node.operator in {"++", "--", "post++", "post--"}:
            after = v.number(value) + (1 if node.operator.endswith("++") else -1)
            await self._store(node.operand, after)
            return v.VOID if node.operator.startswith("post") else after
        return operators.unary(node.operator, value)

    async def _binary(self, node: s.Binary) -> Any:
        left = await self.value(node.left)
        if node.operator in {"-and", "-or"}:
            decided = v.truth(left)
            if decided == (node.operator == "-or"):
                return decided
            return v.truth(await self.value(node.right))
        result = operators.binary(node.operator, left, await self.value(node.right))
        if isinstance(result, operators.Matched):
            self.session.scopes[-1]["matches"] = result.groups
            return True
        return result


async def nowhere(_value: Any) -> None:
    """Drop output."""


def appending(output: list[Any]) -> Emit:
    """Return an output that appends to a list."""

    async def append(value: Any) -> None:
        output.append(value)

    return append
