"""Check a vendor's claims about a network plugin against a run: profile → report → verification. Pure.

``vendor_profile`` reads claims and compares them with flows; ``flow_evidence`` and ``assessment`` make the report's values (``conformance_report``), ``report_text`` and ``report_page`` render them, ``verification``
compares a published report. ``session`` reads files, packages and journals.
"""
