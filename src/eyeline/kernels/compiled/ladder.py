"""The ladder of tiles: a product of any number of rows, covered by tiles of three heights, the smallest one row."""

from __future__ import annotations

from typing import NamedTuple

from eyeline.kernels.compiled.records import compiled


class Ladder(NamedTuple):
    """`rows_of(left)`: the number of rows of the next tile, given the number of rows left; `tile(rows, thin,
    *arguments)`: runs the tile of that height, one vector wide if `thin`."""

    rows_of: object
    tile: object


def ladder(make_tile, row_counts, most_vectors):
    """The ladder of the tiles from `make_tile(vectors, rows)`, `most_vectors` vectors wide or one."""
    r_most, r_some, _ = row_counts
    most, some, one = (make_tile(most_vectors, rows) for rows in row_counts)
    most_thin, some_thin, one_thin = (make_tile(1, rows) for rows in row_counts)

    @compiled
    def rows_of(left):
        # Two tiles of the middle height are faster than a full one and a remainder.
        if left >= r_most and (left != 2 * r_some or r_most == 2 * r_some):
            return r_most
        return r_some if left >= r_some else 1

    @compiled
    def tile(rows, thin, *arguments):
        if rows == r_most:
            if thin:
                most_thin(*arguments)
            else:
                most(*arguments)
        elif rows == r_some:
            if thin:
                some_thin(*arguments)
            else:
                some(*arguments)
        elif thin:
            one_thin(*arguments)
        else:
            one(*arguments)

    return Ladder(rows_of, tile)
