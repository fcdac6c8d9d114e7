# Quorate's targets. `make run` needs Go alone; `make up` and `make test-docker` need a Docker engine.

GO       ?= go
# The version comes from git where there is one: the last tag, else v0.0.0 and the commit.
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
# Whether what is built is that commit: clean, dirty, or nothing without git.
TREE     := $(shell if changed=$$(git status --porcelain 2>/dev/null); then test -z "$$changed" && echo clean || echo dirty; fi)
VERSION  ?= $(shell git describe --tags --match 'v[0-9]*' 2>/dev/null || echo v0.0.0-$(COMMIT))$(if $(filter dirty,$(TREE)),-dirty)
DATE     := $(shell git show -s --format=%cI HEAD 2>/dev/null)
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE) -X main.tree=$(TREE)
BUILD    := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)'
# What every other command compiles with, too, so that none compiles again what another has compiled. Only the race detector needs cgo.
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath
# Packages tested at a time: each may run whole clusters of nodes.
PARALLEL ?= 2
TESTFLAGS ?=
# Packages tested without the race detector, which makes them six times as slow: they try many values one after the other, and what they
# test runs with it on many goroutines in the tests of apiserver and of chaos. UNRACED= leaves none out.
UNRACED  ?= $(addprefix quorate/apiserver/objects/,patch schema structural validation) $(addprefix quorate/chaos/,check check/watchmodel)
# Modules beside the main one: clients for tests and benchmarks, kept out of what ships.
# That of upstream's suites is left out: its compilation takes a quarter of an hour.
MODULES  := $(patsubst %/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path './bin/*' -not -path './chaos/upstream/*'))

.PHONY: all build run up down test test-docker alerts fuzz chaos clients clients-upstream mutants failpoints bench bench-peers bench-diff plots lint generate image loadgen \
  dist dist-test

all: build

# bin/quorate and bin/quorate-chaos, static.
build:
	$(BUILD) -o bin/quorate ./cmd/quorate
	$(BUILD) -o bin/quorate-chaos ./cmd/quorate-chaos

# One node with no configuration, in the foreground.
run: build
	exec bin/quorate serve

# The image holds the binary and an empty /data, nothing else: no base image, so nothing is pulled.
image: build
	rm -rf bin/image && mkdir -p bin/image && mkdir -m 700 bin/image/data && cp bin/quorate bin/image/quorate
	docker build --quiet -f deploy/Dockerfile -t quorate:local .

# What a release publishes, in bin/dist: static binaries, Debian packages, images, SBOMs, and their sums. docs/releasing.md describes each.
# The same commit and version of Go give the same bytes anywhere: settings of the environment that change code are set here.
DISTARCHS := amd64 arm64
DISTNAME  := quorate_$(VERSION:v%=%)_linux
dist:
	rm -rf bin/dist && mkdir -p bin/dist
	set -e; for arch in $(DISTARCHS); do \
	  GOOS=linux GOARCH=$$arch GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT= GOFLAGS=-trimpath $(BUILD) -o bin/dist/$(DISTNAME)_$$arch ./cmd/quorate; \
	done
	rm -rf bin/man && SOURCE_DATE_EPOCH=$$(date -d '$(DATE)' +%s) $(MAKE) --no-print-directory man
	CGO_ENABLED=0 $(GO) run -C deploy/dist . -version '$(VERSION)' -commit '$(COMMIT)' -date '$(DATE)' -arch '$(shell echo $(DISTARCHS) | tr ' ' ,)' \
	  -root ../.. -out ../../bin/dist -man ../../bin/man
	@cat bin/dist/SHA256SUMS

# Builds it twice, the second time in another folder and from nothing, and compares; then installs, starts and inspects what was built.
# A quarter of an hour on two cores.
dist-test: dist
	cd deploy/dist && DIST_VERSION='$(VERSION)' DIST_COMMIT='$(COMMIT)' DIST_DATE='$(DATE)' DIST_TREE='$(TREE)' \
	  CGO_ENABLED=0 $(GO) test -count 1 -v -timeout 1h -tags dist -run '^TestBuilt' .

# Three nodes in containers; down also deletes their volumes, so the next up starts afresh.
up: startable image
	deploy/compose up

# Fails before anything is built if the nodes could not start: no daemon, ports in use, a lost key.
.PHONY: startable
startable:
	@deploy/compose check

down:
	deploy/compose down

# Downloads every module that lint and test need.
.PHONY: fetch
fetch:
	set -e; for m in . $(MODULES); do $(GO) -C $$m list -deps -test ./... >/dev/null; done

# Every test that needs no Docker; what CI runs. It ends with how many cases passed, failed and were skipped, and why.
# -race needs cgo. The modules hold others' clients, which drive servers that are processes of their own or tested above: there the race
# detector would look at the clients, and take most of the time. By default it also sleeps for a second before each of the binaries exits.
# make lint vets what is tested.
test: fresh
	rm -rf bin/tests && mkdir -p bin/tests
	$(GO) build -o bin/tests/tally ./chaos/tally
	@all=$$($(GO) list ./...) || exit 1; tally="bin/tests/tally -into bin/tests --"; failed=0; \
	  raced=$$(printf '%s\n' $$all | grep -vxF "$$(printf '%s\n' $(UNRACED))"); \
	  CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $$tally $(GO) test -race -vet off -p $(PARALLEL) -timeout 20m $(TESTFLAGS) \
	    $$raced || failed=1; \
	  $(if $(UNRACED),$$tally $(GO) test -vet off -p $(PARALLEL) -timeout 20m $(TESTFLAGS) $(UNRACED) || failed=1;) \
	  for m in $(MODULES); do \
	    echo "module $$m"; \
	    $$tally $(GO) -C $$m test -vet off -p $(PARALLEL) -timeout 20m $(TESTFLAGS) ./... || failed=1; \
	  done; \
	  bin/tests/tally -sum bin/tests; exit $$failed

# The compose and network-fault tests, where a Docker engine answers: those with the build tag docker, TestContainers...
test-docker: image
	deploy/compose absent
	$(GO) test -v -p 1 -timeout 20m -tags docker -run '^TestContainers' -count 1 $(TESTFLAGS) ./chaos

# Every alert of deploy/alerts.yaml fires and clears by a real fault: ten minutes. As root with /dev/fuse, on a machine with Debian's
# package prometheus; what lacks something is skipped.
alerts:
	$(GO) test -v -timeout 40m -tags alerts -parallel 3 -run '^TestFaults' -count 1 $(TESTFLAGS) ./deploy

# Frames to the HTTP/2 server, messages to gossip, and configurations to server-side apply, as strangers, members and users could send
# them: ten minutes each, or FUZZTIME.
# An input that fails is kept under testdata/fuzz of its package, and from then on is a case of its tests. Minimizing is short, because
# the coverage of goroutines varies, and inputs that only seem new would take a minute each.
FUZZTIME ?= 10m
FUZZ     := $(GO) test -run '^$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s
fuzz:
	$(FUZZ) -fuzz '^FuzzFrames$$' ./apiserver/wire/h2
	$(FUZZ) -fuzz '^FuzzMessages$$' ./cluster/gossip
	$(FUZZ) -fuzz '^FuzzApply$$' ./apiserver/objects/apply

# Every fault, one after the other, on local processes: minutes. It writes bin/chaos.html. Before a release
# CHAOS="--duration 1h --nodes 5", and, after make up, bin/quorate-chaos --containers --duration 1h.
chaos: build failpoints
	bin/quorate-chaos --binary bin/failpoints/quorate --failpoints --report bin/chaos.html $(CHAOS)

# Software of others, fetched and built, on three nodes: the first time half an hour. It writes chaos/software/RESULTS.md. CLIENTS=helm
# tries what is named so, and prints the table.
clients:
	$(GO) run ./chaos/software $(if $(CLIENTS),-only '$(CLIENTS)',-out chaos/software/RESULTS.md)

# Kubernetes' own tests of API machinery and of kubectl, on three nodes: the first time an hour. It writes chaos/upstream/RESULTS.md.
# TESTS=watch runs the tests that are named so, and prints the table.
clients-upstream:
	$(GO) run ./chaos/upstream $(if $(TESTS),-only '$(TESTS)',-out chaos/upstream/RESULTS.md)

# Faults planted in a copy of the sources, and the tests that catch them: hours. MUTANTS=name,area,... runs some, RESUME=1 those left.
mutants:
	$(GO) run ./chaos/mutants $(if $(MUTANTS),-mutants $(MUTANTS)) $(if $(RESUME),-resume); \
	  status=$$?; $(GO) run ./chaos/mutants -table && exit $$status

# A server with failpoints, and a clock that can be moved, for quorate-chaos; it's not for anything else.
failpoints:
	$(GO) run ./chaos/failpoint/build bin/failpoints

# The benchmark beside its targets; BENCH=quick takes under two minutes. It writes bin/bench.html. PEERS=FILE,... shows measurements of
# a peer beside it, as bench/README.md describes.
bench: build loadgen
	$(GO) run ./bench -mode $(or $(BENCH),full) -report bin/bench.html $(if $(PEERS),-peers '$(PEERS)')

# This build beside kube-apiserver and etcd, in turn, each alone on the machine, on one node and on three. The first time it builds them,
# which takes twenty minutes; then a full run takes a quarter of an hour, BENCH=quick some minutes. It writes results.json, results.md and
# results.html to bin/peers. BASE=COMMIT measures that build of Quorate, too, which takes a third longer. PEERSFLAGS="-kube-apiserver FILE
# -etcd FILE" takes other binaries.
bench-peers: build loadgen
	$(GO) run ./bench/peers -mode $(or $(BENCH),full) $(if $(BASE),-base '$(BASE)') $(PEERSFLAGS)

# This working copy beside the commit BASE: micro-benchmarks and three nodes, both builds in turn. It fails if a figure is significantly
# worse by more than 5 %. A quarter of an hour, BENCH=short some minutes; DIFFFLAGS="-only fairness" runs some. It writes bin/diff.txt.
bench-diff: loadgen
	$(GO) run ./bench/diff -base '$(BASE)' -mode $(or $(BENCH),full) -out bin/diff.txt $(DIFFFLAGS)

# docs/images/cost-*.svg, from the tables in bench/results.
plots:
	cd bench/plots && $(GO) run .

loadgen:
	cd bench/loadgen && CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o ../../bin/loadgen .

lint: fresh
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go')); \
	  test -z "$$unformatted" || { echo "gofmt -w these:" $$unformatted; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags docker ./chaos
	$(GO) vet -tags alerts ./deploy
	$(GO) vet -tags release ./cmd/quorate/command
	$(GO) vet -C deploy/dist -tags dist ./...
	$(GO) tool staticcheck ./...
	set -e; tool=$$($(GO) tool -n staticcheck); \
	  for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $$tool ./...); done
	@$(MAKE) --no-print-directory vulnerabilities

# Known vulnerabilities that the code can reach. Without access to the database nothing is checked, and this says so.
.PHONY: vulnerabilities
vulnerabilities:
	@found=$$($(GO) tool govulncheck ./... 2>&1) && { echo "$$found"; exit 0; }; \
	  echo "$$found"; \
	  case "$$found" in *"fetching vulnerabilities"*) echo "vulnerabilities: not checked, since the database can't be reached";; \
	    *) exit 1;; esac

# The manual pages, in bin/man; SOURCE_DATE_EPOCH sets their date.
.PHONY: man
man:
	$(GO) run ./cmd/quorate/manual bin/man

# Fails when generated code differs from what its sources would give.
.PHONY: fresh
fresh:
	cd proto && $(GO) run ./internal/generate -check
	cd apiserver/specification && $(GO) run ./internal/page -check
	$(GO) run ./cmd/quorate/reference -check
	@cmp chaos/plot/report.css apiserver/console/files/report.css || { echo "the console's copy is old: make generate"; exit 1; }

generate:
	$(GO) generate ./...
