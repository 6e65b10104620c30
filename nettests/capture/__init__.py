"""Capture packets of one marked flow on the nodes of its path, for traces and ``--enable=packets``.

``scene`` describes how a check's flow should go, ``captures`` captures it, ``tracer`` traces a
check, ``witnessing`` examines a connection for a check of class ``packets``, and ``trace_files``
reads capture files. ``tracing`` decides what frames mean; ``session``, which checks are traced.
"""
