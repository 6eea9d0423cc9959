// Functions that are not emulated: each says so once, and returns that it is not supported.

#include <atomic>

#include "driver/codes.h"
#include "machine/block.h"

static int missing(std::atomic<bool>& is_said, const char* name) {
    if (!is_said.exchange(true)) say(std::string("emulated CUDA: ") + name + " is not emulated");
    return NOT_SUPPORTED;
}

#define MISSING(name)                            \
    int name() {                                 \
        static std::atomic<bool> is_said{false}; \
        return missing(is_said, #name);          \
    }

extern "C" {

// Arrays, textures and surfaces.
MISSING(cuArray3DCreate_v2)
MISSING(cuArray3DGetDescriptor_v2)
MISSING(cuArrayCreate_v2)
MISSING(cuArrayDestroy)
MISSING(cuArrayGetDescriptor_v2)
MISSING(cuMemcpyAtoA_v2)
MISSING(cuMemcpyAtoD_v2)
MISSING(cuMemcpyAtoH_v2)
MISSING(cuMemcpyDtoA_v2)
MISSING(cuMemcpyHtoA_v2)
MISSING(cuModuleGetSurfRef)
MISSING(cuModuleGetTexRef)
MISSING(cuSurfRefGetArray)
MISSING(cuSurfRefSetArray)
MISSING(cuTexObjectCreate)
MISSING(cuTexObjectDestroy)
MISSING(cuTexRefCreate)
MISSING(cuTexRefDestroy)
MISSING(cuTexRefGetAddressMode)
MISSING(cuTexRefGetAddress_v2)
MISSING(cuTexRefGetArray)
MISSING(cuTexRefGetFilterMode)
MISSING(cuTexRefGetFlags)
MISSING(cuTexRefGetFormat)
MISSING(cuTexRefSetAddress2D_v3)
MISSING(cuTexRefSetAddressMode)
MISSING(cuTexRefSetAddress_v2)
MISSING(cuTexRefSetArray)
MISSING(cuTexRefSetFilterMode)
MISSING(cuTexRefSetFlags)
MISSING(cuTexRefSetFormat)

// Memory of other processes.
MISSING(cuIpcCloseMemHandle)
MISSING(cuIpcGetEventHandle)
MISSING(cuIpcGetMemHandle)
MISSING(cuIpcOpenEventHandle)
MISSING(cuIpcOpenMemHandle_v2)

MISSING(cuParamSetTexRef)

// Linking, virtual memory, and profiles.
MISSING(cuLinkAddData_v2)
MISSING(cuLinkAddFile_v2)
MISSING(cuLinkComplete)
MISSING(cuLinkCreate_v2)
MISSING(cuLinkDestroy)
MISSING(cuMemAddressReserve)
MISSING(cuMemCreate)
MISSING(cuMemMap)
MISSING(cuProfilerInitialize)
}
