"""Saboteurs: providers with one planted defect each. The suite is trusted because it kills every one of them.

`provider device stream event graph implementations` are an honest asynchronous provider over `ep.device("cpu:0")`, which must
pass. Defects of one family lie in its folder, `ep_primitives/families/*/defects.py`; `values types loops functions arithmetic hygiene determinism random
scratch` hold those of several, `events streams callbacks transfers memories graphs pools reentry late` those of the runtime, each overriding one
thing of it. `table` says which case kills which, `hunt` sets the cases on them.
"""
