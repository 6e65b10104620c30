"""What a vendor claims of a network plugin, held against a run: profile → report, and the report recomputed. Pure.

``vendor_profile`` reads claims, ``claims`` and ``scope`` hold them against flows and facts, ``flow_evidence`` and
``assessment`` make the report's values, ``report_yaml``, ``report_page``, ``report_markdown`` and ``badge`` its
documents, ``verification`` compares a published one. Files, packages and journals are read by ``session``.
"""

from nettests.conformance.assessment import JudgedRun, assess
from nettests.conformance.claims import claim_mistakes, require_known_claims
from nettests.conformance.conformance_report import ConformanceReport, Digest, Digests, Result
from nettests.conformance.documents import documents
from nettests.conformance.report_yaml import document, profile_in, read_report
from nettests.conformance.vendor_profile import VendorProfile, read_vendor_profile
from nettests.conformance.verification import Mismatch, mismatches

__all__ = [
    "ConformanceReport",
    "Digest",
    "Digests",
    "JudgedRun",
    "Mismatch",
    "Result",
    "VendorProfile",
    "assess",
    "claim_mistakes",
    "document",
    "documents",
    "mismatches",
    "profile_in",
    "read_report",
    "read_vendor_profile",
    "require_known_claims",
]
