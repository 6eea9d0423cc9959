"""Saboteurs: providers with one planted defect each. The suite is trusted because it kills every one of them.

`provider device stream event graph implementations` are an honest asynchronous provider over `ep.device("cpu:0")`, which must
pass; `values types moves windows rows norms selections attentions channels losses recurrences determinism random scratch` hold defects of kernels, `events streams callbacks
transfers memories graphs pools reentry late` of the runtime, each
overriding one thing of it; `table` says which case kills which, `hunt` sets the cases on them.
"""
