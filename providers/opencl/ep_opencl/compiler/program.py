"""Building programs: this room's prelude, then ep_simt's source, through the driver's compiler."""

from __future__ import annotations

import warnings
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import pyopencl as cl

import ep
from ep_opencl.compiler.alone import alone, is_alone
from ep_opencl.compiler.pocl import CURE, WITHOUT_DECLARATIONS, declares_all
from ep_opencl.description import ROUNDED
from ep_opencl.errors import failure

if TYPE_CHECKING:
    from ep_simt import Program

    from ep_opencl.device import ClDevice

# Intel's compiler says "done" of every program, and pyopencl warns that a compiler said something. With
# PYOPENCL_COMPILER_OUTPUT=1 the warning is the compiler's message, and is shown.
warnings.filterwarnings("ignore", "Non-empty compiler output", cl.CompilerWarning)

__all__ = ["FUSED", "PRELUDE", "build", "build_source", "fuses"]

FUSED: Final = "fused-multiply-add"
"""The feature of a device whose formulas round x y + z once."""

PRELUDE: Final = files(__package__).joinpath("prelude.h").read_text(encoding="utf-8")
"""The words of the dialect in OpenCL C."""

_DECLARATIONS: Final = files(__package__).joinpath("declarations.h").read_text(encoding="utf-8")

_QUESTION: Final = "#if EP_FMA\nEP_KERNEL fuses(void) {}\n#else\nEP_KERNEL rounds(void) {}\n#endif\n"


def build(device: ClDevice, program: Program) -> cl.Program:
    """Return a built program. Raises CompileError with the log, the source and the program's name."""
    is_copied = device.is_cpu and declares_all(device.native) and is_alone(program)
    return build_source(device, alone(program, PRELUDE) if is_copied else program.source(PRELUDE), program.name)


def build_source(device: ClDevice, source: str, name: str) -> cl.Program:
    """Return a built program from its whole text, which takes no more from OpenCL C than the prelude does.

    Raises CompileError with the log, the source and `name` as the entry.
    """
    if device.is_lost:
        message = (
            f"{device.name}: this release of PoCL does not know the processor, and cannot compile {name} for it; {CURE}"
        )
        raise ep.CompileError(message, log="", source=source, entry=name)
    device.count()
    try:
        return _built(device, device.context, source)
    except cl.Error as error:
        if error.code not in (cl.status_code.BUILD_PROGRAM_FAILURE, cl.status_code.INVALID_BUILD_OPTIONS):
            raise failure(error) from error
        message = f"{device.name}: {name} does not compile"
        raise ep.CompileError(message, log=str(error), source=source, entry=name) from error


def fuses(device: ClDevice) -> bool:
    """Say whether formulas round x y + z once on a device: whether its compiler defines the prelude's EP_FMA as 1.

    OpenCL has no question for it: CL_FP_FMA says that `fma` is there, not that it is fast. So a program with the answer in its
    kernel's name is compiled, in a context that is gone then; but PoCL reads its library of functions for each context that
    compiles, half a second, and there it is the device's own. False where nothing can be compiled.
    """
    if device.is_lost:
        return False
    try:
        context = device.context if declares_all(device.native) else cl.Context([device.native])
        built = _built(device, context, f"#define EP_HAS_F64 0\n{PRELUDE}{_QUESTION}")
        return "fuses" in built.kernel_names.split(";")
    except (cl.Error, ep.DeviceError):
        return False


def _built(device: ClDevice, context: cl.Context, source: str) -> cl.Program:
    """Return a program, built in a context; on compilers that declare all of OpenCL C, with what the prelude takes alone."""
    options = _options(device)
    if declares_all(device.native):
        options.append(WITHOUT_DECLARATIONS)
        source = f"{_DECLARATIONS}#line 1\n{source}"
    return device.compiled(
        " ".join(options) + source,
        lambda: cl.Program(context, source).build(options),
        lambda binary: cl.Program(context, [device.native], [binary]).build(options),
    )


def _options(device: ClDevice) -> list[str]:
    # -w: pyopencl raises a Python warning for every remark of the compiler.
    options = ["-cl-std=CL1.2", "-w"]
    if device.is_cpu:
        options.append("-DEP_ON_CPU")
    if device.foresees:
        options.append("-DEP_FORESEES")
    if ROUNDED in device.info.features:
        options.append("-cl-fp32-correctly-rounded-divide-sqrt")
    if device.processor:
        # PoCL keeps binaries by their options, and does not know that one directory may serve several processors.
        options.append(f"-DEP_PROCESSOR_{device.processor.replace('-', '_')}")
    return options
