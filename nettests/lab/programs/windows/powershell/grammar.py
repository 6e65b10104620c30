"""Parse a script into ``syntax``: the part of PowerShell's grammar that small scripts use.

After Microsoft, "Windows PowerShell Language Specification", chapters 2 and 8: the first character of a statement decides
between expression mode and command mode, where words are strings. Unsupported syntax raises ``ScriptError``, with the position.
The grammar ``tree-sitter-powershell`` parses ``1..3`` and ``Select-Object Name, Enabled`` wrongly, so it is not used here.
"""

import re

from nettests.lab.programs.windows.powershell import operands
from nettests.lab.programs.windows.powershell import syntax as s

# samples: 2>&1  *>$null  >  >>  2>
_REDIRECTION = re.compile(r"([1-6*])?(>&1|>>|>)")
_UNARY_WORD = re.compile(r"-(?:not|split|join|bnot)\b", re.IGNORECASE)
_LEAVING = frozenset({"return", "break", "continue", "throw", "exit"})
_ASSIGNMENTS = ("+=", "-=", "*=", "/=", "%=", "=")
_EXPRESSIONS = ("$", "(", "'", '"', "[", "{", "!", ",", "@(", "@{", "@'", '@"', "+")
_COMMAND_ENDS = frozenset({"", ";", "|", ")", "}", "\n"})
_INVOKED = re.compile(r"[&.](?=[ ($'\"{])")


def parse(text: str) -> s.Script:
    """Parse a whole script."""
    reader = _Reader(text)
    reader.skip(operands.ENDS)
    parameters = reader.parameters() if reader.keyword("param") else ()
    body = reader.statements("")
    if reader.char:
        raise reader.unexpected()
    return s.Script(text, body, parameters)


class _Reader(operands.Operands):
    def statements(self, end: str) -> s.Nodes:
        statements: list[s.Node] = []
        while True:
            self.skip(operands.ENDS)
            if not self.char or (end and self.peek(end)):
                return tuple(statements)
            before = self.at
            statements.append(self.statement())
            self.skip()
            closed = self.text[self.at - 1] == "}"
            if self.at == before or not (closed or self.char in {"", ";", "\n", end or ";"}):
                raise self.unexpected()

    def _block(self) -> s.Nodes:
        self.want("{")
        body = self.statements("}")
        self.want("}")
        return body

    def statement(self) -> s.Node:
        start = self.at
        word = operands.WORD.match(self.text, self.at)
        name = word[0].lower() if word else ""
        reading = getattr(self, f"{name}_statement", None)
        if reading is not None:
            self.at += len(name)
            return reading()
        if name in _LEAVING:
            self.at += len(name)
            self.skip()
            value = None if self.char in _COMMAND_ENDS else self.pipeline()
            return s.Leave(name, value, start, self.at)
        return self.pipeline()

    def if_statement(self) -> s.Node:
        cases = [(self._condition(), self._block())]
        while True:
            before = self.at
            self.skip(operands.LINES)
            if self.keyword("elseif"):
                cases.append((self._condition(), self._block()))
            elif self.keyword("else"):
                return s.If(tuple(cases), self._block())
            else:
                self.at = before
                return s.If(tuple(cases), ())

    def _condition(self) -> s.Node:
        self.want("(")
        self.skip(operands.LINES)
        condition = self.pipeline()
        self.want(")")
        return condition

    def while_statement(self) -> s.Node:
        condition = self._condition()
        return s.Loop("while", self._block(), condition, None, None)

    def for_statement(self) -> s.Node:
        self.want("(")
        parts: list[s.Node] = []
        for end in (";", ";", ")"):
            self.skip(operands.LINES)
            parts.append(None if self.peek(end) else self.pipeline())
            self.want(end)
        first, condition, then = parts
        return s.Loop("for", self._block(), condition, first, then)

    def foreach_statement(self) -> s.Node:
        self.want("(")
        self.skip(operands.LINES)
        variable = self.match(operands.VARIABLE)
        self.skip(operands.LINES)
        if not variable or not self.keyword("in"):
            raise self.unexpected()
        self.skip(operands.LINES)
        items = self.pipeline()
        self.want(")")
        return s.Loop("foreach", self._block(), items, operands.name_of(variable), None)

    def try_statement(self) -> s.Node:
        body = self._block()
        catches: list[tuple[tuple[str, ...], s.Nodes]] = []
        at_last: s.Nodes = ()
        while True:
            before = self.at
            self.skip(operands.LINES)
            if self.keyword("catch"):
                catches.append((self._types(), self._block()))
            elif self.keyword("finally"):
                at_last = self._block()
            else:
                self.at = before
                return s.Try(body, tuple(catches), at_last)

    def _types(self) -> tuple[str, ...]:
        types: list[str] = []
        while True:
            self.skip(operands.LINES)
            self.take(",")
            self.skip(operands.LINES)
            type_name = self.match(operands.TYPE)
            if not type_name:
                return tuple(types)
            types.append(type_name[1])

    def function_statement(self) -> s.Node:
        self.skip()
        name = self.match(operands.WORD)
        if not name:
            raise self.unexpected()
        self.skip(operands.LINES)
        return s.Function(name[0], self.script_block(self.parameters() if self.peek("(") else ()))

    def parameters(self) -> s.Parameters:
        self.want("(")
        parameters: list[tuple[str, s.Node]] = []
        while True:
            self.skip(operands.LINES)
            if self.take(")"):
                return tuple(parameters)
            while self.match(operands.TYPE):
                self.skip(operands.LINES)
            variable = self.match(operands.VARIABLE)
            if not variable:
                raise self.unexpected()
            self.skip(operands.LINES)
            default = self.expression(commas=False) if self.take("=") else None
            parameters.append((operands.name_of(variable), default))
            self.skip(operands.LINES)
            self.take(",")

    def pipeline(self) -> s.Node:
        self.skip()
        redirections: s.Nodes = ()
        if self._begins_expression():
            first = self.expression()
            self.skip()
            operator = next((each for each in _ASSIGNMENTS if self.take(each)), "")
            if operator:
                self.skip(operands.LINES)
                return s.Assign(first, operator, self.statement())
            redirections = self._redirections()
        else:
            first = self._command()
        elements = [first]
        while True:
            self.skip()
            if not self.take("|"):
                return s.Pipeline(tuple(elements), redirections)
            self.skip(operands.LINES)
            elements.append(self._command())

    def _begins_expression(self) -> bool:
        if self.char == "-":
            named = operands.PARAMETER.match(self.text, self.at)
            return not named or bool(_UNARY_WORD.match(self.text, self.at))
        return self.peek(*_EXPRESSIONS) or bool(operands.NUMBER.match(self.text, self.at))

    def _command(self) -> s.Node:
        start = self.at
        if self.match(_INVOKED):
            self.skip()
            name = self.argument()
        elif self._begins_expression():
            raise self.unexpected()
        else:
            name = self.bareword()
        arguments, redirections, end = list[s.Node](), list[s.Node](), self.at
        while True:
            self.skip()
            if self.char in _COMMAND_ENDS:
                return s.Command(name, tuple(arguments), tuple(redirections), start, end)
            if redirection := self._redirection():
                redirections.append(redirection)
            elif parameter := self.match(operands.PARAMETER):
                value = self.argument() if self.take(":") else None
                arguments.append(s.Parameter(parameter[0][1:], value))
            else:
                arguments.append(self.argument())
            end = self.at

    def _redirections(self) -> s.Nodes:
        redirections = []
        while redirection := self._redirection():
            redirections.append(redirection)
            self.skip()
        return tuple(redirections)

    def _redirection(self) -> s.Redirection | None:
        match = self.match(_REDIRECTION)
        if not match:
            return None
        self.skip()
        return s.Redirection(match[1] or "1", None if match[2] == ">&1" else self.argument())
