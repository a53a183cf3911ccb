"""Masks: which keys a query may look at, as structure, not tensors.

A mask says *True where query i may look at key j*, as `scaled_dot_product_attention` does. Masks are small values that
print as what they mean and join with `&`, `|` and `~`. Each has two methods: `rule`, its definition as a formula on
positions (the specification), and `lower`, the same as intervals of keys per query (the kernels' input). This room
imports NumPy alone, and Numba only to compile a user's function.
"""

from eyeline.masks.align import Align, check_align, first_standing, standing
from eyeline.masks.arrays import namespace
from eyeline.masks.causal import Causal
from eyeline.masks.dense import Dense
from eyeline.masks.documents import Documents
from eyeline.masks.frozen import Frozen
from eyeline.masks.function_key import check_function, function_key, plain_function, snapshot
from eyeline.masks.intervals import Intervals
from eyeline.masks.lowered import LoweredMask, Rule
from eyeline.masks.mask import And, Mask, Not, Or
from eyeline.masks.mask_function import MaskFunction
from eyeline.masks.padding import Padding
from eyeline.masks.parts import is_plain, parts
from eyeline.masks.picture import edges
from eyeline.masks.prefix_lm import PrefixLM
from eyeline.masks.shape import AttentionShape, Shard
from eyeline.masks.window import Window

__all__ = [
    "Align",
    "And",
    "AttentionShape",
    "Causal",
    "Dense",
    "Documents",
    "Frozen",
    "Intervals",
    "LoweredMask",
    "Mask",
    "MaskFunction",
    "Not",
    "Or",
    "Padding",
    "PrefixLM",
    "Rule",
    "Shard",
    "Window",
    "check_align",
    "check_function",
    "edges",
    "first_standing",
    "function_key",
    "is_plain",
    "namespace",
    "parts",
    "plain_function",
    "snapshot",
    "standing",
]
