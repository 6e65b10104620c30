"""What serves the Services of a Windows node in userspace mode: kube-proxy's ``pkg/proxy/winuserspace``, up to 1.25.

``portals`` listens and carries bytes, ``next_attempt`` says which backend is next.
"""
