#!/bin/sh
# The compiler for programs that ask it for code of a device, such as pycuda: the emulated driver takes PTX.
own=$(dirname "$0")
PATH=$(printf %s "$PATH" | tr : '\n' | grep -Fxv "$own" | paste -sd: -)
output=
for word; do
    shift
    case $word in
    --cubin | -cubin | --fatbin | -fatbin) output=${word#-} output=${output#-} word=--ptx ;;
    *.cu) source=$word ;;
    esac
    set -- "$@" "$word"
done
[ -z "$output" ] || set -- "$@" -o "$(basename "${source%.cu}").$output"
exec nvcc "$@"
