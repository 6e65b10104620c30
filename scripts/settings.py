"""The settings in which a run's verdicts must be those of the undisturbed run, and what each of them forbids.

Pure: ``soak_settings`` prepares them on a lab, runs in them and probes here whether what came is true.
"""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from nettests.model.check_id import parts_of
from nettests.model.verdict import ACCEPTED, ATTENTION

NOTHING_REQUIRED = 7
"""The exit code of a run in which a required flow is skipped entirely."""
UNSURE = 6
"""The exit code of a run in which some checks are unknown, and none is red."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: who sends requests, where and through what, and which checks it forbids or makes possible.

    ``allows``, ``forbids`` and ``adds`` are patterns of how check ids begin, part by part; ``adds`` are those
    that the reference run could not probe.
    """

    name: str
    identity: str = "administrator"
    namespace: str = ""
    options: tuple[str, ...] = ()
    proxy: bool = False
    fault: tuple[str, ...] = ()
    lab: tuple[str, ...] = ()
    """What a lab of its own is set to (``windows.locale=ko-KR``): instruments that are not understood there make checks unknown, and no others."""
    allows: tuple[str, ...] = ("*",)
    forbids: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    exit_code: int = 0

    def permits(self, check: str) -> bool:
        """Whether a check can be run in this setting, if the reference run could probe it."""
        return _any(check, self.allows) and not _any(check, self.forbids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run said: its exit code, and verdict and message of each check."""

    exit_code: int
    verdicts: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)


REFERENCE = Setting(name="reference")
_NODES = ("node-to-*", "hns-*")
_LANGUAGES = ("de-DE", "fr-FR", "es-ES", "pt-BR", "ru-RU", "zh-CN", "ja-JP", "ko-KR")
SETTINGS = (
    REFERENCE,
    Setting(
        name="role discovery",
        identity="discovery",
        allows=("windows-node-configuration",),
        exit_code=NOTHING_REQUIRED,
    ),
    Setting(name="role namespaced", identity="namespaced", namespace="at-baseline", forbids=_NODES),
    Setting(name="role full", identity="full"),
    Setting(
        name="restricted namespace",
        namespace="at-restricted",
        forbids=(*_NODES, "icmp-*/linux-*", "icmp-egress"),
    ),
    Setting(name="mirror registry", options=("--registry=mirror.lab.test/k8s",)),
    Setting(name="proxy vantage", proxy=True, adds=("nodeport-from-external/*/*/*/tcp",)),
    Setting(name="429", fault=("api-throttling",)),
    Setting(name="500", fault=("api-errors",)),
    Setting(name="resets", fault=("api-resets",)),
    Setting(name="slow answers", fault=("slow-api", "--seconds=2")),
    Setting(name="expired tokens", identity="short-lived", fault=("expired-tokens",)),
    *(Setting(name=f"Windows in {name}", lab=(f"windows.locale={name}",)) for name in _LANGUAGES),
    Setting(name="HNS of the Gallery", lab=("windows.hnsModule=psgallery",)),
    Setting(name="HNS that hiccups", lab=("windows.hnsHiccup=5",)),
    Setting(name="slow PowerShell", lab=("windows.powershellFirstSeconds=20",)),
    Setting(name="other account", lab=(r"windows.account=NT AUTHORITY\Local service",)),
)


def false_verdicts(setting: Setting, reference: Run, run: Run) -> list[str]:
    """Return a line for each thing that a run in a setting said and that is not so."""
    wrong = [
        f"{check}: {why}: {run.messages.get(check, '')}"
        for check in sorted(reference.verdicts.keys() | run.verdicts.keys())
        if (why := _wrong(setting, check, reference, run))
    ]
    may_end = {setting.exit_code, UNSURE} if setting.lab else {setting.exit_code}
    if run.exit_code not in may_end:
        wrong.append(f"exit code {run.exit_code} instead of {setting.exit_code}")
    return wrong


def _wrong(setting: Setting, check: str, reference: Run, run: Run) -> str:
    """Return what is wrong with the verdict of one check, or nothing."""
    was, came = reference.verdicts.get(check, "absent"), run.verdicts.get(check, "absent")
    if setting.lab and came in {"unknown", "skipped"}:
        return ""
    if came in ATTENTION:
        return f"{came} instead of {was}"
    if _any(check, setting.adds):
        return "" if came in ACCEPTED else f"{came}, though this setting lets it be probed"
    if not setting.permits(check):
        return f"{came}, though this setting forbids it" if came in ACCEPTED else ""
    return "" if came == was else f"{came} instead of {was}"


def _any(check: str, patterns: tuple[str, ...]) -> bool:
    parts = parts_of(check)
    return any(_begins(parts, parts_of(pattern)) for pattern in patterns)


def _begins(parts: list[str], pattern: list[str]) -> bool:
    return len(parts) >= len(pattern) and all(map(fnmatchcase, parts, pattern))
