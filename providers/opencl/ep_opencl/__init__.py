"""The OpenCL provider: pyopencl under EP's contracts, with the portable kernels of ep_simt."""

from __future__ import annotations

import ep


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the provider; pyopencl is imported when it is probed."""
    from ep_opencl.provider import ClProvider  # noqa: PLC0415 - listing providers imports nothing but this file

    return ClProvider()
