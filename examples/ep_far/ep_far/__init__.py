"""The entry module of far: devices in other processes. Importing it starts none."""

import ep


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the far provider."""
    from ep_far.provider import FarProvider  # noqa: PLC0415 - listing providers must not import their dependencies

    return FarProvider()
