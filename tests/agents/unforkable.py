"""Run one command whose every `fork` fails with EAGAIN, as on a machine that is out of processes.

`ulimit -u` does not bind root, so a seccomp filter answers for the kernel: clone, fork, vfork and clone3
return EAGAIN in this process and whatever it becomes. To the shell that runs a hook this is the real thing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
FORKS = {  # clone, fork, vfork, clone3
    "x86_64": [56, 57, 58, 435],
    "aarch64": [220, 435],
}


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid_forks() -> None:
    numbers = FORKS[platform.machine()]
    steps = [(LOAD, 0, 0, 0)]
    steps += [(JUMP_IF_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | errno.EAGAIN)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = Program(len(steps), code)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit("unforkable: no seccomp here: " + os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    forbid_forks()
    os.execvp(sys.argv[1], sys.argv[1:])
