// Codes that the driver's functions return, as cuda.h 13.0 numbers them.

#pragma once

#define CODES(X)                                                                                          \
    X(SUCCESS, 0, "no error")                                                                             \
    X(INVALID_VALUE, 1, "invalid argument")                                                               \
    X(OUT_OF_MEMORY, 2, "out of memory")                                                                  \
    X(NOT_INITIALIZED, 3, "initialization error")                                                         \
    X(DEINITIALIZED, 4, "driver shutting down")                                                           \
    X(NO_DEVICE, 100, "no CUDA-capable device is detected")                                               \
    X(INVALID_DEVICE, 101, "invalid device ordinal")                                                      \
    X(INVALID_IMAGE, 200, "device kernel image is invalid")                                               \
    X(INVALID_CONTEXT, 201, "invalid device context")                                                     \
    X(MAP_FAILED, 205, "mapping of buffer object failed")                                                 \
    X(NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")                 \
    X(PEER_ACCESS_UNSUPPORTED, 217, "peer access is not supported between these two devices")             \
    X(INVALID_PTX, 218, "a PTX JIT compilation failed")                                                   \
    X(INVALID_SOURCE, 300, "device kernel image is invalid")                                              \
    X(FILE_NOT_FOUND, 301, "file not found")                                                              \
    X(OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS")                      \
    X(INVALID_HANDLE, 400, "invalid resource handle")                                                     \
    X(ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                       \
    X(NOT_FOUND, 500, "named symbol not found")                                                           \
    X(NOT_READY, 600, "device not ready")                                                                 \
    X(ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                                   \
    X(LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                            \
    X(LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                                     \
    X(PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                 \
    X(PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                   \
    X(PRIMARY_CONTEXT_ACTIVE, 708, "cannot set while device is active in this process")                   \
    X(CONTEXT_IS_DESTROYED, 709, "context is destroyed")                                                  \
    X(ASSERT, 710, "device-side assert triggered")                                                        \
    X(HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped") \
    X(HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")       \
    X(ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                                 \
    X(MISALIGNED_ADDRESS, 716, "misaligned address")                                                      \
    X(LAUNCH_FAILED, 719, "unspecified launch failure")                                                   \
    X(NOT_PERMITTED, 800, "operation not permitted")                                                      \
    X(NOT_SUPPORTED, 801, "operation not supported")                                                      \
    X(STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                \
    X(STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture")         \
    X(STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")                                 \
    X(UNKNOWN, 999, "unknown error")

enum Code : int {
#define NAMED(name, number, text) name = number,
    CODES(NAMED)
#undef NAMED
};
