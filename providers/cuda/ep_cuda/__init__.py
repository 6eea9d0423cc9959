"""The CUDA provider: the driver and NVRTC under EP's contracts, with the portable kernels of ep_simt."""

from __future__ import annotations

import ep


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the provider; the driver's library is opened when it is probed."""
    from ep_cuda.provider import CudaProvider  # noqa: PLC0415 - listing providers imports nothing but this file

    return CudaProvider()
