"""The entry module of the acme provider: one hook, and nothing imported before it is called."""

import ep


@ep.provider_hook
def ep_provider() -> ep.Provider:
    """Return the acme provider."""
    from ep_acme.provider import AcmeProvider  # noqa: PLC0415 - listing providers must not import what they need

    return AcmeProvider()
