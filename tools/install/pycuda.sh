#!/bin/sh
# Builds pycuda's wheel from its source, against the headers of NVIDIA's wheels and the emulated driver, and installs it:
# it has no wheel of its own, and its build asks for a toolkit. CURAND, which has no emulation, is left out.
set -eu

venv=$1
work=build/pycuda
python=$venv/bin/python
pip="$python -m pip --quiet --disable-pip-version-check"

$pip install "nvidia-cuda-runtime>=13" "nvidia-cuda-crt>=13" "nvidia-cuda-profiler-api>=13" setuptools wheel
if ! ls "$work"/pycuda-*.whl >/dev/null 2>&1; then
    mkdir -p "$work"
    $pip download --no-deps --no-binary pycuda --no-build-isolation --dest "$work" "pycuda>=2025.1"
    tar -xzf "$work"/pycuda-*.tar.gz -C "$work" --strip-components=1 --one-top-level=source
    include=$("$python" -c 'import nvidia; print(nvidia.__path__[0] + "/cu13/include")')
    library=$("$python" -c 'from ep_cuda_emulator.place import library; print(library().parent)')
    ln -sf "$library/libcuda.so.1" "$work/libcuda.so"
    cat >"$work/source/siteconf.py" <<SITE
BOOST_INC_DIR = []
BOOST_LIB_DIR = []
BOOST_COMPILER = "gcc43"
USE_SHIPPED_BOOST = True
BOOST_PYTHON_LIBNAME = []
BOOST_THREAD_LIBNAME = []
CUDA_TRACE = False
CUDA_ROOT = "$include/.."
CUDA_ENABLE_GL = False
CUDA_ENABLE_CURAND = False
CUDADRV_LIB_DIR = ["$PWD/$work"]
CUDADRV_LIBNAME = ["cuda"]
CUDART_LIB_DIR = []
CUDART_LIBNAME = []
CURAND_LIB_DIR = []
CURAND_LIBNAME = []
CXXFLAGS = ["-w", "-O1"]
LDFLAGS = ["-Wl,--unresolved-symbols=ignore-all"]
SITE
    $pip wheel --no-deps --no-build-isolation --wheel-dir "$work" "$work/source"
fi
$pip install "$work"/pycuda-*.whl
