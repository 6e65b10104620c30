"""Check a vendor's claims about a network plugin against a run: profile → report. Pure.

``vendor_profile`` reads claims and compares them with flows; ``flow_evidence`` and ``assessment``
create the report (``conformance_report``), ``report_text`` and ``report_page`` render it,
``verification`` compares a published one. ``session`` reads files, packages and journals.
"""
