# Short names for the commands in the README. None is needed: Go alone builds
# and tests everything.

FUZZTIME ?= 20s
CHECKS ?= 2000
SEED ?=
IMAGE ?= gladflow
PYTHON ?= python3
export SEED

.PHONY: help build experts gladflow-cuda gpu-check test test-cuda test-cuda-long race lint demo ecoli kit results torch ptx check-ptx ci attack fuzz properties bench bench-peers size docker release-check release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the binary, in bin/gladflow; no cgo
	CGO_ENABLED=0 go build -trimpath -o bin/gladflow ./plugin/gladflow

gladflow-cuda: ## the binary with GPU code, in bin/gladflow-cuda; needs gcc, and cuda.h, which it fetches if it must
	.ci/with-cuda go build -trimpath -tags cuda -o bin/gladflow-cuda ./plugin/gladflow

gpu-check: ## tests and measures the GPU code on this machine's GPU, into bin/gpu-check.md; CHECK has its flags
	.ci/with-cuda go build -trimpath -tags cuda -ldflags '-s -w' -o bin/gpu-check ./solver/cuda/gpucheck
	bin/gpu-check --out bin/gpu-check.md $(CHECK)

test: ## the tests, three minutes on two cores, what has not changed at once; with GLADFLOW_LONG=1 the longer ones too
	go test ./...

test-cuda: ## the tests of the GPU code on an emulated driver; needs gcc, g++ and OpenBLAS, no GPU
	.ci/run cuda

test-cuda-long: ## the same of package solver/cuda, with large matrices and every call failing, and a thousand runs of a plugin: half an hour
	GLADFLOW_LONG=1 .ci/with-cuda go test -count=1 -v -timeout 60m -tags cuda ./solver/cuda
	GLADFLOW_LONG=1 .ci/with-cuda go test -count=1 -v -timeout 20m -tags cuda -run GPUManyRuns ./plugin/gladflow

race: ## all tests with more than one goroutine under the race detector; needs a C compiler
	.ci/run race

lint: ## gofmt, go vet, staticcheck
	.ci/run format vet lint

demo: ## simulate a small network, recover and score it, in gladflow-demo/
	go run ./plugin/gladflow demo

ecoli: ## the E. coli run on ../shared/data, its files checked
	.ci/run ecoli

kit: ## the conformance kit on the binary, and fifty hosts killed at random
	GLADFLOW_LONG=1 go test -count=1 -v -run 'Conformance|KillHost' ./plugin/gladflow

results: ## the paper's synthetic experiments, into docs/RESULTS.md; 15 to 60 minutes; NETWORK is the file of ecoli-subnetwork, CHALLENGE the folder of dream5
	go run ./plugin/gladflow experiment --all $(if $(NETWORK),--network $(NETWORK)) $(if $(CHALLENGE),--challenge $(CHALLENGE))

experts: ## the experts and gates of --adapt anew, from the general model: some minutes
	go run ./pipelines/training/experts/train-experts

torch: ## a training step beside PyTorch's; PYTHON has torch
	GLADFLOW_TORCH=$(PYTHON) go test -count=1 -v -run Torch ./solver/glad/train

# python_with runs a script with Python packages, in an environment of its own.
NVRTC = nvidia-cuda-nvrtc-cu12==12.0.140
python_with = dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(PYTHON) -m venv $$dir && \
	$$dir/bin/pip install -q --disable-pip-version-check

ptx: ## kernels.ptx anew, from kernels.cu and what it includes; a compiler comes from PyPI, 23 MB
	@$(python_with) $(NVRTC) && $$dir/bin/python solver/cuda/kernels/generate.py

check-ptx: ## that kernels.ptx is what comes of kernels.cu, and the registers that kernels take; 64 MB from PyPI
	@$(python_with) $(NVRTC) nvidia-cuda-nvcc-cu12==12.9.86 && $$dir/bin/python solver/cuda/kernels/generate.py --check

ci: ## everything that continuous integration runs
	.ci/run

attack: ## attacks on the binary from outside, all of them, some minutes; SEED repeats those of a seed
	GLADFLOW_ATTACK=1 go test -count=1 -v -timeout 30m ./plugin/internal/attack
	GLADFLOW_LONG=1 go test -count=1 -v -run KillHost ./plugin/gladflow

fuzz: ## every fuzz target there is, for FUZZTIME (20s); goes on after one that fails
	@failed=; \
	for target in $$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|/[^/]*_test.go:func |:|'); do \
		dir=$${target%%:*}; name=$${target##*:}; echo "== $$dir $$name"; \
		go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $(FUZZFLAGS) $$dir || failed="$$failed $$dir:$$name"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

properties: ## every property test with CHECKS (2000) fresh draws
	RAPID_SEED=0 RAPID_CHECKS=$(CHECKS) go test -count=1 -timeout 1h \
		$$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/pgregory.net\/rapid/ {print $$1}')

bench: ## all benchmarks
	go test -run '^$$' -bench . -benchmem ./...

PEERS ?= build/peers

bench-peers: ## the same work by other programs beside ours, into docs/RESULTS.md; PEERSFLAGS has flags of compare.py, such as --data FOLDER
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install -q --disable-pip-version-check -r pipelines/peers/requirements.txt
	$(PEERS)/bin/pip install -q --disable-pip-version-check --no-build-isolation --no-deps skggm==0.2.8 || echo "without QUIC"
	go build -o $(PEERS)/worker ./pipelines/peers/worker
	$(PEERS)/bin/python pipelines/peers/compare.py $(PEERS)/worker --out docs/RESULTS.md $(PEERSFLAGS)

size: ## the stripped release binary in MB, and the modules that take most of it
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $$dir/stripped ./plugin/gladflow; \
	CGO_ENABLED=0 go build -trimpath -o $$dir/symbols ./plugin/gladflow; \
	{ go version -m $$dir/symbols; go tool nm -size -sort address $$dir/symbols; } | \
	awk -v total=$$(wc -c <$$dir/stripped) ' \
		$$1 == "dep" || $$1 == "mod" { modules[$$2]; next } \
		$$4 == "runtime.bss" { bss = 1 } \
		!bss && $$2 > 0 && NF >= 4 { \
			name = $$4; gsub(/%2e/, ".", name); \
			sub(/^(type:\.(eq|hash)\.|go:itab\.\*?)/, "", name); sub(/[\[,(].*/, "", name); \
			for (m = name; m != "" && !(m in modules); ) if (!sub(/[\/.][^\/.]*$$/, "", m)) m = ""; \
			if (m == "") m = name ~ /^main\./ ? "github.com/gladflow/gladflow" : "Go: standard library, runtime"; \
			size[m] += $$2; rest -= $$2 } \
		END { printf "%6.1f MB  in all\n%6.1f MB  line tables and type descriptions, of all modules\n", total / 1e6, (total + rest) / 1e6; \
			for (m in size) printf "%6.1f MB  %s\n", size[m] / 1e6, m }' | sort -rn | head -16

docker: ## the container image, named IMAGE (gladflow)
	docker build -t $(IMAGE) .

release-check: ## the release configuration, by goreleaser's own check, and the sums of what is in dist/
	.ci/run release

release: release-check ## a draft of the release of the tag that is checked out
	go run $$(sed -n 's/^GORELEASER=//p' .ci/run) release --clean
	cd dist && sha256sum --check --strict --ignore-missing SHA256SUMS

clean: ## what build, demo and release wrote
	rm -rf bin build dist out gladflow-demo
