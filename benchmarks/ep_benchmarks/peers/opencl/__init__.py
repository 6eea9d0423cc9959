"""Two peers on the OpenCL device that EP measures: `pyopencl`, arrays of pyopencl's, and `plain`, short kernels written by hand."""
