"""Which changes of the code that decides would its own tests not notice?

``make mutation`` has mutmut change ``judge``, ``expect`` and ``parse`` one place at a time and run the tests of these
packages that reach that place. It prints mutants, killed and survivors for each package, and names each survivor
that ``tests/mutation.yaml`` does not explain: one of them, or less than 95 % killed, ends it with 1. Verdicts are
kept in ``mutants/``: what was interrupted, or had no more time, goes on where it was. ``--sample`` takes some
mutants by a seed instead of all. Decision 0044 says what mutmut leaves alone.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from mutmut.mutation.diff_apply import get_diff_for_mutant

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "mutants"
EXPLAINED = ROOT / "tests" / "mutation.yaml"
PACKAGES = ("judge", "expect", "parse")
DEMANDED = 95.0
"""Per cent of the tested mutants that tests have to notice."""

GENERATE = """
from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants
copy_src_dir()
copy_also_copy_files()
create_mutants(1)
"""
"""What `mutmut run` does before it runs anything: a sample is drawn from all mutants."""

SURVIVED, NO_TESTS = frozenset({0}), frozenset({5, 33})
INTERRUPTED = 2
GRACE_SECONDS = 20
"""Exit codes as mutmut keeps them; whatever else a mutant ended with, something noticed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of the code; ``code`` is None where it was not tested yet."""

    name: str
    package: str
    code: int | None

    @property
    def tested(self) -> bool:
        """Whether its tests ran to their end."""
        return self.code not in {None, INTERRUPTED}

    @property
    def survived(self) -> bool:
        """Whether no test noticed it; one that no test reaches is noticed by none."""
        return self.code in SURVIVED | NO_TESTS


def read_mutants(folder: Path) -> list[Mutant]:
    """Return every mutant below mutmut's folder with its verdict, in the order of its names."""
    mutants = []
    for package in PACKAGES:
        for meta in sorted((folder / "nettests" / package).glob("*.py.meta")):
            codes = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
            mutants += [Mutant(name=name, package=package, code=codes[name]) for name in codes]
    return mutants


def forget(folder: Path, verdicts: frozenset[int]) -> None:
    """Have mutants that ended so tested again."""
    for package in PACKAGES:
        for meta in (folder / "nettests" / package).glob("*.py.meta"):
            kept = json.loads(meta.read_text("utf-8"))
            codes = kept["exit_code_by_key"]
            kept["exit_code_by_key"] = {
                name: None if code in verdicts else code for name, code in codes.items()
            }
            meta.write_text(json.dumps(kept, indent=4), "utf-8")


def digest_of_tests() -> str:
    """Return a digest of all tests that can notice a mutant."""
    whole = hashlib.sha256()
    for package in PACKAGES:
        for file in sorted((ROOT / "tests" / package).rglob("*.py")):
            whole.update(file.read_bytes())
    return whole.hexdigest()


def prepare(*, fresh: bool) -> None:
    """Drop what no longer holds: all of it, or the survivors of tests that have changed since."""
    if fresh:
        shutil.rmtree(MUTANTS, ignore_errors=True)
    MUTANTS.mkdir(exist_ok=True)
    stamp, now = MUTANTS / "tests.digest", digest_of_tests()
    if stamp.is_file() and stamp.read_text("utf-8") != now:
        forget(MUTANTS, SURVIVED | NO_TESTS | {INTERRUPTED})
    stamp.write_text(now, "utf-8")


def run_mutmut(names: Sequence[str], seconds: float | None) -> int:
    """Run mutmut over these mutants, or all untested ones, by one process; interrupt it when its time is over."""
    mutmut = Path(sys.executable).parent / "mutmut"
    command = [str(mutmut), "run", "--max-children", "1", *names]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as running:
        try:
            return running.wait(timeout=seconds)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            interrupt(running)
            return 0


def interrupt(running: subprocess.Popen[bytes]) -> None:
    """End mutmut, which has written each verdict by then: mutmut 3.8 may wait for its own workers for ever."""
    running.send_signal(signal.SIGINT)
    try:
        running.wait(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)


def run_chosen(size: int | None, seed: int, seconds: float | None) -> int:
    """Test what is not tested yet of all mutants, or of a sample; return mutmut's exit code."""
    if size is None:
        return run_mutmut((), seconds)
    subprocess.run([sys.executable, "-c", GENERATE], cwd=ROOT, check=True, capture_output=True)
    left = [
        mutant.name for mutant in sampled(read_mutants(MUTANTS), size, seed) if not mutant.tested
    ]
    return run_mutmut(left, seconds) if left else 0


def sampled(mutants: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return ``size`` mutants, the same ones for the same seed and code."""
    listed = sorted(mutants, key=lambda mutant: mutant.name)
    return random.Random(seed).sample(listed, min(size, len(listed)))  # noqa: S311 - no secret


def shown(mutant: Mutant) -> str:
    """Return what a mutant changes: its function, and the lines before and after."""
    module = mutant.name.rpartition(".")[0]
    path = f"{module.replace('.', '/')}.py"
    with contextlib.chdir(ROOT):
        return described(mutant.name, get_diff_for_mutant(mutant.name, path=path))


def described(name: str, diff: str) -> str:
    """Word a mutant so that it is the same one after code above it was changed: mutmut's numbers are not."""
    function = (
        name.rpartition("__mutmut_")[0].replace("x_", "", 1).replace("xǁ", "").replace("ǁ", ".")
    )
    body = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    sides = [
        " ".join(" ".join(line[1:] for line in body if line[:1] == sign).split()) for sign in "-+"
    ]
    return f"{function}: {sides[0]} → {sides[1]}"


def explained(text: str) -> dict[str, str]:
    """Read why survivors may live: each with its reason."""
    groups = yaml.safe_load(text) or []
    return {mutant: group["reason"] for group in groups for mutant in group["mutants"]}


def table(mutants: Sequence[Mutant], reasons: Mapping[str, str]) -> str:
    """Return a line for each package and one for all; ``reasons`` are by the names of survivors."""
    rows = [
        f"{'package':10}{'mutants':>9}{'tested':>8}{'killed':>8}{'survived':>10}{'explained':>11}{'killed':>10}"
    ]
    for name in (*PACKAGES, "total"):
        of_package = [mutant for mutant in mutants if name in {mutant.package, "total"}]
        tested = [mutant for mutant in of_package if mutant.tested]
        alive = [mutant for mutant in tested if mutant.survived]
        with_reason = sum(mutant.name in reasons for mutant in alive)
        rows.append(
            f"{name:10}{len(of_package):9}{len(tested):8}{len(tested) - len(alive):8}{len(alive):10}{with_reason:11}"
            f"{killed_share(tested):8.1f} %"
        )
    return "\n".join(rows)


def killed_share(tested: Sequence[Mutant]) -> float:
    """Return how many per cent were noticed; of none that were tested, none were."""
    return 100 * sum(not mutant.survived for mutant in tested) / len(tested) if tested else 0.0


def report(mutants: Sequence[Mutant], *, whole: bool) -> int:
    """Print the table and what is to be done; return 0 where nothing is."""
    tested = [mutant for mutant in mutants if mutant.tested]
    words = {mutant.name: shown(mutant) for mutant in tested if mutant.survived}
    explanations = explained(EXPLAINED.read_text("utf-8"))
    reasons = {name: explanations[text] for name, text in words.items() if text in explanations}
    lines = [table(mutants, reasons)]
    unexplained = [name for name in words if name not in reasons]
    lines += [f"survivor  {name}\n          {words[name]}" for name in unexplained]
    done = whole and len(tested) == len(mutants)
    stale = sorted(explanations.keys() - set(words.values())) if done else []
    lines += [f"explained, and no survivor: {text}" for text in stale]
    print("\n".join(["", *lines]), flush=True)  # noqa: T201 - a script for people
    return int(bool(unexplained or stale) or killed_share(tested) < DEMANDED)


def seconds_of(text: str) -> float:
    """Read a budget: ``90s``, ``10m``, ``2h``."""
    return float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def main(arguments: Iterable[str]) -> int:
    """Run what is left to run, then report on all that was chosen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=seconds_of, help="stop after this time, such as 10m")
    parser.add_argument("--sample", type=int, help="test so many mutants instead of all")
    parser.add_argument("--seed", type=int, default=1, help="which ones a sample takes")
    parser.add_argument("--fresh", action="store_true", help="forget all earlier verdicts")
    parser.add_argument("--report", action="store_true", help="run nothing, print what is known")
    chosen = parser.parse_args(list(arguments))
    if not chosen.report:
        prepare(fresh=chosen.fresh)
        code = run_chosen(chosen.sample, chosen.seed, chosen.budget)
        if code:
            return code
    mutants = read_mutants(MUTANTS)
    if chosen.sample is not None:
        mutants = sampled(mutants, chosen.sample, chosen.seed)
    return report(mutants, whole=chosen.sample is None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
