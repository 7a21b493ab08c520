# make build   bin/gocuda-kernel
# make demo    a tutorial, executed by Jupyter on this machine
# make test    every test that needs no GPU; make test-gpu: those that do
# The rest is named below. A second run does only what has changed.

GO     ?= go
PYTHON ?= python3
SHELL  := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# One binary for every machine: libraries are found when it runs.
export CGO_ENABLED := 0
# All that is compiled is compiled so, so that nothing is compiled twice. Compilers end
# soon: to collect garbage takes them a fifth of their time. To write what debuggers
# need (DWARF) takes them a sixth: who debugs the kernel builds it by go build.
GOBUILD  := -trimpath -toolexec 'env GOGC=off GOMEMLIMIT=1GiB'
NO_DWARF := -gcflags=all=-dwarf=false
# In the environment, so that it also holds for go commands that tests start.
export GOFLAGS := $(strip $(filter-out $(NO_DWARF),$(shell $(GO) env GOFLAGS)) $(NO_DWARF))

BIN      := bin/gocuda-kernel
VENV     := .venv
PIP      := $(VENV)/.installed
MPI      := build/mpi/.installed
STAMPS   := build/stamps
SOURCES   = $(wildcard $(shell git ls-files -co --exclude-standard 2>/dev/null || find . -type f))
NOTEBOOKS = $(wildcard notebooks/*.ipynb)

.PHONY: build demo release rename vulnerabilities lint lint-ci wheel test-wheel image mpi-libs test test-style test-go test-nvrtc test-nvrtc12 test-race test-race-cells test-races test-python \
        test-browser test-hosts soak test-gpu gpu-bundle bench bench-gpu docs docs-check picture notebooks go-score modules-score cross clean

build: $(BIN)

# The binary is replaced only by another one, so that what was made with it
# stays up to date.
$(BIN): $(STAMPS)/built
	@:
$(STAMPS)/built: $(filter %.go %.h %.cc %.cu %.s %.png %.svg %.js %.json %.ipynb go.mod go.sum cudaapi/sim/include/%,$(SOURCES))
	@mkdir -p $(@D) $(dir $(BIN))
	$(GO) build $(GOBUILD) -o $(BIN).new ./cmd/gocuda-kernel
	@if cmp -s $(BIN).new $(BIN); then rm $(BIN).new; else mv $(BIN).new $(BIN); fi
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Python compiles what is imported, which is little of what is installed.
$(PIP): tests/requirements.txt tests/requirements.lock $(wildcard install/papermill/*.*) | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  -r tests/requirements.txt -c tests/requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps ./install/papermill
	@touch $@

# MPI libraries with their mpirun, for the tests only.
mpi-libs: $(MPI)
$(MPI): tests/mpi-libs.txt scripts/mpi-libs.sh | $(VENV)/bin/python
	scripts/mpi-libs.sh $(VENV)/bin/python $(@D)
	@touch $@

demo: $(BIN)
	@scripts/demo.sh

# Python wheels with the binary and the kernelspec, in dist: WHEELS=linux/amd64 for
# one. test-wheel installs this machine's into an empty environment with JupyterLab,
# and has nbconvert run a tutorial; it takes some minutes, most of them pip's.
WHEELS ?=
wheel:
	$(GO) run $(GOBUILD) ./install/wheels dist $(WHEELS)

# All of a release but the upload, in dist: wheels, archives for five platforms, the
# changes, an SBOM and checksums.
release:
	rm -rf dist
	$(GO) run $(GOBUILD) ./install/wheels dist
	$(GO) run $(GOBUILD) ./install/release dist

# The whole tree under a path that others can fetch: make rename MODULE=example.org/x/gocuda
rename:
	$(GO) run $(GOBUILD) ./scripts/rename $(MODULE)

test-wheel: wheel
	scripts/test-wheel.sh $(PYTHON) dist

# A container image with JupyterLab and the wheel, by docker or podman. Where neither
# runs, its steps are carried out on a layer above this system: see the script.
image:
	@mkdir -p build/image
	$(GO) run $(GOBUILD) ./install/wheels build/image linux/$$($(GO) env GOARCH)
	cp install/image/* tests/requirements.lock build/image
	scripts/image.py build/image

# Go's own test programs, run by the kernel; see kernel/golang/score.
go-score: $(BIN)
	$(GO) run $(GOBUILD) ./kernel/golang/score -exec "$(BIN) exec" \
	  -list kernel/golang/testdata/go-passing.txt -reasons kernel/golang/testdata/go-cannot.txt

# Programs that use popular modules, which the go command fetches.
MODULES := kernel/golang/testdata/modules
modules-score: $(BIN)
	$(GO) run $(GOBUILD) ./kernel/golang/score -exec "$(BIN) exec" -timeout 2m -dir $(MODULES) \
	  -list $(MODULES)/passing.txt -reasons $(MODULES)/cannot.txt

# All tests wait a good deal: they run beside each other, but for the two that compile
# the same for the race detector. pip waits, too, while go vet computes.
test:
	@$(MAKE) -j3 --output-sync=target test-style $(PIP) $(MPI)
	@$(MAKE) $(BIN)
	@$(MAKE) test-races
	@$(MAKE) -j3 --output-sync=target test-go test-browser test-python
	@echo "make test: all passed"

# Ranks on two hosts, made of namespaces, under mpirun and Slurm. It needs root, and
# Debian's openssh-server, iproute2, slurm-wlm, munge and libpmix2; what cannot be made is left
# out, and said.
test-hosts: $(BIN) $(MPI)
	GOCUDA_TEST_HOSTS=$(CURDIR)/$(BIN) $(GO) test $(GOBUILD) -vet=off -count=1 -parallel 6 -v -run '^TestHosts' ./kernel/ranks

# Tools come from Go's module proxy, at these versions.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# What go vet does not find. It takes three minutes of processor time at first, so it is
# a job of its own beside the tests; then 2 to 20 seconds, by what has changed, so that
# test-style does it where it was done before.
lint:
	$(GO) run $(GOBUILD) $(STATICCHECK) ./...
	@mkdir -p $(STAMPS)
	@touch $(STAMPS)/lint

# Known vulnerabilities in what is compiled in. It needs Go's vulnerability database, so
# it stands apart from test-style.
vulnerabilities:
	$(GO) run $(GOBUILD) $(GOVULNCHECK) ./...

# The workflows of hosted CI.
lint-ci:
	$(GO) run $(GOBUILD) $(ACTIONLINT) .github/workflows/*.yaml

test-style: $(STAMPS)/style
$(STAMPS)/style: $(filter %.go,$(SOURCES))
	@mkdir -p $(@D)
	@unformatted=$$(gofmt -l $(sort $(dir $(filter %.go,$(SOURCES))))); \
	  if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet $(GOBUILD) ./...
	@if [ -e $(STAMPS)/lint ]; then $(MAKE) lint; fi
	@touch $@

# go test remembers what passed. It need not vet again. Those that take longest
# come first, so that none is left over at the end. Compilers, evaluators and ranks
# are many small processes: collecting a fifth as often saves a fifth of their
# time. Under the race detector the collector runs as it does at a user's.
GOTEST := $(GO) test $(GOBUILD) -vet=off -p 2 -timeout 40m
LONG   := ./notebooks ./cudaapi/mpi/mpitest ./cudaapi/sim ./kernel/ranks
# PART=1/3 tests the second of three parts: jobs of hosted CI share the packages.
PART ?= 0/1
part  = $(shell $(GO) list $(1) | awk -v part=$(PART) 'BEGIN { split(part, p, "/") } !seen[$$0]++ && n++ % p[2] == p[1]')
# Cells go through the host's compiler, but in the tests that say otherwise, and in those in
# Python, which find NVRTC beside them; make test-nvrtc has all of them go through NVRTC.
NVRTC = $(abspath $(wildcard $(VENV)/lib/python3*/site-packages/nvidia/cu13/lib))
test-go: $(MPI) $(PIP)
	GOCUDA_NVRTC="$(NVRTC)" GOCUDA_SIM_CUDA=c++ GOGC=400 $(GOTEST) $(if $(filter 0/1,$(PART)),$(LONG) ./...,$(call part,$(LONG) ./...))

NVRTC_PACKAGES := ./notebooks ./cudaapi/cuda ./cudaapi/gokernel/kerneltest ./cudaapi/hazard/... ./kernel/magic ./kernel/lsp ./cmd/gocuda-kernel
test-nvrtc: $(MPI) $(PIP)
	GOCUDA_NVRTC="$(NVRTC)" GOCUDA_SIM_CUDA=ptx GOGC=400 $(GOTEST) -short $(NVRTC_PACKAGES)
	GOCUDA_NVRTC="$(NVRTC)" GOCUDA_SIM_CUDA=ptx $(GOTEST) -run '^TestTable$$' ./cudaapi/sim

# What compiles CUDA C++ for simulated devices, by the NVRTC of CUDA 12, in an environment of its
# own; CUDA 13's is beside the other tests.
CUDA12 := build/cuda12
NVRTC12 = $(abspath $(wildcard $(CUDA12)/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib))
$(CUDA12)/.installed: tests/cuda12.txt
	$(PYTHON) -m venv $(CUDA12)
	$(CUDA12)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -r $<
	@touch $@
test-nvrtc12: $(CUDA12)/.installed
	GOCUDA_NVRTC="$(NVRTC12)" GOCUDA_SIM_CUDA=ptx GOGC=400 $(GOTEST) -short ./cudaapi/sim/... ./cudaapi/cuda ./cudaapi/driver/... ./kernel/magic

# The race detector needs cgo; where there is no C compiler, it is left out.
# Interpreted code shares memory as the user's program does. So tests turn its
# reports off in evaluators that they start (GORACE=report_bugs=0): the
# tutorials, the command, the evaluator, cells on ranks and the comparison with
# compiled Go, which run in those only, are left out. Of package
# golang, the tests of goroutines are run, and what is written by interpreted
# assignments is not reported. Left out are generated tables, examples, packages
# whose tests start no goroutine, kernels in Go, which run as C++ (what runs them has
# its tests in package sim), the suite of drivers, which is run there, and the test
# whose evaluator dies of a race, too. A process with the race detector
# would sleep for a second at its end (atexit_sleep_ms).
HAS_CC = command -v gcc >/dev/null || command -v clang >/dev/null
NO_CC  = echo "no C compiler: the race detector is left out"
ONE_GOROUTINE := bench cudaapi/cuda/internal/signature cudaapi/cuda/internal/xorwow cudaapi/internal/allreduce internal/cpp \
  install internal/house internal/nvtools internal/ownfolder kernel/golang/assist kernel/golang/host kernel/golang/host/generic \
  kernel/golang/host/linked kernel/golang/lower internal/spell kernel/packages kernel/packages/extra kernel/plot
ON_RANKS := TestCellsOnRanks|TestCUDAOnRanks|TestMuchOutputOfRanks|TestFaultsOfRanks|TestStartsLeaveNothing|TestRanksEndWithTheNotebook|TestAStrangersRankIsRefused
RACE_PACKAGES ?= $(shell $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v -e '/kernel/golang$$' -e '/kernel/golang/score$$' -e '/kernel/golang/compare$$' \
  -e '/notebooks$$' -e '/kernel/evaluator$$' -e '/cmd/gocuda-kernel$$' -e '/gokernel/kerneltest$$' -e '/drivertest$$' -e '/examples/' $(ONE_GOROUTINE:%=-e '^gocuda/%$$'))
RACE_LONG := ./cudaapi/sim ./cudaapi/mpi/mpitest ./kernel/ranks
test-race: $(MPI)
	@if $(HAS_CC); then \
	  echo "go test -race"; \
	  GOCUDA_SIM_CUDA=c++ CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GOTEST) -race -short -skip 'TestWhatAnEvaluatorDiesOf/fatal|TestMapsUsedAtOnce|TestLittleAddressSpace|$(ON_RANKS)' $(if $(filter 0/1,$(PART)),$(RACE_LONG) $(RACE_PACKAGES),$(call part,$(RACE_LONG) $(RACE_PACKAGES))) | grep -v 'no test files'; \
	else $(NO_CC); fi

# Package golang, with what interpreted assignments do left out.
test-race-cells:
	@if $(HAS_CC); then \
	  CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 suppressions=$(CURDIR)/kernel/golang/testdata/race.txt" $(GOTEST) -race -short \
	    -run 'Goroutines|Stores|Interrupt|TestFaults|Traces|Programs/(concurrency|reflection)|Programs.*/concurrency' ./kernel/golang; \
	else $(NO_CC); fi

test-races:
	@$(MAKE) test-race
	@$(MAKE) test-race-cells

test-python: $(STAMPS)/python
$(STAMPS)/python: $(BIN) $(PIP) $(wildcard tests/*.py) $(NOTEBOOKS)
	@mkdir -p $(@D)
	GOGC=400 $(VENV)/bin/python -m pytest tests --ignore tests/test_browser.py
	@touch $@

test-browser: $(STAMPS)/browser
$(STAMPS)/browser: $(BIN) $(PIP) tests/conftest.py tests/test_browser.py
	@mkdir -p $(@D)
	GOGC=400 $(VENV)/bin/python -m pytest tests/test_browser.py
	@touch $@

# On a machine with NVIDIA GPUs and Go.
test-gpu: $(BIN)
	$(BIN) doctor
	GOCUDA_BACKEND=nvidia $(GO) test -count=1 ./cudaapi/...
	@mkdir -p build/gpu
	@for n in $(NOTEBOOKS); do GOCUDA_BACKEND=nvidia $(BIN) run $$n -o build/gpu/$$(basename $$n); done

# For a machine with the driver only: no Go, no Jupyter.
gpu-bundle: $(BIN)
	@GO="$(GO)" scripts/gpu-bundle.sh build/gpu-bundle

bench: $(BIN) $(PIP)
	$(GO) test -run '^$$' -bench . -benchtime 0.5s ./kernel/... ./cudaapi/...
	$(VENV)/bin/python tests/bench_client.py

# The site with the documentation, in build/docs/html. Everything comes from pip, pinned;
# a warning is an error, and so is a link within the site that leads nowhere.
DOCS := build/docs
docs: $(DOCS)/.installed
	rm -rf $(DOCS)/source $(DOCS)/html
	$(GO) run $(GOBUILD) ./cmd/gocuda-kernel reference $(DOCS)/source
	$(GO) run $(GOBUILD) ./docs/godoc $(DOCS)/source/reference
	$(DOCS)/venv/bin/python docs/prepare.py $(DOCS)/source
	cd $(DOCS)/source && ../venv/bin/python -m sphinx -q -W --keep-going -j auto -d ../doctrees . ../html
	$(DOCS)/venv/bin/python docs/links.py $(DOCS)/html

$(DOCS)/.installed: docs/requirements.txt docs/requirements.lock
	$(PYTHON) -m venv $(DOCS)/venv
	$(DOCS)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt -c docs/requirements.lock
	@touch $@

# The picture of the front page, from a notebook that runs; the site's pages in Chromium,
# at three widths, if AXE is axe.min.js of axe-core, which docs/look.py says how to fetch;
# and the site's search.
picture: $(BIN) $(PIP)
	$(VENV)/bin/python docs/picture.py $(BIN)

docs-check: $(PIP)
	$(VENV)/bin/python docs/look.py $(if $(AXE),--axe $(AXE)) $(DOCS)/html

# What calls cost on GPUs: in Go, compiled and in a cell, beside C++ and Python.
bench-gpu: $(BIN)
	$(GO) build -o build/ ./bench/percall ./bench/turns
	scripts/bench-gpu.sh build/turns build/percall $(BIN) $(PYTHON)

# Two clients and a slow subscriber for two hours; see the script.
soak: $(BIN) $(PIP)
	$(VENV)/bin/python tests/soak.py

# Executes the tutorials in place.
notebooks: $(BIN)
	@for n in $(NOTEBOOKS); do echo "$$n"; GOCUDA_SIM_CUDA=c++ $(BIN) run --inplace $$n; done

# Checked, not compiled: that takes a twentieth of the time.
cross:
	$(GO) run $(GOBUILD) scripts/typecheck.go darwin/arm64 windows/amd64 linux/arm64

clean:
	rm -rf bin build dist $(VENV)
