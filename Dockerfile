# Package and workflow in one image: `docker build -t moralscale .`, or docs/cluster.md for Apptainer.
FROM python:3.12-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
# Every package by its hash; the lock is complete, so there is nothing to resolve.
COPY requirements.lock ./
RUN pip install --no-deps --require-hashes -r requirements.lock
# A wheel brings along the workflow and its data (tools/wheel.py).
COPY pyproject.toml README.md LICENSE environment.yml ./
COPY config config
COPY examples examples
COPY scenarios scenarios
COPY src src
COPY tools/wheel.py tools/wheel.py
COPY workflow workflow
RUN pip install --no-deps --no-build-isolation .

FROM python:3.12-slim-bookworm
# nutpie compiles models with numba; git would add the commit to manifests, and is not in the image.
RUN useradd --create-home --uid 1000 moralscale
COPY --from=build /opt/venv /opt/venv
WORKDIR /project
COPY --chown=moralscale Snakefile pyproject.toml requirements.lock environment.yml ./
COPY --chown=moralscale config config
COPY --chown=moralscale scenarios scenarios
COPY --chown=moralscale examples examples
COPY --chown=moralscale workflow workflow
RUN mkdir results && chown moralscale:moralscale . results
USER 1000
ENV PATH=/opt/venv/bin:$PATH PYTHONHASHSEED=0
# Results outlive the container in a volume: -v "$PWD/results:/project/results".
VOLUME /project/results
ENTRYPOINT ["snakemake", "--profile", "workflow/profiles/default"]
