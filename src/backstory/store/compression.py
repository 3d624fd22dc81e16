"""Payloads as they are stored, compressed. One that is damaged cannot be read, and stops nothing else."""

import zlib

_LEVEL = 1


def pack(text: str) -> bytes:
    """A payload's text as it is stored."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpack(body: object) -> bytes | None:
    """The bytes of a stored payload's text; None if it is damaged, as zlib's checksum tells."""
    try:
        return zlib.decompress(body) if isinstance(body, bytes) else None
    except zlib.error:
        return None


def unpack_text(body: object) -> str | None:
    """The text of a stored payload; None if it is damaged."""
    data = unpack(body)
    return None if data is None else data.decode("utf-8", "replace")
