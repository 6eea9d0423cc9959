"""The CPU provider: C++ kernels, one small table for each instruction set, on host memory.

Importing it loads nothing; the native module is loaded when the provider is probed.
"""

import ep

__all__ = ["ep_provider"]


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the provider; its probe loads the native module."""
    from ep_cpu.provider import CpuProvider  # noqa: PLC0415 - an entry module imports nothing heavy

    return CpuProvider()
