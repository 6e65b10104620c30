"""Tables, progress and colours with rich, in which texts of a cluster stay texts.

Separate from ``nettests.terminal``, which prints plain lines, because rich takes a while to import. Colours come only
from styles in our own code.
"""

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from nettests.model.visible import visible
from nettests.redaction import without_held


class _Harmless(Console):
    """A console whose texts are made visible after they were laid out, whatever they were part of."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment  # cursor movements of rich's own live display
            else:
                yield Segment(visible(without_held(segment.text)), segment.style)


def console(file: TextIO | None = None, *, soft_wrap: bool = False) -> Console:
    """Return a console of rich on ``file`` (standard output): texts are no markup and no emoji codes."""
    return _Harmless(file=file, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)
