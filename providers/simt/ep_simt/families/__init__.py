"""The families that have portable kernels, a folder each: `body` says what is launched, the .inc file is the kernels."""
