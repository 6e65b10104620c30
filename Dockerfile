# The image of nettests, for a Job, a CronJob, Sonobuoy and CI: what `pip install nettests` brings, and no more.
#   make image TAG=registry.example/nettests:0.1.0
# No lab, no kubectl, no compiler, no pip. Nothing in it is written to while it runs but /tmp and the report's folder.

# python:3.13.15-slim-trixie, an index of all its platforms; the digest decides, the tag is for people.
# A build of yours may take another base: --build-arg BASE=mirror.example/python:3.13-slim@sha256:…
ARG BASE=docker.io/library/python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements/installer.txt requirements/image.txt requirements/
# Every library by version and hash, as `make lock` wrote them.
RUN python -m venv /tools \
    && /tools/bin/pip install --require-hashes --requirement requirements/installer.txt \
    && python -m venv /nettests \
    && /nettests/bin/pip install --require-hashes --requirement requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY suites suites
COPY manifests manifests
COPY nettests nettests
# The version is that of pyproject.toml, which the wheel takes over.
RUN /tools/bin/uv build --wheel --no-build-isolation --python /tools/bin/python --out-dir /wheels . \
    && /nettests/bin/pip install --no-deps --no-index /wheels/*.whl \
    && /nettests/bin/pip uninstall --yes pip \
    && /nettests/bin/python -m compileall -q /nettests/lib \
    && /nettests/bin/nettests --version

FROM ${BASE}
ARG VERSION=unknown
LABEL org.opencontainers.image.title="nettests" \
      org.opencontainers.image.description="Does Windows networking in this Kubernetes cluster behave as documented?" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /nettests /nettests
# No home: a Pod's root file system is read-only.
ENV PATH=/nettests/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /tmp
# By number: a kubelet cannot tell whether a name is root.
USER 65532:65532
ENTRYPOINT ["nettests"]
CMD ["--help"]
