"""The base class of score modifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, parts
from eyeline.scores.arrays import Parameter
from eyeline.scores.lowered import HiddenColumns, Step, Weighted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: All queries, or all keys.
ALL = slice(None)


class Score:
    """A score modifier, applied between q·k · scale and the softmax. It is a frozen dataclass."""

    #: The fields that are arrays but no parameters: they have no gradients.
    constants: ClassVar[tuple[str, ...]] = ()

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        """The modifier's definition: the changed scores.

        Args:
            s: the scores before, (B, H, n, m), a float64 array or a torch tensor.
            shape: the shape of the whole matrix.
            queries, keys: the positions of these n queries and m keys in the whole matrix. The modifier's own arrays
                with axes for queries or keys have been cut to them by `part`.
        """
        raise NotImplementedError

    def part(self, queries: slice, keys: slice) -> Self:
        """The modifier for these queries and keys: its arrays with such axes are cut, without a copy."""
        return self

    def check(self, shape: AttentionShape) -> None:
        """Check the modifier against the shape.

        Raises:
            ValueError: if a parameter doesn't fit the shape, or isn't finite where it has to be.
        """
        self.lower(shape)

    def lower(self, shape: AttentionShape) -> Step | Weighted | HiddenColumns:
        """The modifier as a step for the kernels."""
        raise NotImplementedError

    def parts(self) -> dict[str, Any]:
        """The modifier's fields, by name; `type(modifier)(**modifier.parts())` equals the modifier."""
        return parts(self)

    def parameters(self) -> dict[str, Parameter]:
        """The learnable parameters by name, as the user gave them: the fields that are arrays, but for the
        constants."""
        parts = self.parts().items()
        return {name: part for name, part in parts if hasattr(part, "dtype") and name not in self.constants}

    def with_parameters(self, parameters: dict[str, Parameter]) -> Self:
        """A copy of the modifier with other parameters of the same shapes."""
        this: DataclassInstance = self  # type: ignore[assignment]
        return replace(this, **parameters)  # type: ignore[return-value]

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, NDArray[np.float64]]:
        """The parameters' gradients, by name, from the gradient of the lowered step's array."""
        return {}
