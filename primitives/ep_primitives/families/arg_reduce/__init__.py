"""The family ArgReduce."""

from __future__ import annotations

from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_OPS, ArgReduce

__all__ = ["ARG_REDUCE_OPS", "ArgReduce"]
