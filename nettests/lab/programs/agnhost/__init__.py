"""agnhost 2.63.0, the multi-call test program of Kubernetes, as recorded in the project's transcripts.

``command`` parses the command line; one module per sub-command (or family) does the work. Sub-commands
that the lab does not provide are refused by name. Behaviour not covered by the transcript follows the
documentation of agnhost and Go.
"""
