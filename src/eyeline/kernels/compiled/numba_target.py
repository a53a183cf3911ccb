"""Numba, reduced to what kernels need: the decorator `compiled`.

A kernel's functions call one another and nothing else, and never fail. So the machine code that Numba makes for every
function on its own isn't needed, nor its wrappers, nor the status that each of its functions returns beside its value,
whose checks LLVM would have to remove again. Here, all functions land in one LLVM module, return their values, and go
through only those of Numba's passes that they need. That more than halves the time to compile a kernel.
"""

from __future__ import annotations

from functools import cached_property

from llvmlite import ir
from numba.core import funcdesc, lowering, registry, target_extension, types, typing
from numba.core.bytecode import ByteCode, FunctionIdentity
from numba.core.callconv import BaseCallConv, create_error_model
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaTypeError
from numba.core.interpreter import Interpreter
from numba.core.ir_utils import build_definitions
from numba.core.sigutils import normalize_signature
from numba.core.ssa import reconstruct_ssa
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import PreLowerStripPhis, type_inference_stage
from numba.extending import intrinsic

from eyeline.kernels.compiled import ranges


class PlainConvention(BaseCallConv):
    """The calling convention: arguments as Numba flattens them, and the value returned as it is."""

    def get_function_type(self, restype, argtypes):
        arguments = list(self._get_arg_packer(argtypes).argument_types)
        returned = self.context.data_model_manager[restype].get_return_type()
        return ir.FunctionType(ir.VoidType() if restype == types.none else returned, arguments)

    def decorate_function(self, fn, args, fe_argtypes, noalias=False):
        fn.linkage = "internal"

    def get_arguments(self, func):
        return func.args

    def call_function(self, builder, callee, resty, argtys, args):
        result = builder.call(callee, list(self._get_arg_packer(argtys).as_arguments(builder, args)))
        # Numba's convention has a status, too.
        if resty == types.none:
            return None, self.context.get_dummy_value()
        return None, self.context.get_returned_value(builder, resty, result)

    def return_value(self, builder, retval):
        if isinstance(builder.function.function_type.return_type, ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(retval)

    def return_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        # Numba's own code for what a kernel never does: a range with steps of 0.
        builder.unreachable()

    def _make_call_helper(self, builder):
        """Numba's helper collects exceptions."""


def _choosing(comparison):
    """`min` or `max` of two integers, without the functions that Numba would compile for each pair of types."""

    @intrinsic
    def choose(typingctx, a, b):
        kind = typingctx.unify_types(types.unliteral(a), types.unliteral(b))
        if not isinstance(kind, types.Integer):
            return None

        def codegen(context, builder, signature, args):
            compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
            return builder.select(compare(comparison, *args), *args)

        return kind(kind, kind), codegen

    return choose


CHOOSING = {"min": _choosing("<="), "max": _choosing(">=")}


class KernelTyping(typing.Context):
    """Numba's types of what functions name and call, with our own `min` and `max`."""

    def init(self):
        self._resolved = {}

    def resolve_function_type(self, func, args, kws):
        # The same few hundred calls occur again and again, and Numba would look for each among all that it knows.
        if kws:
            return super().resolve_function_type(func, args, kws)
        found = self._resolved.get((func, args))
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None:
                self._resolved[func, args] = found
        return found

    def resolve_value_type(self, val):
        return super().resolve_value_type(CHOOSING[val.__name__] if val is min or val is max else val)


class KernelContext(CPUContext):
    """How functions become LLVM IR, all of them in one module."""

    @cached_property
    def call_conv(self):
        return PlainConvention(self)

    @cached_property
    def library(self):
        return Library(self.create_module("kernels"))

    def load_additional_registries(self):
        # What kernels' functions use: numbers, ranges, tuples, records.
        from numba.cpython import builtins, numbers, rangeobj, tupleobj  # noqa: F401
        from numba.np import arrayobj  # noqa: F401

    def refresh(self):
        super().refresh()
        self.install_registry(ranges.registry)  # last, so that it counts

    # Plain names: IR is a third longer with those of C++.
    def mangler(self, name, types, *, abi_tags=(), uid=None):
        return f"{name}.{uid}"

    # Of an iterator's next value, and whether there is one: Numba would go through memory.
    def pair_first(self, builder, val, ty):
        return builder.extract_value(val, 0)

    def pair_second(self, builder, val, ty):
        return builder.extract_value(val, 1)

    def insert_user_function(self, func, fndesc, libs=()):
        def call(context, builder, signature, args):
            callee = context.declare_function(builder.module, fndesc)
            return context.call_conv.call_function(builder, callee, fndesc.restype, fndesc.argtypes, args)[1]

        self._defns[func].append(call, fndesc.argtypes)

    def add_linking_libs(self, libs):
        pass

    def post_lowering(self, mod, library):
        pass


class Library:
    """In place of Numba's code library: the module to which functions are added."""

    def __init__(self, module):
        self.module = module

    def create_ir_module(self, name):
        return self.module

    def add_ir_module(self, module):
        pass


class Lower(lowering.Lower):
    """Numba's lowering, but no function refers to Python objects or raises exceptions, and variables aren't set to 0 at
    first, nor read before they are set."""

    def emit_environment_object(self):
        pass

    def alloca_lltype(self, name, lltype, datamodel=None):
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def storevar(self, value, name, argidx=None):
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def lower_binop(self, resty, expr, op):
        # Numba would first look for an operation with constants.
        signature = self.fndesc.calltypes[expr]
        operands = [
            self.context.cast(self.builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        operation = self.context.typing_context.resolve_value_type(op)
        resolved = self.context.typing_context.resolve_function_type(operation, signature.args, {})
        result = self.context.get_function(operation, resolved)(self.builder, operands)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def return_exception(self, exc_class, exc_args=None, loc=None):
        raise NumbaTypeError("a kernel's functions can't raise exceptions")


def compile_function(function, arguments, returned, context):
    """Add a function to the context's module, for these types of arguments; return its descriptor, of which Numba reads
    the name and the types. These are Numba's passes, as far as kernels need them."""
    code = Interpreter(FunctionIdentity.from_function(function))
    code = code.interpret(ByteCode(code.func_id))
    code.blocks = canonicalize_cfg(code.blocks)
    code = reconstruct_ssa(code)
    code._definitions = build_definitions(code.blocks)
    found = type_inference_stage(context.typing_context, context, code, arguments, returned, {})
    code = PreLowerStripPhis()._strip_phi_nodes(code)
    code._definitions = build_definitions(code.blocks)
    descriptor = funcdesc.PythonFunctionDescriptor.from_specialized_function(
        code, found.typemap, found.return_type, found.calltypes, context.mangler, False, False, []
    )
    with ConfigStack().enter(Flags()):
        Lower(
            context.subtarget(error_model=create_error_model("numpy", context)), context.library, descriptor, code
        ).lower()
    return descriptor


class KernelTarget(registry.CPUTarget):
    """Numba's contexts for kernels."""

    @cached_property
    def _toplevel_typing_context(self):
        return KernelTyping()

    @cached_property
    def _toplevel_target_context(self):
        return KernelContext(self.typing_context, self._target_name)


class KernelFunction(Dispatcher):
    """A compiled function: a specialisation for each set of argument types."""

    targetdescr = KernelTarget("eyeline")

    def get_call_template(self, args, kws):
        # One specialisation for all numbers, not one for each constant.
        return super().get_call_template([types.unliteral(one) for one in args], kws)

    @global_compiler_lock
    def compile(self, sig):
        arguments, returned = normalize_signature(sig)
        if arguments not in self.overloads:
            with target_extension.target_override(self.targetctx.target_name):
                self.targetctx.refresh()
                descriptor = compile_function(self.py_func, arguments, returned, self.targetctx)
            self.targetctx.insert_user_function(descriptor.mangled_name, descriptor)
            self.overloads[arguments] = Specialisation(descriptor)
        return self.overloads[arguments].entry_point


class Specialisation:
    """What Numba asks of a compiled function."""

    objectmode = False

    def __init__(self, descriptor):
        self.entry_point = descriptor.mangled_name
        self.signature = typing.signature(descriptor.restype, *descriptor.argtypes)


class Kernels(target_extension.CPU):
    """Numba's name for this target."""


target_extension.target_registry["eyeline"] = Kernels
target_extension.dispatcher_registry[Kernels] = KernelFunction
# For the functions that Numba itself defines in Python.
target_extension.jit_registry[Kernels] = lambda **options: KernelFunction

#: The decorator of every compiled function.
compiled = KernelFunction
