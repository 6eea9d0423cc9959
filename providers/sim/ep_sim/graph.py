"""A graph is one task: its nodes are done one after the other, and other streams go on before or after all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.work.executable import Replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.work.executable import Bindings

    from ep_sim.stream import SimStream

__all__ = ["TaskGraph"]


class TaskGraph(Replay):
    """Captured work as a task that is put together at each launch."""

    def bind(self, bindings: Bindings) -> Callable[[Any, Any, Any], None]:
        replay = super().bind(bindings)

        def run(stream: SimStream, _: Any, __: Any) -> None:
            stream.together("", lambda taker: replay(taker, (), ()))

        return run
