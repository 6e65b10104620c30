"""Check a vendor's claims about a network plugin against a run: profile → report → verification. Pure.

``vendor_profile`` reads claims, ``claims`` and ``scope`` compare them with flows and facts, ``flow_evidence`` and
``assessment`` make the report's values, ``report_yaml``, ``report_page``, ``report_markdown`` and ``badge`` render
it, ``verification`` compares a published report. ``session`` reads files, packages and journals.
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
