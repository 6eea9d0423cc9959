"""Saboteurs: providers with one planted defect each. The suite is trusted because it kills every one of them.

`provider device stream event implementations` are an honest asynchronous provider over `ep.device("cpu:0")`, which must
pass; `values` and `ordering` hold the defects, each overriding one thing of it; `table` says which case kills which.
"""
