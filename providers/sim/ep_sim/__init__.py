"""The simulated device: software that does whatever the runtime contract allows, in the order that is hardest to bear.

Importing it loads nothing; the native module is loaded when the provider is probed.
"""

import ep

__all__ = ["ep_provider"]


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the provider; its probe loads the native module and asks for the CPU's device."""
    from ep_sim.provider import SimProvider  # noqa: PLC0415 - an entry module imports nothing heavy

    return SimProvider()
