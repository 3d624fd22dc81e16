"""Which user of this machine is at the other end of a loopback connection.

Loopback is open to every user of the machine. Linux lists the sockets with their owners in /proc/net/tcp and
tcp6; a client's own socket is the row in which its address comes first. Where that cannot be read (macOS,
Windows, some sandboxes), or the client has closed already, nothing is known, and the token alone decides.
"""

import ipaddress
import os
import sys
from pathlib import Path

Address = tuple[str, int]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_OPEN = b"01"  # only an open socket is listed with its owner; a closed one seems to be root's
_WORD = 4  # bytes; the kernel prints addresses as numbers of this size, in the machine's own order
_MAPPED = b"\0" * 10 + b"\xff\xff"  # before an IPv4 address in a socket that speaks both


def is_stranger(client: Address, server: Address) -> bool:
    """Whether a connection is known to come from another user; root may do everything anyway."""
    uid = uid_of(client, server)
    return uid is not None and uid not in (0, os.getuid(), os.geteuid())


def uid_of(client: Address, server: Address) -> int | None:
    """The owner of the client's socket; None if the system does not tell."""
    addresses = [ipaddress.ip_address(host).packed for host, _ in (client, server)]
    forms = [addresses] if len(addresses[0]) > _WORD else [addresses, [_MAPPED + each for each in addresses]]
    for packed in forms:
        table = _TABLES[len(packed[0]) > _WORD]
        row = " ".join(_printed(each, port) for each, (_, port) in zip(packed, (client, server), strict=True))
        if (uid := _owner(table, f" {row} ".encode())) is not None:
            return uid
    return None


def _owner(table: Path, row: bytes) -> int | None:
    try:
        _, found, after = table.read_bytes().partition(row)
    except OSError:
        return None
    fields = after.split(maxsplit=5)  # state, queues, timer, retransmissions, owner
    return int(fields[4]) if found and len(fields) > 5 and fields[0] == _OPEN else None


def _printed(packed: bytes, port: int) -> str:
    """An address as the kernel prints it in these tables."""
    words = (packed[at : at + _WORD] for at in range(0, len(packed), _WORD))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
