#!/usr/bin/env bash
# Tries EP on a machine with one of NVIDIA's GPUs, without a network: tools/gpu/check.sh OUT
#
# Needed there: the driver, Python and numpy; beside it, in the folder WHEELS (default: .whl), wheels of what that Python lacks: EP's own (make wheel; one serves
# every Python from 3.11 on), or g++, make and Python's headers to build it there; cffi, pycparser, platformdirs, jsonschema with its needs, and pyopencl
# with its needs. The compiler, NVRTC, comes from a wheel or the toolkit, and so does cuBLASLt: without it products run by the portable kernels, and the
# part cuda-products says nothing of it.
#
#   PARTS          those that run; default: devices cuda cuda-products cuda-runtime losses opencl onnx speed memcheck racecheck
#   EVERY=8        one element type of so many, each op in one at least: 1 for all
#   SECONDS_EACH   what a part may take: default 110; SECONDS_SPEED for speed: default 300
#   ROUNDS         in which EP and its peers take turns: default 7; fewer take less of the time of part speed
#
# Leaves in OUT: JSON of each run, the page of the primitives' run, tables of speed against PyTorch and CuPy where these are installed. The exit code says
# whether all passed.
set -uo pipefail
: "${1:?give the folder for what it leaves: tools/gpu/check.sh OUT}"
out=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
mkdir -p "$out"
site=$(mktemp -d)
parts=" ${PARTS:-devices cuda cuda-products cuda-runtime losses opencl onnx speed memcheck racecheck} "
seconds=${SECONDS_EACH:-110}
failed=0

part() { # NAME COMMAND...: runs a part; Ctrl-C ends it when its time is over, and what it has by then stands in its report
    local name=$1
    shift
    [[ $parts == *" $name "* ]] || return 0
    echo "== $SECONDS s: $name"
    timeout -s INT -k 10 "$seconds" "$@" 2>&1 | tee "$out/$name.log" | tail -n 40
    local code=${PIPESTATUS[0]}
    [ "$code" = 0 ] || { echo "== $name: exit $code" && failed=1; }
}
suite() { python3 -m ep_conformance run --quick --no-replays "$@"; }
export -f suite

command -v nvidia-smi >/dev/null || { echo "there is no nvidia-smi here; run it on a machine with NVIDIA's driver" >&2 && exit 3; }
nvidia-smi --query-gpu=name,driver_version,memory.total,pci.bus_id --format=csv,noheader || exit 3
quiet="--quiet --no-index --no-deps --no-cache-dir --target $site"
if compgen -G "${WHEELS:-.whl}/*.whl" >/dev/null; then
    # shellcheck disable=SC2086 # words
    python3 -m pip install $quiet "${WHEELS:-.whl}"/*.whl || exit 3
fi
export PYTHONPATH=$site PYTHONUNBUFFERED=1 EP_CACHE_DIR=$site/cache EP_DISABLE=sim
if ! compgen -G "${WHEELS:-.whl}/execution_provider-*.whl" >/dev/null; then
    python3 -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$out" . || exit 3
    # shellcheck disable=SC2086 # words
    python3 -m pip install $quiet "$out"/execution_provider-*.whl || exit 3
fi

jobs=$(nproc)
part devices python3 -c 'from ep.cli import main; main()' devices
part cuda bash -c "suite --provider cuda --jobs $((jobs * 3 / 4)) --every ${EVERY:-8} --filter 'primitives/*' --bits-of cpu:0 --json '$out/cuda.json' --html '$out/cuda.html'"
part cuda-products bash -c "suite --provider cuda --jobs $((jobs * 3 / 4)) --filter 'primitives/matmul/*' --json '$out/cuda-products.json'"
part cuda-runtime bash -c "suite --provider cuda --jobs $((jobs / 4 + 1)) --filter 'runtime/*' --json '$out/cuda-runtime.json'"
part losses python3 tools/gpu/losses.py
if driver=$(ldconfig -p | grep -o '/.*libnvidia-opencl.so.1' || find /usr -name 'libnvidia-opencl.so.1' 2>/dev/null | head -1) && [ -n "$driver" ]; then
    mkdir -p "$site/vendors" && echo "$driver" >"$site/vendors/nvidia.icd"
    export OCL_ICD_VENDORS=$site/vendors
    part opencl bash -c "suite --provider opencl --jobs $((jobs * 3 / 4)) --every ${EVERY:-8} --json '$out/opencl.json'"
fi
if python3 -c 'import onnx' 2>/dev/null; then
    part onnx bash -c "python3 tools onnx cuda:0 >'$out/onnx.md'"
fi
peers=$(for name in torch cupy; do python3 -c "import $name" 2>/dev/null && echo "$name"; done | paste -sd,)
seconds=${SECONDS_SPEED:-300} part speed python3 -c 'from ep_benchmarks.cli import main; main()' run --provider cuda ${peers:+--against "$peers"} ${ROUNDS:+--rounds "$ROUNDS"} \
    --json "$out/speed.json" --html "$out/speed.html" --markdown "$out/speed.md"
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        part "$tool" compute-sanitizer --error-exitcode 1 --tool "$tool" python3 tools/gpu/kernels.py
    done
fi
exit $failed
