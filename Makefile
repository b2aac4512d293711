# make help lists the targets. Everything a target needs from the system is installed first (scripts/setup).
.DEFAULT_GOAL := help
.PHONY: help build ui run test test-long test-engines test-faults soak promises fuzz check generate bench bench-compare release audit clean setup check-go check-rest

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
GOBUILD = go build -ldflags '-s -w -X main.version=$(VERSION)'
# Tests collect garbage less often, which takes a quarter of their processor time; those that measure memory do as a server does.
GOTEST  = GOGC=400 HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go test -vet=off -timeout 30m

# All is built, checked and tested as it is shipped, without C and paths, so that what one step compiles serves the others;
# only the solver program's packages need a C compiler, and they are named here.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -trimpath
SOLVER = ./internal/core/lp/coin ./cmd/headroom-solver
# The solvers of the Python registry that make bench and make test-long compare with.
PEERS  = bin/peers
CGO    = CGO_ENABLED=1

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:
	@scripts/setup

ui: setup ## build the page, which is embedded in bin/headroom
	@scripts/ui

build: ui ## build bin/headroom and bin/headroom-solver
	$(GOBUILD) -o bin/headroom ./cmd/headroom
	$(CGO) $(GOBUILD) -o bin/headroom-solver ./cmd/headroom-solver

run: build ## build and serve the demonstration, with a private database: make run SERVE="--listen 127.0.0.1:9000 --data-dir /tmp/demo"
	bin/headroom serve --demo $(SERVE)

# Two packages run at a time on two processors, in this order. Those of cmd/headroom and of the page wait half of the time for servers and
# browsers: beside them run those that compute on one processor. What takes longest comes first, so that the last does not run alone.
FIRST = ./cmd/headroom ./internal/ask/recheck/timetables ./internal/core/schedule ./internal/core/plan ./internal/ask/trial \
	./internal/edge/web ./internal/ask/recheck ./internal/ask/reproduce ./scripts/release ./internal/ask/pool ./internal/ask/pack \
	./internal/edge/api ./internal/service/app ./internal/edge/postgres

test: build ## run the tests with small samples, and try what fuzzing has found
	$(GOTEST) $(FIRST) ./...
	$(CGO) $(GOTEST) $(SOLVER)

REQUESTS = 1000000

test-long: build $(PEERS)/installed ## run the tests with every large sample (up to two hours), also clients and requests made from openapi.yaml and proxies (installs solvers of the Python registry, npm, nginx, HAProxy, Caddy and Schemathesis)
	@scripts/setup clients
	@before=$$($(SUM)); $(MAKE) --no-print-directory generate && test "$$before" = "$$($(SUM))" || { echo "make test-long: the generated code was not what its generators write."; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	$(CGO) go tool -modfile=tools/go.mod staticcheck $(SOLVER)
	HEADROOM_LONG=1 HEADROOM_HIGHS='$(CURDIR)/$(PEERS)/bin/python' $(GOTEST) -count=1 -timeout 90m ./...
	HEADROOM_LONG=1 HEADROOM_GENERATED=$(REQUESTS) $(GOTEST) -count=1 -timeout 3h -run '^TestGeneratedRequests$$' ./internal/edge/api
	HEADROOM_TEST_POOLER=1 $(GOTEST) -count=1 ./internal/edge/postgres ./internal/edge/api ./internal/service/...
	$(CGO) HEADROOM_LONG=1 $(GOTEST) -count=1 $(SOLVER)
	@$(MAKE) --no-print-directory fuzz FUZZTIME=60s

SPARK = bin/spark/bin

HADOOP = bin/hadoop
YARNTEST = internal/test/engines/yarntest/testdata

$(HADOOP)/App.class: $(YARNTEST)/pom.xml $(YARNTEST)/App.java
	mvn --quiet --batch-mode --file $(YARNTEST)/pom.xml dependency:copy-dependencies -DoutputDirectory='$(CURDIR)/$(HADOOP)'
	javac -cp '$(HADOOP)/*' -d $(HADOOP) $(YARNTEST)/App.java

test-engines: build ## drive a real Slurm (500 jobs, 50 plans, everything killed in turn), a real Spark and a real YARN, for an hour and a half; installs them
	@scripts/setup engines
	@test -x $(SPARK)/spark-submit || { python3 -m venv bin/spark && $(SPARK)/pip install --quiet --requirement cmd/headroom/testdata/spark/requirements.txt; }
	@$(MAKE) $(HADOOP)/App.class
	HEADROOM_ENGINES=1 HEADROOM_LONG=1 $(GOTEST) -count=1 -timeout 150m -v -run 'Slurm|Spark|Yarn' ./internal/slots/drive/... ./cmd/headroom

SOAK = 10m
SOAK_RATE = 200

soak: build ## serve 200 requests a second for 10 minutes and see what grows: make soak SOAK=2m SOAK_RATE=50
	SOAK=$(SOAK) SOAK_RATE=$(SOAK_RATE) SOAK_PROFILE='$(CURDIR)/bin/soak.profile' $(GOTEST) -count=1 -timeout 2h -run '^TestSoak$$' -v ./cmd/headroom

FAULTS = R1 R2 R3 R8 R9 R10 R11 R12 R14 R17 R18 R19 R20 R22

test-faults: build ## run every test that shows a promise about faults (those that say t.Attr("R1", …)) in full, half an hour, and print the figures
	HEADROOM_LONG=1 HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go run ./scripts/promises $(FAULTS)

promises: build ## what is promised under faults, load and attack, what was reached and by which test
	HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go run ./scripts/promises

FUZZTIME = 10s

fuzz: ## fuzz all that reads what others write: make fuzz FUZZTIME=60s
	@scripts/fuzz $(FUZZTIME) $$(grep -rl '^func Fuzz' --include=*_test.go cmd internal | xargs -n 1 dirname | sort -u | sed 's|^|./|')

GENERATED = openapi/operations_gen.go internal/edge/api/server_gen.go internal/edge/api/rules/rules_gen.go internal/edge/web/ui/src/api/contract.ts

# openapi/generated.sum tells what the generated code was made from, and what it was, so that make check needs no generator:
# to compile and run them takes minutes.
SOURCES = openapi/openapi.yaml openapi/openapi.go $(sort $(wildcard openapi/server/*)) scripts/operations/main.go scripts/contract/main.go scripts/rules/main.go go.mod tools/go.mod
SUM = cat $(SOURCES) $(GENERATED) | sha256sum

generate: ## make the command line's requests, the server's and the page's types from openapi.yaml, plans' JSON from their structs, and docs/reference from all code
	go generate ./openapi ./internal/edge/api/... ./internal/edge/web ./internal/core/capacity
	go run ./scripts/reference
	go run ./scripts/compatible -add
	@$(SUM) > openapi/generated.sum

# It collects garbage less often, which takes a sixth of its processor time and no more memory.
LINT = GOGC=200 bin/lint

check: ui ## format, vet, staticcheck, gosec, Biome, who imports whom, licences, generated code fresh, modules, nothing of v1 gone
	@test "$$($(SUM))" = "$$(cat openapi/generated.sum)" || \
		{ echo "make check: openapi.yaml, a generator or generated code has changed; run make generate, and commit what it writes."; exit 1; }
	@test -z "$$(gofmt -l $$(go list -f '{{.Dir}}' ./...))" || { gofmt -d $$(go list -f '{{.Dir}}' ./...); exit 1; }
	@$(MAKE) --no-print-directory --jobs=2 check-go check-rest

check-go:
	go build -C tools -o ../bin/ ./lint
	$(LINT) ./...
	@# With -trimpath what cgo wrote in another checkout would be taken for this one's.
	$(CGO) GOFLAGS= $(LINT) $(SOLVER)

# These compute on one processor.
check-rest:
	node internal/edge/web/ui/node_modules/typescript/bin/tsc -p internal/edge/web/ui
	go run ./scripts/packages tools
	cd internal/edge/web/ui && $(CURDIR)/tools/node_modules/@biomejs/cli-*/biome lint --error-on-warnings .
	go build -C tools -o ../bin/gosec ./gosec
	bin/gosec $$(go list -f '{{.Dir}}' ./internal/... ./cmd/headroom/... | grep -v /internal/test/)
	go test -vet=off ./internal ./scripts/planjson
	go test -vet=off -run '^TestLicen' ./scripts/release
	go run ./scripts/compatible
	go mod verify

$(PEERS)/installed: cmd/bench/requirements.txt
	@scripts/setup bench
	python3 -m venv $(PEERS) && $(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement $< && touch $@

# BENCH passes options on: make bench BENCH='-families hard -markdown', make bench BENCH='-limit 3s -table docs/benchmarks.md',
# make bench BENCH='-only fleets -fleets 5', make bench BENCH='-only packing'; -help lists them.
bench: build $(PEERS)/installed ## compare with CBC, GLPK, HiGHS, SCIP and CP-SAT on seeded instances (installs them), and measure simulator, packer and server
	@scripts/setup bench
	HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go run ./cmd/bench -headroom bin/headroom $(BENCH)

bench-compare: ## compare the benchmarks of two revisions: make bench-compare REF=v1.2.0 COUNT=10
	@scripts/bench-compare '$(or $(REF),HEAD)' '$(or $(COUNT),6)'

# Releases are built and audited by the patch release of Go that go.mod names, which is fetched where it is not here.
PATCHED = GOTOOLCHAIN=$(shell sed -n 's/^toolchain //p' go.mod)
KEY =

release: ui audit ## build archives and Debian packages for Linux, checksums and lists of contents (SBOM) into dist/, signed: make release KEY=release.pem
	@scripts/setup release
	go run ./scripts/packages internal/edge/web/ui
	$(PATCHED) go run ./scripts/release -version '$(VERSION)' -out dist -key '$(KEY)'

audit: ## look for known vulnerabilities in the modules and in Go (fetches Go's database of them)
	$(PATCHED) go tool -modfile=tools/go.mod govulncheck -db "file://$$(go mod download -json golang.org/x/vulndb@latest | sed -n 's/^.*"Dir": "\(.*\)",$$/\1/p')/data/osv" ./...

clean: ## remove what was built
	rm -rf bin dist
