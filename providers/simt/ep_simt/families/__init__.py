"""The families that have portable kernels, a folder each: `body` plans the launches, the .inc file is the kernels."""
