"""Run in every setting that a real cluster may have, and compare each verdict with the undisturbed run's.

``make soak-settings BUDGET=40m``, or ``python -m scripts.soak_settings --budget 40m --rounds 5``. On one lab:
each published role, a ``restricted`` namespace, a mirror registry, a proxy as the external vantage point, an API
that throttles, fails, resets, is slow or lets tokens expire; on labs of their own, Windows in other languages and ways. Needs ``kubectl``. Every finished run is one line
of the state file, and a later call goes on where the file ends; the first run of a state is the reference, and
has to be clean. It prints a table, and exits 1 when a run said what is not so, 3 when the budget ended before
all rounds.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nettests.model.labels import ENFORCED_LEVEL_LABEL, RUN_LABEL
from nettests.model.run_folder import LATEST, RESULTS
from nettests.session.process import ending_signals
from scripts.settings import REFERENCE, SETTINGS, Run, Setting, false_verdicts
from scripts.soak import ROOT, read, say, seconds

LAB = (sys.executable, "-m", "nettests.lab")
RBAC = ROOT / "manifests" / "rbac"
HOME = "identities"
"""The namespace of the ServiceAccounts."""
LEVELS = {"at-baseline": "baseline", "at-restricted": "restricted"}
FLOWS = (
    "pod-to-pod-ip",
    "pod-to-service-clusterip",
    "node-to-pod",
    "icmp-egress",
    "icmp-pod-to-pod",
    "kubectl-to-pod",
    "pod-port-forward",
    "pod-starts",
    "pod-restart",
    "windows-pod-fields",
    "dns-other-namespace",
    "nodeport-from-external",
    "windows-node-configuration",
    "hns-configuration",
    "hns-load-balancers",
)
RUN_SECONDS = 900
Record = dict[str, Any]


def main() -> int:
    """Run what is missing within the budget, then show all that ran."""
    wanted = options()
    state = Path(wanted.state)
    runs = read(state)
    deadline = time.monotonic() + seconds(wanted.budget)
    chosen = [
        setting for setting in SETTINGS if setting is REFERENCE or setting.name in wanted.setting
    ]
    missing = [
        (setting, number)
        for number in range(wanted.rounds)
        for setting in chosen
        if sum(run["setting"] == setting.name for run in runs) <= number
        and not (setting is REFERENCE and number)
    ]
    with ending_signals(), tempfile.TemporaryDirectory() as folder:
        up = Lab(f"soak-settings-{wanted.seed}", wanted.profile, Path(folder)) if missing else None
        try:
            for setting, number in missing:
                if up is None or time.monotonic() > deadline:
                    break
                seed = wanted.seed + number
                run = one_run(up, setting, wanted, seed)
                runs.append(run | {"false": wrong(setting, runs, run)})
                if setting is REFERENCE and runs[-1]["false"]:
                    say_run(runs[-1], number)
                    return 1  # nothing can be compared with it, and it is not kept
                with state.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(runs[-1]) + "\n")
                say_run(runs[-1], number)
        finally:
            if up is not None:
                up.down()
    return show(runs, chosen, wanted.rounds)


def one_run(up: "Lab", setting: Setting, wanted: argparse.Namespace, seed: int) -> Record:
    """Run once in a setting, on the lab that all share, or on one that is set otherwise."""
    flows = wanted.flow or FLOWS
    if not setting.lab:
        return up.one_run(setting, wanted.rate, seed, flows)
    with tempfile.TemporaryDirectory() as folder:
        other = Lab(f"{up.name}-set", wanted.profile, Path(folder), setting.lab)
        try:
            return other.one_run(setting, wanted.rate, seed, flows)
        finally:
            other.down()


def options() -> argparse.Namespace:
    """Read the command line."""
    names = [setting.name for setting in SETTINGS if setting is not REFERENCE]
    parser = argparse.ArgumentParser(description="Run in every setting of a real cluster.")
    parser.add_argument("--budget", default="40m", help="time for new runs: 90s, 40m, 2h")
    parser.add_argument("--rounds", type=int, default=5, help="runs in each setting")
    parser.add_argument(
        "--setting", action="append", choices=names, help="only this setting (repeatable)"
    )
    parser.add_argument("--rate", type=float, default=0.05, help="share of requests that are hit")
    parser.add_argument("--seed", type=int, default=1, help="of the first round's dice")
    parser.add_argument("--profile", default="win2022-l2bridge-dsr", help="of the lab")
    parser.add_argument("--flow", action="append", help="what is tested (repeatable)")
    parser.add_argument(
        "--state", default="reports/soak-settings.jsonl", help="where finished runs are kept"
    )
    wanted = parser.parse_args()
    wanted.setting = wanted.setting or names
    return wanted


class Lab:
    """A lab that all runs share: with the roles, an identity for each, and namespaces of two levels."""

    def __init__(
        self, name: str, profile: str, folder: Path, settings: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        words = (word for text in settings for word in ("--set", text))
        paths = json.loads(
            self.command("up", "--profile", profile, *words, "--json", "--while", str(os.getpid()))
        )
        self.kubeconfig = paths["kubeconfig"]
        self.profile = Path(paths["cluster_profile"])
        self._folder = folder
        self._inside = folder / "inside.yaml"
        # sample: externalVantage: proxy
        self._inside.write_text(re.sub(r"(?m)^external(Vantage|Proxy|UDPProxy):.*\n", "", self.profile.read_text()))  # fmt: skip
        try:
            self.identities = {
                "administrator": self.kubeconfig,
                "short-lived": self.command("kubeconfig", "--short-lived").strip(),
                **self._roles(),
            }
        except BaseException:
            self.down()
            raise

    def command(self, *arguments: str) -> str:
        """Run a command of the lab and return what it printed."""
        return output([*LAB, *arguments, "--name", self.name])

    def kubectl(self, *arguments: str) -> str:
        """Probe the lab's API as its administrator."""
        return output(["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments])

    def down(self) -> None:
        """Take the lab down."""
        self.command("down")

    def _roles(self) -> dict[str, str]:
        """Bind each published role to an identity of its own; return their kubeconfigs."""
        bind = ("create", "clusterrolebinding")
        for name, level in LEVELS.items():
            self.kubectl("create", "namespace", name)
            label = f"{ENFORCED_LEVEL_LABEL}={level}"
            self.kubectl("label", "namespace", name, label)
        self.kubectl("create", "namespace", HOME)
        self.kubectl("apply", "-f", str(RBAC / "discovery.yaml"), "-f", str(RBAC / "full.yaml"))
        self.kubectl("-n", "at-baseline", "apply", "-f", str(RBAC / "namespaced.yaml"))
        for name in ("discovery", "namespaced", "full"):
            self.kubectl("-n", HOME, "create", "serviceaccount", name)
            whom, reads = f"--serviceaccount={HOME}:{name}", f"{name}-reads"
            self.kubectl(*bind, reads, "--clusterrole=nettests-discovery", whom)
            system = ("-n", "kube-system", "create", "rolebinding", reads)
            self.kubectl(*system, "--role=nettests-discovery", whom)
        namespaced = f"--serviceaccount={HOME}:namespaced"
        role_binding = ("-n", "at-baseline", "create", "rolebinding", "nettests", "--role=nettests")
        self.kubectl(*role_binding, namespaced)
        self.kubectl(*bind, "full", "--clusterrole=nettests-full", f"--serviceaccount={HOME}:full")
        return {name: self._identity(name) for name in ("discovery", "namespaced", "full")}

    def _identity(self, name: str) -> str:
        """Return the kubeconfig of an identity, with a token of its ServiceAccount."""
        path = self._folder / f"{name}.kubeconfig"
        path.write_text(self.kubectl("config", "view", "--raw", "--minify", "--flatten"))
        token = self.kubectl("-n", HOME, "create", "token", name, "--duration=24h").strip()
        config = ("kubectl", f"--kubeconfig={path}", "config")
        output([*config, "set-credentials", "tester", f"--token={token}"])
        output([*config, "set-context", "--current", "--user=tester"])
        return str(path)

    def one_run(self, setting: Setting, rate: float, seed: int, flows: tuple[str, ...]) -> Record:
        """Run once in a setting; return exit code, time, verdicts and messages by check, and what was left."""
        if setting.fault:
            self.command("fault", "inject", *setting.fault, f"--rate={rate}", f"--seed={seed}")
        began = time.monotonic()
        profile = self.profile if setting.proxy else self._inside
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "nettests", "run", "--quiet"),
                    f"--kubeconfig={self.identities[setting.identity]}",
                    *(f"--cluster-profile={profile}", f"--report-dir={folder}"),
                    *((f"--namespace={setting.namespace}",) if setting.namespace else ()),
                    *setting.options,
                    *(f"--flow={flow}" for flow in flows),
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=RUN_SECONDS,
            )
            results = Path(folder) / LATEST / RESULTS
            checks = json.loads(results.read_text())["checks"] if results.exists() else []
        self.command("fault", "clear")
        verdicts = {check["id"]: check["verdict"] for check in checks}
        return {
            "setting": setting.name,
            "rate": rate if setting.fault else 0,
            "seed": seed,
            "exit_code": done.returncode,
            "seconds": round(time.monotonic() - began, 1),
            "load": round(os.getloadavg()[0], 1),
            "counts": Counter(verdicts.values()),
            "verdicts": verdicts,
            "messages": {check["id"]: check["message"] for check in checks},
            "left": self._left(),
            "said": "" if checks else done.stdout + done.stderr,
        }

    def _left(self) -> list[str]:
        """Return what the run left in the cluster."""
        kinds = "namespaces,pods,services,leases"
        marks = ("-l", RUN_LABEL, "-o", "name")
        return self.kubectl("get", kinds, "--all-namespaces", *marks).split()


def output(words: list[str]) -> str:
    """Run a command and return what it printed; end the soak when it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def wrong(setting: Setting, before: list[Record], run: Record) -> list[str]:
    """Return a run's false verdicts, and what it left behind; the reference is compared with itself."""
    reference = next((record for record in before if record["setting"] == REFERENCE.name), run)
    wrong_verdicts = false_verdicts(setting, as_run(reference), as_run(run))
    return [*wrong_verdicts, *(f"left behind: {name}" for name in run["left"])]


def as_run(record: Record) -> Run:
    """Return a recorded run as what is compared."""
    names = asdict(Run(exit_code=0))
    return Run(**{name: record[name] for name in names})


def say_run(run: Record, number: int) -> None:
    """Print a line about a finished run, and one for each thing that is not so."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(run["counts"].items()))
    say(
        f"{run['setting']}: run {number + 1}, exit {run['exit_code']}, {run['seconds']:.0f} s "
        f"at load {run['load']}, "
        f"{counts or run['said']}; {len(run['false'])} false"
    )
    for line in run["false"]:
        say(f"  {line}")


def show(runs: list[Record], chosen: list[Setting], rounds: int) -> int:
    """Print one line a setting and all that is not so; return the exit code."""
    say(f"{'setting':22} {'runs':>7} {'false':>6}  verdicts of the first run")
    false = incomplete = False
    for setting in chosen:
        setting_runs = [run for run in runs if run["setting"] == setting.name]
        due = 1 if setting is REFERENCE else rounds
        lines = [line for run in setting_runs for line in run["false"]]
        counts = sorted(setting_runs[0]["counts"].items()) if setting_runs else []
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
        say(f"{setting.name:22} {f'{len(setting_runs)}/{due}':>7} {len(lines):>6}  {verdicts}")
        for line in lines:
            say(f"  {line}")
        false |= bool(lines)
        incomplete |= len(setting_runs) < due
    if false:
        return 1
    return 3 if incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
