"""Model files: written in one step, and the one without labels that no training data makes."""

from __future__ import annotations

import errno
import os
import struct


def check_writable(path: str) -> None:
    """OSError where a file cannot be written, before hours are spent on what goes into it."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.path.isdir(folder):
        code = errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
        raise OSError(code, os.strerror(code), path)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def write(path: str, data: bytes) -> None:
    """Writes a file, so that another process sees the old one or the new one; a device or a pipe is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(data)
        return
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def empty_model() -> bytes:
    """The bytes of a model of CRFsuite without labels and attributes, which a training without data leaves."""
    names = struct.pack("<4s5I", b"CQDB", 2072, 0, 0x62445371, 0, 0) + bytes(2048)
    features = struct.pack("<4s2I", b"FEAT", 12, 0)
    label_lists = struct.pack("<4s4I", b"LFRF", 20, 2, 0, 0)
    attribute_lists = struct.pack("<4s2I", b"AFRF", 12, 0)
    parts = [features, names, names, label_lists, attribute_lists]
    offsets = [48 + sum(map(len, parts[:count])) for count in range(len(parts) + 1)]
    header = struct.pack("<4sI4s9I", b"lCRF", offsets[5], b"FOMC", 100, 0, 0, 0, *offsets[:5])
    return header + b"".join(parts)
