"""The one reader: regular files, never waiting, of a bounded size, line by bounded line."""

import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from backstory import file_reader
from backstory.agents.claude_transcript import Reader
from backstory.file_reader import UnusableFile, bounded_lines, mtime_ns, read_bytes, read_text, regular_file
from backstory.hook.regular_file import open_regular, read_head


def test_a_regular_file_is_read_also_behind_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("ünï")
    link.symlink_to(file)
    assert (read_text(file), read_text(link)) == ("ünï", "ünï")
    assert regular_file(link) is not None
    with pytest.raises(UnusableFile, match="a symbolic link, not a regular file"):
        read_bytes(link, follow=False)


def test_what_is_refused_is_an_error_of_the_system_with_path_and_reason(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a named pipe, not a regular file") as caught:
        read_bytes(pipe)
    assert caught.value.filename == str(pipe)
    assert regular_file(pipe) is None
    assert read_head(str(pipe), 10) == b""
    with pytest.raises(UnusableFile, match="a device"):
        read_bytes(Path("/dev/zero"))
    with pytest.raises(UnusableFile, match="a folder"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")


def test_a_file_that_is_swapped_for_a_pipe_between_looking_and_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_text("x")
    os.mkfifo(pipe)
    looked = os.stat(file)
    monkeypatch.setattr(os, "stat", lambda path, **options: looked)
    with pytest.raises(UnusableFile, match="a named pipe"):
        open_regular(str(pipe))


def test_a_file_above_its_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, 10**12)
    with pytest.raises(UnusableFile, match="larger than 64 MB"):
        read_bytes(large)
    with pytest.raises(UnusableFile, match="larger than"):
        next(file_reader.read_lines(large))


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("extra", range(1, 9))
def test_a_line_that_is_too_long_is_zeros_of_its_length(end: bytes, extra: int) -> None:
    long = b"x" * (20 + extra)
    given = list(bounded_lines(io.BytesIO(b"one\n" + long + end), longest=20))
    assert given[0] == b"one\n"
    assert b"".join(given[1:]) == bytes(len(long)) + end
    assert given[-1].startswith(b"\0"), "its last piece tells that it belongs to it"
    assert sum(piece.endswith(b"\n") for piece in given[1:]) == len(end)


def test_lines_up_to_the_limit_come_as_they_are() -> None:
    text = b"x" * 19 + b"\n" + b"y" * 20 + b"\n\nz"
    given = list(bounded_lines(io.BytesIO(text), longest=21))
    assert given == [b"x" * 19 + b"\n", b"y" * 20 + b"\n", b"\n", b"z"]


def test_blank_lines_in_a_row_come_as_one_piece_and_no_byte_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = b"one\n" + b"\n" * 3 + b" \r\n" * 2 + b"two\n" + b"\n" * (2 * file_reader.LARGEST // 64) + b"three"
    path.write_bytes(text)
    rows = list(file_reader.read_rows(path))
    assert [row for row in rows if not row.isspace()] == [b"one\n", b"two\n", b"three"]
    assert b"".join(rows) == text
    assert len(rows) < 10
    assert b"".join(file_reader.read_rows(path, 5)) == text[5:]


def test_a_reader_counts_a_skipped_line_once_and_keeps_its_place() -> None:
    row = b'{"type":"user","message":{"role":"user","content":"Count whales"},"uuid":"%d"}\n'
    text = row % 1 + b"x" * 5_000_000 + b"\n" + row % 2
    reader = Reader("s")
    for line in bounded_lines(io.BytesIO(text), longest=1_000):
        reader.feed(line)
    assert reader.counts["malformed"] == 1
    assert reader.offset == len(text)


def test_a_time_that_no_database_holds_counts_as_the_last_that_one_does(tmp_path: Path) -> None:
    late = SimpleNamespace(st_mtime_ns=10**19)
    assert mtime_ns(cast("os.stat_result", late)) == 2**63 - 1
    assert mtime_ns(tmp_path.stat()) == tmp_path.stat().st_mtime_ns
