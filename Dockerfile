# The image for the CPU, and with --target cuda that for GPUs.
#
# docker build -t gladflow .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" gladflow recover expression.tsv.gz
#
# docker build --target cuda -t gladflow-cuda .
# docker run --rm --gpus all -v "$PWD:/data" --user "$(id -u):$(id -g)" gladflow-cuda recover expression.tsv.gz --device cuda

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
# The modules are a layer of their own, kept while only the sources change.
COPY go.mod go.sum ./
RUN go mod download
# With .git, from which Go takes the version: nothing that is tracked may be
# missing, or the version says that the tree was changed.
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/gladflow ./plugin/gladflow

FROM build AS build-cuda
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3-pip \
 && rm -rf /var/lib/apt/lists/*
RUN .ci/with-cuda go build -trimpath -tags cuda -ldflags="-s -w" -o /out/gladflow-cuda ./plugin/gladflow

# cuBLAS and cuSOLVER of CUDA 12; the driver comes from outside. Ubuntu 24.04 has a newer
# glibc than the stage before, which the binary needs.
FROM nvidia/cuda:12.9.1-runtime-ubuntu24.04 AS cuda
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates libopenblas0-pthread \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin gladflow \
 && install -d -o gladflow -g gladflow /data
COPY --from=build-cuda /out/gladflow-cuda /usr/local/bin/gladflow-cuda
RUN ln -s gladflow-cuda /usr/local/bin/gladflow
USER 10001:10001
WORKDIR /data
EXPOSE 8815
ENTRYPOINT ["gladflow-cuda"]

# The last is what is built without --target.
# Debian, not Alpine or scratch: without cgo the binary still opens OpenBLAS at
# run time, and that needs glibc.
FROM debian:12.11-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates libopenblas0-pthread \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin gladflow \
 && install -d -o gladflow -g gladflow /data
COPY --from=build /out/gladflow /usr/local/bin/gladflow
# By number, so that a cluster can see that it is not root.
USER 10001:10001
WORKDIR /data
# gladflow serve --listen 0.0.0.0:8815, with certificates.
EXPOSE 8815
ENTRYPOINT ["gladflow"]
