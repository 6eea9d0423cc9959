"""Libraries of programs, whose kernels need no current context."""

from __future__ import annotations


def test_kernel_of_a_library_runs_in_the_context_of_its_stream(lines):
    """No context is current there; on a default stream one has to be."""
    text = """
text = nvrtc().compile('extern "C" { __device__ int by = 2; __global__ void entry(int *out) { *out += by; } }', "program", ("--gpu-architecture=compute_90",))
library = driver.answer("cuLibraryLoadData", ctypes.c_char_p(text), None, None, 0, None, None, 0)
kernel = driver.answer("cuLibraryGetKernel", word(library), b"entry")
print(code("cuLibraryGetKernel", ctypes.byref(word()), word(library), b"absent"), code("cuLibraryLoadData", ctypes.byref(word()), b"nothing", None, None, 0, None, None, 0))
stream, place = driver.answer("cuStreamCreate", 0), driver.upload(np.zeros(1, np.int32))
driver.launch(kernel, 1, 1, place)
function = driver.answer("cuKernelGetFunction", word(kernel))
driver.launch(function, 1, 1, place)
module = driver.answer("cuLibraryGetModule", word(library))
driver.launch(driver.function(module, "entry"), 1, 1, place)
driver.synchronize()
context = ctypes.c_void_p()
driver.call("cuCtxPopCurrent_v2", ctypes.byref(context))
driver.launch(kernel, 1, 1, place, stream=stream)
for what, where in ((kernel, None), (function, stream)):
    try:
        driver.launch(what, 1, 1, place, stream=where)
    except DriverError as error:
        print(error.code)
driver.call("cuCtxPushCurrent_v2", context)
driver.synchronize()
print(ints(place, 1), code("cuLibraryUnload", word(library)))
"""
    assert lines(text) == ["500 200", "201", "201", "[8] 0"]


def test_kernel_of_a_library_is_a_node_of_a_graph(lines):
    """In the context that the node names, or the current one, where it has no function."""
    text = """
text = nvrtc().compile('extern "C" { __global__ void entry(int *out) { *out += 2; } }', "program", ("--gpu-architecture=compute_90",))
library = driver.answer("cuLibraryLoadData", ctypes.c_char_p(text), None, None, 0, None, None, 0)
kernel = driver.answer("cuLibraryGetKernel", word(library), b"entry")
place, context = driver.upload(np.zeros(1, np.int32)), word()
driver.call("cuCtxGetCurrent", ctypes.byref(context))
class Node(ctypes.Structure):
    _fields_ = [("function", word), ("sizes", ctypes.c_uint * 7), ("parameters", ctypes.c_void_p), ("extra", word), ("kernel", word), ("context", word)]
value = word(place)
parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p))
graph = driver.answer("cuGraphCreate", 0)
for its, where in ((kernel, 0), (kernel, context.value), (0, 0)):
    node = Node(0, (1, 1, 1, 1, 1, 1, 0), ctypes.cast(parameters, ctypes.c_void_p), 0, its, where)
    print(code("cuGraphAddKernelNode_v2", ctypes.byref(word()), word(graph), None, size(0), ctypes.byref(node)))
executable = driver.answer("cuGraphInstantiateWithFlags", word(graph), word(0))
driver.call("cuGraphLaunch", word(executable), None)
driver.synchronize()
print(ints(place, 1))
"""
    assert lines(text) == ["0", "0", "1", "[4]"]
