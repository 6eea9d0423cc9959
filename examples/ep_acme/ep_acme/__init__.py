"""The entry module of acme, which brings a provider and a family: two hooks, and nothing imported before they are called."""

from collections.abc import Sequence

import ep


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the acme provider."""
    from ep_acme.provider import AcmeProvider  # noqa: PLC0415 - listing providers must not import their dependencies

    return AcmeProvider()


@ep.family_hook
def ep_families() -> Sequence[ep.Family]:
    """Return the families that EP does not have and acme computes."""
    from ep_acme.rms_norm import RmsNormFamily  # noqa: PLC0415 - as above

    return (RmsNormFamily(),)
