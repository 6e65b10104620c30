"""The syntax tree of a PowerShell script, which ``grammar`` makes and ``evaluation`` runs. Values.

``Group`` is ``( )``, ``$( )`` or ``@( )`` by the first character of ``kind``; ``Member`` is a call if it has arguments; ``Loop`` is one of
``while``, ``for`` and ``foreach``, whose variable is ``first``; ``start`` and ``end`` are positions in the script, for messages.
"""

# ruff: noqa: UP014  # a line for each part is what can be read here

from typing import Any, NamedTuple

Node = Any
Nodes = tuple[Any, ...]
Parameters = tuple[tuple[str, Any], ...]

Constant = NamedTuple("Constant", [("value", Any), ("written", str)])
Expandable = NamedTuple("Expandable", [("parts", Nodes)])
Variable = NamedTuple("Variable", [("name", str)])
TypeName = NamedTuple("TypeName", [("name", str)])
Items = NamedTuple("Items", [("items", Nodes)])
Group = NamedTuple("Group", [("kind", str), ("body", Nodes)])
Hash = NamedTuple("Hash", [("entries", tuple[tuple[Node, Node], ...])])
Block = NamedTuple("Block", [("body", Nodes), ("parameters", Parameters)])
Member = NamedTuple(
    "Member", [("target", Node), ("name", Node), ("static", bool), ("arguments", Nodes | None)]
)
Index = NamedTuple("Index", [("target", Node), ("index", Node)])
Unary = NamedTuple("Unary", [("operator", str), ("operand", Node)])
Binary = NamedTuple("Binary", [("operator", str), ("left", Node), ("right", Node)])
Cast = NamedTuple("Cast", [("type", str), ("operand", Node)])
Parameter = NamedTuple("Parameter", [("name", str), ("value", Node)])
Redirection = NamedTuple("Redirection", [("stream", str), ("target", Node)])
Command = NamedTuple(
    "Command",
    [("name", Node), ("arguments", Nodes), ("redirections", Nodes), ("start", int), ("end", int)],
)
Pipeline = NamedTuple("Pipeline", [("elements", Nodes), ("redirections", Nodes)])
Assign = NamedTuple("Assign", [("target", Node), ("operator", str), ("value", Node)])
If = NamedTuple("If", [("cases", tuple[tuple[Node, Nodes], ...]), ("otherwise", Nodes)])
Loop = NamedTuple(
    "Loop", [("kind", str), ("body", Nodes), ("condition", Node), ("first", Node), ("then", Node)]
)
Try = NamedTuple(
    "Try",
    [("body", Nodes), ("catches", tuple[tuple[tuple[str, ...], Nodes], ...]), ("at_last", Nodes)],
)
Function = NamedTuple("Function", [("name", str), ("block", Block)])
Leave = NamedTuple("Leave", [("word", str), ("value", Node), ("start", int), ("end", int)])
Script = NamedTuple("Script", [("text", str), ("body", Nodes), ("parameters", Parameters)])
