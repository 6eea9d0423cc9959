"""From LLVM IR to an object for this machine, by the wheel llvmlite."""

from __future__ import annotations

import functools

import llvmlite
import llvmlite.binding as llvm

__all__ = ["machine", "object_of"]


@functools.cache
def _target(level: int) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    # The large model: code may lie anywhere, and addresses are words that the loader fills in.
    return target.create_target_machine(
        llvm.get_host_cpu_name(), features, opt=level, reloc="static", codemodel="large"
    )


@functools.cache
def machine() -> str:
    """Return what decides the code beside its text: the processor and the compiler."""
    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def object_of(text: str, *, is_hot: bool = False) -> bytes:
    """Return the object of a module: made quickly, or to run quickly."""
    module = llvm.parse_assembly(text)
    target = _target(2 if is_hot else 0)
    options = llvm.create_pipeline_tuning_options(speed_level=2 if is_hot else 0)
    builder = llvm.create_pass_builder(target, options)
    if is_hot:
        builder.getModulePassManager().run(module, builder)
        return bytes(target.emit_object(module))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, builder)
    return bytes(target.emit_object(module))
