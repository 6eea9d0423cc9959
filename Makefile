# The commands of EP. Each does all of its own set-up: `make conformance`, `make test`.

PYTHON ?= python3
# PoCL's wheel compiles nothing on processors newer than its LLVM, unless EP repairs it.
export EP_POCL_PROCESSOR ?= auto
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NATIVE := $(shell find providers/cpu providers/sim providers/cuda/emulator providers/simt/ep_simt/mathematics conformance/native -name '*.cpp' -o -name '*.c' -o -name '*.h' -o -name '*.hpp' -o -name '*.def' -o -name '*.inc' -o -name CMakeLists.txt)
FORMATTED := $(shell find providers conformance/native benchmarks collectives -name '*.cpp' -o -name '*.c' -o -name '*.h')
CLAIMED := providers/opencl/tests/claimed_kernels.py
TESTS := $(shell sed -n 's/^testpaths = //p' pyproject.toml | tr -d '[],"')
SUITE := conformance/tests
EXTRAS := opencl,cuda,cuda-emulator,mpi,onnx,conformance,docs,dev

.PHONY: help setup lint types contracts unit unit-rooms unit-suite thorough quick quick-cpu quick-opencl quick-sim quick-cuda opencl emulated-cuda pycuda test conformance accuracy onnx onnx-cuda site documents matrix trust page wheel bench bench-opencl bench-intel clean attack emulated oclgrind second-opinion
help:            ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 16

setup: $(STAMP)  ## Make the environment and build everything into it

$(STAMP): pyproject.toml CMakeLists.txt tools/install/setup.sh $(NATIVE)
	@PYTHON="$(PYTHON)" sh tools/install/setup.sh "$(VENV)" "$(EXTRAS)"
	@touch $@

lint: $(STAMP)   ## Check style: ruff, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)

types: $(STAMP)  ## Check types: mypy --strict
	$(BIN)/mypy

contracts: $(STAMP) ## Check which room imports which: import-linter
	$(BIN)/lint-imports
	cd tools && ../$(BIN)/lint-imports

unit: $(STAMP)   ## Run the tests, those of the suite beside all others: most of them keep one core busy
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line unit-rooms unit-suite

unit-rooms: $(STAMP)
	$(BIN)/python -m pytest -q -p no:cacheprovider --durations=10 $(filter-out $(SUITE),$(TESTS))

unit-suite: $(STAMP)
	$(BIN)/python -m pytest -q --durations=10 $(SUITE)

thorough: $(STAMP) ## Run what the tests leave out for the sake of time: whole runs and texts, of which they try a part
	$(BIN)/python -m pytest -q -m thorough --durations=10 $(TESTS)
	$(BIN)/ep-conformance run --provider cpu --quick
	for ranks in 1 2 3 4 8; do $(BIN)/ep-conformance run --provider cpu --ranks $$ranks || exit 1; done
	$(BIN)/ep-conformance run --provider sim --ranks 4 --quick
	for ranks in 2 4; do $(BIN)/mpiexec -n $$ranks $(BIN)/ep-conformance run --provider cpu --ranks mpi || exit 1; done
	$(BIN)/ep-conformance run --provider opencl --ranks 2 --quick

quick: quick-cpu quick-opencl quick-cuda quick-sim ## Run the conformance suite on the CPU and on OpenCL with little data, its runtime cases on the simulated device

# Each op comes in one element type of 16, of its neighbour in the next one; whole: `make thorough`.
quick-cpu: $(STAMP)
	$(BIN)/ep-conformance run --provider cpu --quick --every 16

# Every program of OpenCL is compiled here: families with kernels of their own, each op in one element type of 64, and of elementwise
# ops few that come strided or with numbers; whole: `make opencl`.
quick-opencl: $(STAMP)
	$(BIN)/ep-conformance run --provider opencl --quick --every 64 --filter 'runtime/*' --filter 'primitives/[adfimoqrstw]?[!t]*' \
		--filter 'primitives/[cglp][aeo][!no]*' --filter 'primitives/[be]*/*/*/dense/*' --filter 'primitives/[be]*/a[bd]*/*/[!d]*'

# PoCL has the devices 0 and 1, Intel's runtime 2. PART="--every 8" takes a quarter of the time.
PLATFORMS := sh tools/install/opencl_platforms.sh $(BIN) ep-conformance run --provider opencl --quick --jobs 2
opencl: $(STAMP) ## Run the quick suite on PoCL, twice, and on Intel's runtime, which it installs, and compare PoCL's bits with the CPU's (an hour)
	$(PLATFORMS) --device 0 --bits-of cpu:0 $(PART)
	$(PLATFORMS) --device 1 --filter 'runtime/*'
	$(PLATFORMS) --device 2 $(PART)

# Every program is compiled by NVRTC and translated here: most families with kernels of their own in a few element types, ops dense,
# the slowest not at all; whole: `make emulated-cuda`.
quick-cuda: $(STAMP)
	$(BIN)/ep-conformance run --provider cuda --emulate --quick --every 200 --bits-of cpu:0 --no-replays \
		--filter 'runtime/*' --filter 'primitives/[aimopqrsw]?[!to]*' --filter 'primitives/[be]*/[aprs]*/*/dense/*'

quick-sim: $(STAMP)
	$(BIN)/ep-conformance run --provider sim --quick --filter 'runtime/*'

# Types take one core half a minute.
test: $(STAMP)   ## Lint, contracts, types, all tests and the quick suite, two at a time
	@$(MAKE) --no-print-directory lint contracts
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line types unit-suite unit-rooms quick-cuda quick-opencl quick-sim quick-cpu

conformance: $(STAMP) ## Run the conformance suite on the CPU and on OpenCL, its runtime cases on the simulated device, and the quick suite on CUDA without a GPU
	$(BIN)/ep-conformance run --provider cpu
	$(BIN)/ep-conformance run --provider opencl
	$(BIN)/ep-conformance run --provider sim --filter 'runtime/*'
	@$(MAKE) --no-print-directory emulated-cuda

accuracy: $(STAMP) ## Measure every floating row on the CPU, all float32 inputs included (an hour), into docs/reports/accuracy.md
	@mkdir -p build docs
	$(BIN)/ep-conformance run --provider cpu --json build/standard.json --filter 'primitives/*' >&2
	$(BIN)/ep-conformance run --provider cpu --profile exhaustive --filter '*_unary/*every-float32*' --jobs 2 --json build/every-float32.json >&2
	$(BIN)/python tools accuracy build/standard.json build/every-float32.json > build/accuracy.md
	@mv build/accuracy.md docs/reports/accuracy.md

second-opinion: $(STAMP) ## Ask PyTorch, which it installs, about every op and about attention, and share tensors with it
	@PYTHON="$(PYTHON)" sh tools/install/setup.sh "$(VENV)" "$(EXTRAS),peers"
	$(BIN)/python -m pytest -q tools/tests/test_second_opinion.py providers/cpu/tests/test_cpu_torch.py
	$(BIN)/python -m pytest -q -s examples/tests/test_attention.py frameworks/onnx/tests/test_command.py -k pytorch

attack: $(STAMP) ## Attack EP: a handler at every place of every verb, programs under signals, bad calls, lying capsules, plug-ins (SECONDS=120 each)
	EP_STEP=1 $(BIN)/python -m pytest -q ep/tests/test_reentry.py
	$(BIN)/python tools attack --seconds $(or $(SECONDS),120) $(PARTS)

# A case that takes two seconds of a GPU takes a minute here.
EMULATED := $(BIN)/ep-conformance run --provider cuda --emulate --quick --jobs 2 --hang-limit 180
emulated-cuda: $(STAMP) ## Run the quick suite on CUDA without a GPU, and compare its bits with the CPU's (an hour)
	$(EMULATED) --bits-of cpu:0 $(PART)
	$(EMULATED) --ranks 2

# Left out is what asks for linking.
pycuda: $(STAMP) ## Build pycuda from its source, and run its own tests of the driver on CUDA without a GPU
	sh tools/install/pycuda.sh $(VENV)
	cd build/pycuda/source/test && $(CURDIR)/$(BIN)/ep-cuda-emulator run --in-step -- $(CURDIR)/$(BIN)/python -m pytest -q -p no:cacheprovider \
		-k 'not recursive_launch and not jit_link_module' test_driver.py

emulated:        ## Run the quick suite on the CPU's kernels of AVX-512, which AVX2 emulates in an environment of their own
	@PYTHON="$(PYTHON)" SKBUILD_CMAKE_DEFINE=EP_EMULATED=ON SKBUILD_BUILD_DIR=build/emulated \
		sh tools/install/setup.sh build/emulated-environment conformance
	EP_CPU_ISA=avx512 build/emulated-environment/bin/ep-conformance run --provider cpu --quick

# Oclgrind knows no noalias.scope.decl, with which its compiler marks where functions that return structures were inlined.
oclgrind: $(STAMP) ## Look for races, overruns and unwritten values in all OpenCL kernels; needs oclgrind, a package of its own
	@mkdir -p build
	oclgrind --data-races --build-options -DEP_INTERPRETED --log build/races.log $(BIN)/python $(CLAIMED) \
		runtime random_fill copy permute where pad gather one_hot reduce arg_reduce scan softmax log_softmax softmax_backward log_softmax_backward \
		layer_norm rms_layer_norm group_norm batch_norm cross_entropy pool iota tensor_fill matmul attention convolution top_k lstm_cell gru_cell
	oclgrind --data-races --uninitialized --build-options '-DEP_INTERPRETED -Dalways_inline=noinline' --log build/values.log \
		$(BIN)/python $(CLAIMED) fill cast saturating_cast quantize dequantize add_n elementwise_unary broadcast_binary
	@cat build/races.log build/values.log; test ! -s build/races.log -a ! -s build/values.log

site: $(STAMP)   ## Build the documentation site into build/site, and check that nothing is missing in it
	@mkdir -p build
	$(BIN)/python tools site build/site

documents: $(STAMP) ## Write docs/families from the families themselves
	$(BIN)/python tools families

matrix: $(STAMP) ## Run the conformance suite on the CPU and write family x element type x layout into docs/reports/matrix.md
	@mkdir -p build
	$(BIN)/ep-conformance run --provider cpu --json build/matrix.json --filter 'primitives/*'
	$(BIN)/python tools matrix build/matrix.json > build/matrix.md
	@mv build/matrix.md docs/reports/matrix.md

trust: $(STAMP)  ## Set profiles quick and standard on defects made by machine (MUTANTS=30 and 6 of each family), and write the score into docs/reports/trust.md
	@mkdir -p build
	$(BIN)/ep-conformance selftest --mutants $(or $(MUTANTS),30) --profile quick --json build/mutants-quick.json || test -s build/mutants-quick.json
	$(BIN)/ep-conformance selftest --mutants $(or $(MUTANTS),6) --profile standard --json build/mutants-standard.json || test -s build/mutants-standard.json
	$(BIN)/python tools trust build/mutants-quick.json build/mutants-standard.json > build/trust.md
	@mv build/trust.md docs/reports/trust.md

onnx: $(STAMP)   ## Run all of ONNX's own tests on every device of the in-tree providers, into docs/reports/onnx.md
	@mkdir -p build
	$(BIN)/python tools onnx cpu:0 sim:0 opencl:0 > build/onnx.md
	@mv build/onnx.md docs/reports/onnx.md

onnx-cuda: $(STAMP) ## Run ONNX's own tests, but for the light models, on CUDA without a GPU (2 minutes)
	@mkdir -p build
	$(BIN)/ep-cuda-emulator run -- $(BIN)/python tools onnx cuda:0 --kind node --kind simple \
		--kind pytorch-converted --kind pytorch-operator > build/onnx-cuda.md
	@sed -n '/^## In all/,/^## By/p' build/onnx-cuda.md

page: $(STAMP)   ## Run the quick suite on the CPU, open its HTML page in headless Chromium, and take docs/report.png
	@sh tools/install/chromium.sh
	@mkdir -p build
	$(BIN)/ep-conformance run --provider cpu --quick --json build/page.json --html build/page.html --markdown build/page.md
	EP_PAGE=$(CURDIR)/build/page.json $(BIN)/python -m pytest -q conformance/tests/report/test_page_browser.py
	@cp build/page-wide-light.png docs/report.png

wheel: $(STAMP)  ## Build the wheel into dist/, once for each state of the sources
	@$(BIN)/python tools wheel

bench: $(STAMP)  ## Measure all samples beside PyTorch, which it installs, NumPy and the limits, into docs/reports/performance.md; then launches against budgets
	@PYTHON="$(PYTHON)" sh tools/install/setup.sh "$(VENV)" "$(EXTRAS),peers"
	@mkdir -p build
	$(BIN)/ep-bench run --provider cpu --against torch,numpy --json build/performance.json --html build/performance.html --markdown build/performance.md
	@mv build/performance.md docs/reports/performance.md
	$(BIN)/ep-bench launch --provider cpu --against torch,numpy

bench-opencl: $(STAMP) ## Measure all samples on OpenCL beside plain kernels and pyopencl's arrays, for which it installs Mako, into docs/reports/opencl-performance.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check mako
	@mkdir -p build
	$(BIN)/ep-bench run --provider opencl --against plain,pyopencl --json build/opencl-performance.json --html build/opencl-performance.html --markdown build/opencl-performance.md
	@mv build/opencl-performance.md docs/reports/opencl-performance.md

bench-intel: $(STAMP) ## Measure all samples on Intel's OpenCL runtime, which it installs, beside plain kernels, into docs/reports/opencl-intel-performance.md
	@mkdir -p build
	sh tools/install/opencl_platforms.sh $(BIN) ep-bench run --provider opencl --device 2 --against plain --markdown build/opencl-intel-performance.md
	@mv build/opencl-intel-performance.md docs/reports/opencl-intel-performance.md

clean:           ## Remove what was built
	rm -rf build dist $(VENV)
