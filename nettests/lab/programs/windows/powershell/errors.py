"""Errors of PowerShell: a record of what went wrong, its text on the console, and as CLIXML.

The layout is NormalView's (PowerShell/PowerShell, ``PowerShellCore_format_ps1xml.cs``; posted transcripts); 6.2 has the same.
"""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from nettests.lab.programs.windows.powershell.values import NetError

_RUNTIME = "System.Management.Automation.RuntimeException"


@dataclass(slots=True, kw_only=True)
class ErrorRecord:
    """One error: ``$_`` of ``catch``."""

    exception: NetError
    error_id: str
    category: str = "NotSpecified"
    target: str = ""
    target_type: str = ""
    activity: str = ""
    title: str = ""
    """What stands before the message instead of the activity."""
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        return self.exception.message

    def text(self, script: str, position: str) -> str:
        """Return what the console shows; ``position`` is "At line:1 char:1" in the host's language."""
        before = script[: self.start]
        line, column = before.count("\n") + 1, self.start - (before.rfind("\n") + 1)
        whole = script.splitlines()[line - 1] if script else ""
        width = max(min(self.end - self.start, len(whole) - column), 1)
        shown = f"{self.target}:{self.target_type}" if self.target or self.target_type else ":"
        name = self.exception.kind.rpartition(".")[2]
        title = f"{self.title or self.activity} : " if self.title or self.activity else ""
        marks = f"{' ' * column}{'~' * width}"
        return (
            f"{title}{self.exception.message}\n"
            f"{position.format(line=line, column=column + 1)}\n"
            f"+ {whole.rstrip()}\n+ {marks}\n"
            f"    + CategoryInfo          : {self.category}: ({shown}) [{self.activity}], {name}\n"
            f"    + FullyQualifiedErrorId : {self.error_id}\n \n"
        )


class PSError(Exception):
    """A terminating error; ``ends_script`` says that no further statement is run unless it is caught."""

    def __init__(self, record: ErrorRecord, *, ends_script: bool = False) -> None:
        super().__init__(record.exception.message)
        self.record, self.ends_script = record, ends_script


def runtime(
    message: str, error_id: str, category: str = "InvalidOperation", **more: str
) -> PSError:
    """Return an error of the language itself, which ends its statement."""
    exception = NetError(more.pop("kind", _RUNTIME), message)
    return PSError(
        ErrorRecord(exception=exception, error_id=error_id, category=category, **more)  # type: ignore[arg-type]
    )


def not_found(name: str) -> PSError:
    """Return the error of a command that does not exist."""
    message = (
        f"The term '{name}' is not recognized as the name of a cmdlet, function, script file, or operable program. "
        "Check the spelling of the name, or if a path was included, verify that the path is correct and try again."
    )
    return runtime(
        message,
        "CommandNotFoundException",
        "ObjectNotFound",
        target=name,
        target_type="String",
        kind="System.Management.Automation.CommandNotFoundException",
        title=name,
    )


@dataclass(slots=True)
class CliXml:
    """What 5.1 writes to a redirected standard error after ``-EncodedCommand``: one document of objects.

    PowerShell/PowerShell, ``ConsoleHost.ErrorFormat``; posted by users of ``-EncodedCommand`` (diyan/pywinrm#245).
    """

    objects: list[str] = field(default_factory=list)

    def progress(self, activity: str) -> None:
        """Add a record of progress."""
        number = len(self.objects)
        types = f'<TN RefId="{number}"><T>System.Management.Automation.PSCustomObject</T><T>System.Object</T></TN>'
        record = f"<AV>{escape(activity)}</AV><AI>0</AI><Nil /><PI>-1</PI><PC>-1</PC><T>Completed</T><SR>-1</SR><SD> </SD>"
        self.objects.append(
            f'<Obj S="progress" RefId="{number}">{types}<MS><I64 N="SourceId">1</I64><PR N="Record">{record}</PR></MS></Obj>'
        )

    def error(self, text: str) -> None:
        """Add the lines of an error."""
        for line in text.splitlines():
            self.objects.append(f'<S S="Error">{escape(line)}_x000D__x000A_</S>')

    def document(self) -> str:
        """Return the whole text, nothing without an object."""
        if not self.objects:
            return ""
        head = '<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04">'
        return f"#< CLIXML\n{head}{''.join(self.objects)}</Objs>"
