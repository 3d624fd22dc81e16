"""A network that is only loopback.

A *holder* process moves into a network namespace of its own, brings `lo` up, and hands out listening sockets
over a Unix socket. So the model is served by a thread of the test itself (its requests are plain objects to
assert on), while what it listens on exists only in there, next to the client that `enter` starts.

As root a network namespace is enough; anyone else also gets a user namespace. Where the kernel allows
neither, everything runs on the ordinary loopback and `Loopback.notice` says so.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1

_ENTER = Path(__file__).with_name("enter.py")


@dataclass
class Loopback:
    """The test's end of the holder; `close` lets the namespace go."""

    holder: subprocess.Popen[bytes] | None
    line: socket.socket | None
    notice: str = ""

    @classmethod
    def open(cls) -> Loopback:
        ours, theirs = socket.socketpair()
        holder = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
        )
        theirs.close()
        told = ours.recv(1000).decode()
        if told == "ready":
            return cls(holder, ours)
        ours.close()
        holder.wait()
        return cls(
            None, None, f"NOT ISOLATED: no network namespace here ({told}); telemetry is only switched off"
        )

    def listen(self) -> socket.socket:
        """A listening socket on 127.0.0.1, inside."""
        if self.line is None:
            return _listening()
        self.line.send(b"L")
        _, descriptors, _, _ = socket.recv_fds(self.line, 1, 1)
        return socket.socket(fileno=descriptors[0])

    def inside(self, *faults: str) -> list[str]:
        """The words to put before a command so that it runs inside (see `enter` for the faults)."""
        where = [f"net={self.holder.pid}"] if self.holder else []
        return [sys.executable, "-I", "-S", str(_ENTER), *where, *faults, "--"] if where or faults else []

    def close(self) -> None:
        if self.line and self.holder:
            self.line.close()
            self.holder.wait(timeout=10)


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _listening() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener


def _leave_the_network() -> None:
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNET if uid == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if libc().unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    if uid != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def _bring_lo_up() -> None:
    """What `ip link set lo up` does, without needing iproute2."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags: int = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def hold(line: socket.socket) -> None:
    """The holder's whole life: leave, report, hand out sockets until the test hangs up."""
    try:
        _leave_the_network()
        _bring_lo_up()
    except (OSError, AttributeError) as refused:
        line.send(str(refused).encode())
        return
    line.send(b"ready")
    while line.recv(1):
        with _listening() as listener:
            socket.send_fds(line, [b"L"], [listener.fileno()])


if __name__ == "__main__":
    hold(socket.socket(fileno=int(sys.argv[1])))
