// The memory that threads multiply in.
#include "job.h"
#include "runtime/kept.h"

namespace {
struct Panels;
struct SharedPanels;
}  // namespace

char* ep::products::workspace() {
    return kept<Panels, WORKSPACE>();
}

char* ep::products::shared_panels() {
    return kept<SharedPanels, SHARED_BYTES>();
}

extern "C" int64_t ep_workspace(void) {
    return ep::kept_bytes;
}
