"""A device of EP as an argument of a command."""

from __future__ import annotations

import click

import ep

__all__ = ["DeviceName"]


class DeviceName(click.ParamType[ep.Device]):
    """The name of a device, such as cpu:0."""

    name = "device"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> ep.Device:
        """Return the device. Raises click.BadParameter with what EP says."""
        if isinstance(value, ep.Device):
            return value
        try:
            return ep.device(str(value))
        except (ep.EpError, ValueError) as error:
            self.fail(str(error).partition("\n")[0], param, ctx)
