# Headroom with its solver and, for those who bring no database, Postgres' programs:
#   docker build --build-arg VERSION="$(git describe --tags --always)" -t headroom .
# Without Postgres in it (a much smaller image, which needs DATABASE_URL):
#   docker build --build-arg POSTGRES= -t headroom .

# Both base images may be fixed by digest: --build-arg GO_IMAGE=golang@sha256:… --build-arg BASE_IMAGE=debian@sha256:…
ARG GO_IMAGE=golang:1.26-bookworm
ARG BASE_IMAGE=debian:bookworm-slim

FROM $GO_IMAGE AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends coinor-libcbc-dev coinor-libclp-dev zlib1g-dev pkg-config g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=development
RUN scripts/ui
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/headroom ./cmd/headroom \
 && CGO_ENABLED=1 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/headroom-solver ./cmd/headroom-solver

FROM $BASE_IMAGE
ARG POSTGRES=postgresql-15
# The file keeps Debian's package from making a cluster of its own: only the programs are wanted.
RUN mkdir -p /etc/postgresql-common \
 && printf "create_main_cluster = false\nstart_conf = 'manual'\n" > /etc/postgresql-common/createcluster.conf \
 && apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates tzdata coinor-libcbc3 coinor-libclp1 $POSTGRES \
 && rm -rf /var/lib/apt/lists/*
# A number and a name: Kubernetes wants to see a number, and Postgres a user that has a name.
RUN groupadd --gid 10001 headroom \
 && useradd --no-log-init --uid 10001 --gid headroom --home-dir /var/lib/headroom --no-create-home --shell /usr/sbin/nologin headroom \
 && install -d -o headroom -g headroom -m 0700 /var/lib/headroom
COPY --from=build /out/headroom /out/headroom-solver /usr/local/bin/
COPY LICENSE README.md CHANGELOG.md /usr/share/doc/headroom/
COPY docs /usr/share/doc/headroom/docs
ARG VERSION=development
ARG REVISION=unknown
ARG BASE_IMAGE
LABEL org.opencontainers.image.title="Headroom" \
      org.opencontainers.image.description="Capacity planning for batch and analytics clusters, with proof" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="$BASE_IMAGE"
# Beyond loopback the server starts only with a key: set HEADROOM_ADMIN_KEY ("headroom server key draw" makes one).
ENV HEADROOM_LISTEN=0.0.0.0:8080 \
    HEADROOM_DATA_DIR=/var/lib/headroom
USER 10001:10001
VOLUME /var/lib/headroom
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/headroom", "server", "health"]
ENTRYPOINT ["/usr/local/bin/headroom"]
CMD ["serve"]
