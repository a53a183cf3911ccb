"""When two readouts are equal."""

from __future__ import annotations

from eyeline.masks.parts import is_plain, parts


class EqualByParts:
    """Equal to another of its class whose parts are the same; an array is the same as itself alone."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        pairs = zip(parts(self).values(), parts(other).values(), strict=True)
        return all(x is y or (is_plain(x) and is_plain(y) and x == y) for x, y in pairs)

    def __hash__(self) -> int:
        return hash((type(self), *(part if is_plain(part) else id(part) for part in parts(self).values())))
