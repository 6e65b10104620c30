"""``ConformanceReport`` → the YAML document that is published, in the manner of gateway-api's ``ConformanceReport``.

``document`` is its plain data, which ``verification`` compares; published as ``conformance-report.schema.json``.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from nettests.conformance.conformance_report import (
    ConformanceReport,
    Digest,
    Failed,
    FeatureReport,
    LevelReport,
    Missing,
    Statistics,
)
from nettests.conformance.sentences import headline
from nettests.conformance.vendor_profile import VendorProfile, read_vendor_profile
from nettests.errors import PathError
from nettests.expect.condition import Truth
from nettests.model.labels import document_version
from nettests.model.visible import visible
from nettests.model.yaml_text import read_yaml
from nettests.model.yaml_writing import write_yaml

API_VERSION = document_version("v1alpha1")
KIND = "ConformanceReport"
HOLDS = {Truth.YES: "inside", Truth.NO: "outside", Truth.UNKNOWN: "unknown"}


def render_yaml(report: ConformanceReport) -> str:
    """Return the text."""
    return write_yaml(document(report), width=120, literal=True)


def document(report: ConformanceReport) -> dict[str, Any]:
    """Return the document as plain data; hidden characters are named, whoever wrote them."""
    data: dict[str, Any] = _visible(_document(report))
    return data


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _visible(part) for key, part in value.items()}
    return [_visible(part) for part in value] if isinstance(value, list) else value


def _document(report: ConformanceReport) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "date": report.date,
        "nettestsVersion": report.nettests,
        "implementation": {
            **asdict(report.implementation),
            "contact": list(report.implementation.contact),
        },
        "result": report.result.value,
        "summary": headline(report),
        **{level.value: _level(level_report) for level, level_report in report.levels.items()},
        "unsupportedFeatures": [
            {
                "name": feature.name,
                "reason": feature.reason,
                "observed": feature.works.value,
                "statistics": _statistics(feature.statistics),
                "flows": list(feature.flows),
            }
            for feature in report.unsupported
        ],
        "unclaimed": {
            "statistics": _statistics(report.unclaimed.statistics),
            "failedChecks": [_failed(failed) for failed in report.unclaimed.failed],
            "flows": list(report.unclaimed.flows),
        },
        "scope": [
            {
                "subject": row.subject,
                "supported": row.claimed,
                "tested": row.found,
                "holds": HOLDS[row.holds],
            }
            for row in report.scope
        ],
        "notCovered": list(report.not_covered),
        **_tested(report),
        "digests": {
            "journal": _digest(report.digests.journal),
            "profile": _digest(report.digests.profile),
            "manifests": [_digest(manifest) for manifest in report.digests.manifests],
            "suites": [_digest(suite) for suite in report.digests.suites],
        },
        "profile": report.profile,
    }


def read_report(text: str, file: str) -> Mapping[str, Any]:
    """Return the data of a report; ``ManifestError`` for what is no YAML, ``PathError`` for another document.

    What stands in it is not trusted: ``verification`` compares all of it.
    """
    data, _ = read_yaml(text, file)
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise PathError(
            f"{file} is no conformance report",
            hint=f"name a YAML document of kind {KIND}; nettests conformance writes one",
        )
    if data.get("apiVersion") != API_VERSION:
        raise PathError(
            f"{file} has apiVersion {data.get('apiVersion')!r}, and this version of nettests reads {API_VERSION}",
            hint="verify it with the version of nettests that it names",
        )
    return data


def profile_in(report: Mapping[str, Any], file: str) -> VendorProfile:
    """Return the vendor profile that a report carries; ``ManifestError`` for what is none.

    ``PathError`` where it has files of the vendor's own, which a report does not carry.
    """
    text = report.get("profile")
    if not isinstance(text, str):
        raise PathError(f"{file} carries no profile", hint="name it with --vendor-profile FILE")
    profile = read_vendor_profile(text, f"the profile in {file}")
    if profile.has_own_files:
        raise PathError(
            f"{file} rests on suites or limitations of the vendor's own",
            hint="name the profile that brings them: --vendor-profile FILE",
        )
    return profile


def _level(level: LevelReport) -> dict[str, Any]:
    return {
        "result": level.result.value,
        "statistics": _statistics(level.statistics),
        "features": [_feature(feature) for feature in level.features],
    }


def _feature(feature: FeatureReport) -> dict[str, Any]:
    return {
        "name": feature.name,
        **({"summary": feature.summary} if feature.summary else {}),
        "result": feature.result.value,
        "statistics": _statistics(feature.statistics),
        "flows": list(feature.flows),
        **({"failedChecks": [_failed(each) for each in feature.failed]} if feature.failed else {}),
        **({"notShown": [_missing(each) for each in feature.missing]} if feature.missing else {}),
        **({"limitations": list(feature.limitations)} if feature.limitations else {}),
    }


def _statistics(counted: Statistics) -> dict[str, int]:
    return {
        "passed": counted.passed,
        "limited": counted.limited,
        "recorded": counted.recorded,
        "knownBugs": counted.known_bugs,
        "failed": counted.failed,
        "unknown": counted.unknown,
        "skipped": counted.skipped,
        "notPlanned": counted.not_planned,
    }


def _failed(failed: Failed) -> dict[str, str]:
    return {
        "check": failed.check,
        "verdict": failed.verdict.value,
        "expected": failed.expected,
        "observed": failed.observed,
    }


def _missing(missing: Missing) -> dict[str, Any]:
    return {
        "why": missing.gap.value,
        "flow": missing.flow,
        "reason": missing.reason,
        "checks": list(missing.checks),
    }


def _tested(report: ConformanceReport) -> dict[str, Any]:
    tested = report.tested
    return {
        "cluster": {
            "kubernetes": tested.kubernetes,
            "plugin": tested.plugin,
            "backend": tested.backend,
            "factsDigest": tested.facts_digest,
            "nodePools": [
                {
                    "name": row.pool,
                    "os": row.os,
                    "nodes": row.nodes,
                    **({"build": row.build, "driver": row.driver} if row.build else {}),
                    "kubelet": row.kubelet,
                    "runtime": row.runtime,
                    "kubeProxy": row.kube_proxy,
                }
                for row in tested.pools
            ],
        },
        "run": {
            "id": tested.run_id,
            "started": tested.started,
            "finished": tested.finished,
            "complete": tested.complete,
            "exercised": tested.exercised,
            "judgedOtherwise": tested.judged_otherwise,
        },
    }


def _digest(digest: Digest) -> dict[str, Any]:
    return {"file": digest.file, "sha256": digest.sha256, **({"own": True} if digest.own else {})}
