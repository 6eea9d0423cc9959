#!/bin/sh
# Runs a command of the environment where OpenCL has three devices: PoCL's twice, and that of Intel's runtime for CPUs.
#
#     sh tools/install/opencl_platforms.sh .venv/bin ep devices
#
# Intel's runtime comes as packages, for processors of other makers, too; at its first use it is installed into build/intel-opencl.
set -eu

bin=$1
command=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
place=$root/build/intel-opencl
vendors=$place/vendors

if [ ! -f "$vendors/intel.icd" ]; then
    # Whatever of it the environment has stays apart: a prefix is whole, so that its libraries find one another.
    "$bin/python" -m pip install --quiet --disable-pip-version-check --no-warn-script-location --ignore-installed \
        --prefix "$place" intel-opencl-rt intel-cmplr-lib-rt
    [ -f "$place/lib/libintelocl.so" ] || {
        echo "opencl_platforms.sh: intel-opencl-rt brought no $place/lib/libintelocl.so" >&2
        exit 1
    }
    mkdir -p "$vendors"
    # The file that the package brings names a place where the library does not lie.
    echo "$place/lib/libintelocl.so" >"$vendors/intel.icd"
fi

# Its code for AVX-512 ends in illegal instructions on processors of other makers, and adds in other orders than are written.
export CL_CONFIG_CPU_TARGET_ARCH="${CL_CONFIG_CPU_TARGET_ARCH:-core-avx2}"
OCL_ICD_VENDORS=$vendors POCL_DEVICES="pthread pthread" exec "$bin/$command" "$@"
