"""Which user of this machine is at the other end of a loopback connection.

Loopback is open to every user of the machine. Linux tells who owns a socket: at once by its socket
diagnostics, and where those are not to be had, slower, in /proc/net/tcp and tcp6. Where it tells, a
connection whose owner cannot be told is refused: the client has closed its end, or half of it, so that nobody
sees whose it is. Where neither is to be had (macOS, Windows, some sandboxes), the token alone decides.

The other way round, whoever is first takes the port that a model is expected at, and would be sent sessions.
So before anything is sent on this machine it is asked who serves there: this user, root and accounts of the
system may, others only if they are named.
"""

import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

Address = tuple[str, int]
State = tuple[int, int]  # what a socket is doing, and its owner

_OPEN = 1  # only an open socket is told with its owner; a closed one seems to be root's
_LISTENS = b"0A"
# Accounts of people begin at the first; systemd's passing services have those between, `nobody` is behind.
_FIRST_PERSON, _SERVICES = 1000, range(61_184, 65_535)

# linux/netlink.h, sock_diag.h and inet_diag.h
_SOCK_DIAG, _BY_FAMILY, _REQUEST, _ANY = 4, 20, 1, 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBBI")
_PORTS = struct.Struct(">HH")
_ADDRESS = 16
_REST = struct.Struct("=III")
_ANSWER = struct.Struct(f"=BBBB{_PORTS.size + 2 * _ADDRESS + _REST.size}xIIII")
_SECONDS = 1.0

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_WORD = 4  # bytes; the kernel prints addresses as numbers of this size, in the machine's own order
_MAPPED = b"\0" * 10 + b"\xff\xff"  # before an IPv4 address in a socket that speaks both


def is_stranger(client: Address, server: Address) -> bool:
    """Whether a connection is not known to be this user's, on a system that tells; root may do everything."""
    tells, uid = owner_of(client, server)
    return tells and uid not in (0, os.getuid(), os.geteuid())


def other_server(own: Address, server: Address, known: Collection[int] = ()) -> int | None:
    """The other user of this machine who serves at an address that we are connected to from `own`.

    None if it is nobody else, one of the `known`, on another machine, or if the system does not tell. First
    it is asked who listens: a socket that nobody has taken yet seems to be root's, and who stops listening
    before that has taken the connection, or it is gone.
    """
    here, there = (_host(address) for address in (own, server))
    if not there.is_loopback and here != there:
        return None
    own, server = (str(here), own[1]), (str(there), server[1])
    owners = set(_listeners(server))
    taken = _diagnosed(server, own)
    if taken is None or taken[0] != _OPEN:
        taken = _listed(server, own)
    if taken is not None and taken[1]:
        owners.add(taken[1])
    return next((uid for uid in sorted(owners) if not _may_serve(uid) and uid not in known), None)


def _may_serve(uid: int) -> bool:
    return uid < _FIRST_PERSON or uid in _SERVICES or uid in (os.getuid(), os.geteuid())


def _host(address: Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    host = ipaddress.ip_address(address[0].partition("%")[0])
    return getattr(host, "ipv4_mapped", None) or host


def owner_of(client: Address, server: Address) -> tuple[bool, int | None]:
    """Whether the system tells of sockets at all, and the owner of the client's; None if it is not open."""
    found, own = _diagnosed(client, server), _diagnosed(server, client)
    if found is None and own is None:
        found, own = _listed(client, server), _listed(server, client)
    tells = found is not None or own is not None
    return tells, found[1] if found and found[0] == _OPEN else None


def _diagnosed(near: Address, far: Address) -> State | None:
    """What the kernel says of the one socket between two addresses."""
    if sys.platform != "linux":
        return None
    family = socket.AF_INET6 if ":" in near[0] else socket.AF_INET
    packed = b"".join(socket.inet_pton(family, host).ljust(_ADDRESS, b"\0") for host, _ in (near, far))
    asked = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY) + _PORTS.pack(near[1], far[1]) + packed
    asked += _REST.pack(0, _ANY, _ANY)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(_SECONDS)
            kernel.send(_HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST, 0, 0) + asked)
            answer = kernel.recv(4096)
    except OSError:
        return None
    if len(answer) < _HEADER.size + _ANSWER.size or _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    _, state, _, _, _, _, _, uid = _ANSWER.unpack_from(answer, _HEADER.size)
    return state, uid


def _listed(client: Address, server: Address) -> State | None:
    """What the tables of all sockets say: the client's is the row in which its address comes first."""
    addresses = [ipaddress.ip_address(host).packed for host, _ in (client, server)]
    forms = [addresses] if len(addresses[0]) > _WORD else [addresses, [_MAPPED + each for each in addresses]]
    for packed in forms:
        table = _TABLES[len(packed[0]) > _WORD]
        row = " ".join(_printed(each, port) for each, (_, port) in zip(packed, (client, server), strict=True))
        if (found := _row(table, f" {row} ".encode())) is not None:
            return found
    return None


def _listeners(server: Address) -> Iterator[int]:
    """Who listens at an address, or at all of this machine's under that port."""
    packed = ipaddress.ip_address(server[0]).packed
    own = [packed] if len(packed) > _WORD else [packed, _MAPPED + packed]
    places = {_printed(each, server[1]).encode() for each in (*own, bytes(_WORD), bytes(_ADDRESS))}
    for table in _TABLES:
        try:
            rows = table.read_bytes().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split(maxsplit=8)
            if len(fields) > 8 and fields[1] in places and fields[3] == _LISTENS:
                yield int(fields[7])


def _row(table: Path, row: bytes) -> State | None:
    try:
        _, found, after = table.read_bytes().partition(row)
    except OSError:
        return None
    fields = after.split(maxsplit=5)  # state, queues, timer, retransmissions, owner
    return (int(fields[0], 16), int(fields[4])) if found and len(fields) > 5 else None


def _printed(packed: bytes, port: int) -> str:
    """An address as the kernel prints it in these tables."""
    words = (packed[at : at + _WORD] for at in range(0, len(packed), _WORD))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
