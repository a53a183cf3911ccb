"""What may be seen: masks as structure, not tensors.

A mask says *True where query i may look at key j*, as `scaled_dot_product_attention` does. Masks are small values that
print as what they mean and join with `&`, `|` and `~`. Each has two faces: `rule`, its definition as a formula on
positions (the specification), and `lower`, the same as intervals of keys per query (what the kernels read). This room
imports NumPy alone; Numba, when a function of the user's is to be asked.
"""

from eyeline.masks.dense import Dense
from eyeline.masks.documents import Documents
from eyeline.masks.function_key import function_key, plain_function
from eyeline.masks.intervals import Intervals
from eyeline.masks.lowered import LoweredMask, Rule
from eyeline.masks.mask import And, Mask, Not, Or
from eyeline.masks.mask_function import MaskFunction
from eyeline.masks.padding import Padding
from eyeline.masks.picture import edges
from eyeline.masks.positions import Align, Causal, PrefixLM, Window, check_align, standing
from eyeline.masks.shape import AttentionShape, Shard

__all__ = [
    "Align",
    "And",
    "AttentionShape",
    "Causal",
    "Dense",
    "Documents",
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
    "edges",
    "function_key",
    "plain_function",
    "standing",
]
