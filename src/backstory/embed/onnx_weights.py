"""The weights of an ONNX file, read without onnxruntime: a file is a protobuf message of tensors and nodes.

Only what our model uses is understood: tensors stored as raw bytes, of the element types in `_TYPES`.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Numbers of fields in onnx.proto: ModelProto.graph, GraphProto.initializer, TensorProto.*
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8}


def tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file by name, mapped and not copied; a ValueError if it is no such file."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        graph = next(value for field, value in _fields(data) if field == _GRAPH)
        made = (_tensor(value) for field, value in _fields(graph) if field == _INITIALIZER)
        return {name: values for name, values in made if values is not None}
    except (StopIteration, IndexError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no ONNX file") from error


def _tensor(message: memoryview) -> tuple[str, NDArray[Any] | None]:
    dims: list[int] = []
    name, raw, kind = "", memoryview(b""), 0
    for field, value in _fields(message):
        if field == _DIMS:
            dims += [value] if isinstance(value, int) else _varints(value)
        elif field == _TYPE:
            kind = value
        elif field == _NAME:
            name = bytes(value).decode()
        elif field == _RAW:
            raw = value
    if kind not in _TYPES or not len(raw):
        return name, None
    return name, np.frombuffer(raw, _TYPES[kind]).reshape(dims)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: number and value, an int or the bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(wire, -1)
        if wire == 2:
            size, at = _varint(message, at)
        if size < 0 or at + size > len(message):
            raise ValueError("the file is cut off or no ONNX file")
        yield key >> 3, message[at : at + size]
        at += size


def _varints(packed: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(packed):
        value, at = _varint(packed, at)
        found.append(value)
    return found


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
