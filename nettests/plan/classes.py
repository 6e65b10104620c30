"""Check classes: flows of class ``default`` are run by default, others if enabled. Pure.

The rule is the same on every cluster. Used by ``applies``; the option is parsed here for command
line and pytest alike.
"""

from collections.abc import Collection, Iterable

from nettests.errors import PlanError
from nettests.model.nearest import nearest
from nettests.model.words import CheckClass
from nettests.plan.flow import Flow

OPTION = "--enable"
CHOICES = tuple(
    check_class.value for check_class in CheckClass if check_class is not CheckClass.DEFAULT
)


def read_classes(texts: Iterable[str]) -> frozenset[CheckClass]:
    """Read the values of ``--enable``, comma-separated lists; ``PlanError`` for a wrong word."""
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if word not in CHOICES:
            hint = nearest(word, CHOICES, what="classes")
            raise PlanError(f"{OPTION}: there is no class {word!r} to enable", hint=hint)
    return frozenset(map(CheckClass, words))


def not_enabled(check_class: CheckClass, enabled: Collection[CheckClass]) -> str:
    """Return why a check of this class is not run, or nothing."""
    if check_class is CheckClass.DEFAULT or check_class in enabled:
        return ""
    name = check_class.value
    return f"checks of class {name} are run only when enabled: {OPTION}={name}"


def without_checks(enabled: Collection[CheckClass], chosen: Iterable[Flow]) -> str:
    """Return which enabled classes none of the chosen flows belongs to, or nothing."""
    idle = set(enabled).difference(*(flow.classes for flow in chosen))
    if not idle:
        return ""
    names = ",".join(sorted(idle))
    return f"{OPTION}={names} changes nothing: no chosen check is of this class"
