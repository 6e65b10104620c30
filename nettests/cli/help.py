"""The layout of ``--help``: a command's own options first, shared options under headings, an example at the end.

Used by every command of the harness; the options are declared in ``options`` and beside each command.
"""

from typing import Any

import click

OWN = "Options"


class SharedOption(click.Option):
    """An option that several commands have; ``heading`` is its heading in their help."""

    def __init__(self, *arguments: Any, heading: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.heading = heading


class Command(click.Command):
    """A command whose help groups its options; ``example`` is one call that a newcomer can type."""

    def __init__(self, *arguments: Any, example: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.example = example

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the shared ones by heading in the order of their declaration."""
        by_heading: dict[str, list[tuple[str, str]]] = {OWN: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                heading = parameter.heading if isinstance(parameter, SharedOption) else OWN
                by_heading.setdefault(heading, []).append(record)
        for heading, records in by_heading.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_epilog(
        self,
        ctx: click.Context,  # noqa: ARG002 - click requires it
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the example."""
        with formatter.section("Example"):
            formatter.write(f"{' ' * formatter.current_indent}{self.example}\n")
