"""Capture packets of one marked flow on the nodes of its way: the I/O of traces and of ``--enable=packets``.

``scene`` says what a check's flow should look like, ``captures`` captures it, ``tracer`` traces a check so,
``witnessing`` examines a connection for a check of class ``packets``, and ``from_files`` reads captures that
somebody else made. What frames mean is decided in ``tracing``; which checks are traced, in ``session``.
"""
