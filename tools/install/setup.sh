#!/bin/sh
# Makes the environment of `make`: what is missing is named in one line, with its apt command.
set -eu

venv=$1
extras=$2
python=${PYTHON:-python3}

need() {
    echo "make: $1 is missing; install it with: apt-get install $2" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 || need "$python" "python3 python3-venv python3-dev"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || need "Python 3.11 or newer" "python3"
"$python" -c 'import ensurepip, venv' 2>/dev/null || need "Python's venv" "python3-venv"
header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[ -f "$header" ] || need "Python.h" "python3-dev"
[ "${EP_BUILD_CPU:-1}" = 0 ] || command -v g++ >/dev/null 2>&1 || need "g++" "g++"

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# Python compiles a module when it is first imported: half a minute of modules that nobody imports.
pip="$venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile"
# The build tools first: an editable install builds again in the same environment and must find them there.
$pip "scikit-build-core>=0.11" "cffi>=1.17" "cmake>=3.26" "ninja>=1.11"

# Packages are fetched while kernels are compiled. A shell lets Ctrl-C pass by its background.
"$venv/bin/python" tools/install/requirements.py "$extras" >"$venv/requirements.txt"
$pip --requirement "$venv/requirements.txt" &
fetching=$!
trap 'kill $fetching 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
$pip --no-build-isolation --no-deps --editable .
wait $fetching
