"""Saboteurs: providers with one planted defect each. The suite is trusted because it kills every one of them.

`provider device stream event graph implementations` are an honest asynchronous provider over `ep.device("cpu:0")`, which must
pass. Defects of one family lie in its folder, `ep_primitives/families/*/defects.py`; `themes` holds the defects of several families, and
those of the runtime, each overriding one thing of the honest provider. `table` says which case kills which, `hunt` sets the cases on them.
"""
