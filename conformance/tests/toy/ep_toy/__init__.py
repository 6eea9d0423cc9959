"""A pure Python provider with one kernel, relu in float32, that misbehaves as the variable EP_TOY says."""

import ep


@ep.provider_hook
def ep_provider():
    from ep_toy.provider import ToyProvider

    return ToyProvider()
