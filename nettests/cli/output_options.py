"""``--json`` and ``--output``: the form of a command's output. A command that has one of them has both."""

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

Command = Callable[..., Any]
TEXT, JSON, MARKDOWN = "text", "json", "markdown"


def json_option(what: str = "Print one JSON object, nothing else.") -> Callable[[Command], Command]:
    """Return ``--json``, and ``--output json`` for it; the command receives ``as_json``."""
    return _options(what, "as_json", (TEXT, JSON), lambda form: form == JSON)


def output_option(what: str = "What is printed.") -> Callable[[Command], Command]:
    """Return ``--output``, and ``--json`` for one of its forms, for a command that also prints Markdown."""
    forms = (TEXT, JSON, MARKDOWN)
    return _options("The same as --output json.", "output", forms, str, what)


def _options(
    flag_says: str,
    name: str,
    forms: tuple[str, ...],
    given: Callable[[str], object],
    says: str = "What is printed.",
) -> Callable[[Command], Command]:
    def chosen(ctx: click.Context, _parameter: click.Parameter, form: str) -> object:
        if not ctx.meta.get(__name__):
            return given(form)
        if form != JSON and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--json and --output {form} exclude each other", ctx)
        return given(JSON)

    flag = click.option(
        "--json", is_flag=True, is_eager=True, expose_value=False, callback=_note, help=flag_says
    )
    form = click.option(
        "--output",
        name,
        type=click.Choice(forms),
        default=TEXT,
        show_default=True,
        callback=chosen,
        help=says,
    )
    return lambda command: flag(form(command))


def _note(ctx: click.Context, _parameter: click.Parameter, flag: bool) -> None:  # noqa: FBT001 - click's
    ctx.meta[__name__] = flag
