"""The acme stream: each verb is done when it returns."""

import ep


class AcmeStream(ep.spi.Stream):
    """A synchronous queue."""

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        content(dst)[:nbytes] = content(src)[:nbytes]

    def synchronize(self) -> None:
        """Wait for nothing: all is done already."""


def content(side: ep.Memory | memoryview) -> memoryview:
    """Return the bytes of either side of a copy."""
    return side if isinstance(side, memoryview) else memoryview(side.handle)[side.offset : side.offset + side.nbytes]
