"""Files that are never half written, locks that die with their holder."""

import importlib.util
import logging
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from backstory import atomic
from backstory.atomic import lock, make_private_dir, read_state, write_atomic, write_state
from backstory.file_reader import UnusableFile


def python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *arguments], stdout=subprocess.PIPE)


class TestWriting:
    def test_a_file_is_written_whole_with_the_mode_asked_for_and_no_temporary_file_stays(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        write_atomic(path, b"one")
        write_atomic(path, b"two", 0o640)
        assert path.read_bytes() == b"two"
        assert path.stat().st_mode & 0o777 == 0o640
        assert list(tmp_path.iterdir()) == [path]

    def test_it_is_synced_before_it_is_renamed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """MEMORIA-1."""
        steps: list[str] = []
        fsync, replace = os.fsync, Path.replace

        def noted_fsync(fd: int) -> None:
            steps.append("fsync")
            fsync(fd)

        def noted_replace(self: Path, target: Path) -> Path:
            steps.append("rename")
            return replace(self, target)

        monkeypatch.setattr(os, "fsync", noted_fsync)
        monkeypatch.setattr(Path, "replace", noted_replace)
        write_atomic(tmp_path / "state.json", b"{}")
        assert steps == ["fsync", "rename"]

    def test_missing_parent_folders_are_created_for_the_owner_alone(self, tmp_path: Path) -> None:
        """MEMORIA-3."""
        path = tmp_path / "a" / "b" / "state.json"
        write_state(path, {"a": 1})
        assert read_state(path, {}) == {"a": 1}
        assert path.parent.stat().st_mode & 0o777 == 0o700

    def test_a_folder_that_is_there_keeps_its_mode(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        write_atomic(tmp_path / "state.json", b"{}")
        assert tmp_path.stat().st_mode & 0o777 == 0o755

    def test_a_symbolic_link_stays_one_and_its_target_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "dotfiles").mkdir()
        real, link = tmp_path / "dotfiles" / "settings", tmp_path / "settings"
        real.write_text("old")
        link.symlink_to(real)
        write_atomic(link, b"new")
        assert link.is_symlink()
        assert real.read_text() == "new"

    def test_a_file_that_is_not_ours_alone_keeps_its_mode_and_a_new_one_gets_the_one_asked_for(
        self, tmp_path: Path
    ) -> None:
        """NC-25."""
        theirs, new = tmp_path / "theirs", tmp_path / "new"
        theirs.write_bytes(b"old")
        for mode in (0o664, 0o640, 0o755):
            theirs.chmod(mode)
            write_atomic(theirs, b"new", keep=True)
            assert theirs.stat().st_mode & 0o7777 == mode
        write_atomic(new, b"new", keep=True)
        assert new.stat().st_mode & 0o777 == 0o600
        write_atomic(theirs, b"ours")
        assert theirs.stat().st_mode & 0o777 == 0o600

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give a file away")
    def test_a_file_that_is_not_ours_alone_keeps_its_owner_and_group(self, tmp_path: Path) -> None:
        path = tmp_path / "theirs"
        path.write_bytes(b"old")
        os.chown(path, 1234, 2345)
        path.chmod(0o660)
        write_atomic(path, b"new", keep=True)
        found = path.stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1234, 2345, 0o660)

    @pytest.mark.parametrize("linked", [False, True])
    @pytest.mark.parametrize("kind", ["pipe", "folder", "device", "socket"])
    def test_what_is_no_regular_file_is_never_replaced(self, tmp_path: Path, kind: str, linked: bool) -> None:
        target = Path("/dev/null") if kind == "device" else tmp_path / "odd"
        if kind == "pipe":
            os.mkfifo(target)
        elif kind == "folder":
            target.mkdir()
        elif kind == "socket":
            os.mknod(target, 0o600 | stat.S_IFSOCK)
        path = target
        if linked or kind == "device":
            path = tmp_path / "link"
            path.symlink_to(target)
        before = target.lstat()
        with pytest.raises(UnusableFile, match="not a regular file"):
            write_atomic(path, b"new")
        after = target.lstat()
        assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)
        assert not [left for left in tmp_path.iterdir() if left.name.startswith(".")]

    def test_a_failed_write_leaves_the_old_content_and_no_temporary_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """NC-26: and the original error surfaces."""
        path = tmp_path / "state.json"
        write_atomic(path, b"old")

        def full(fd: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_atomic(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_writer_killed_at_any_instant_leaves_the_old_content_or_the_new(self, tmp_path: Path) -> None:
        """MEMORIA-2: killed before each line that writing runs through, the standard library's too."""
        code = """
            import os, signal, sys
            from pathlib import Path
            from backstory.atomic import write_atomic

            path, old, new = Path(sys.argv[1]), b"old" * 50_000, b"new" * 70_000

            def dies_at(line):
                def step(frame, event, argument):
                    nonlocal line
                    line -= event == "line"
                    if line < 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return step
                return step

            path.write_bytes(old)
            for line in range(10_000):
                child = os.fork()
                if not child:
                    sys.settrace(dies_at(line))
                    write_atomic(path, new)
                    os._exit(0)
                killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
                print({old: "old", new: "new"}.get(path.read_bytes(), "neither"))
                if not killed:
                    break
                path.write_bytes(old)
        """
        with python(code, str(tmp_path / "state.json")) as writers:
            assert writers.stdout is not None
            found = writers.stdout.read().decode().split()
        assert writers.returncode == 0
        assert len(found) > 10, "it was killed at every line, one after the other"
        assert set(found[:-1]) <= {"old", "new"}
        assert (found[0], found[-1]) == ("old", "new")

    def test_a_writer_killed_in_the_middle_of_a_large_file_leaves_the_old_one(self, tmp_path: Path) -> None:
        """MEMORIA-2, NC-27: the kernel ends it after the first half megabyte of eight."""
        path = tmp_path / "state.json"
        path.write_bytes(b"old")
        code = """
            import resource, signal, sys
            from pathlib import Path
            from backstory.atomic import write_atomic
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            write_atomic(Path(sys.argv[1]), b"new" * 2_700_000)
        """
        with python(code, str(path)) as writer:
            pass
        assert writer.returncode == -signal.SIGXFSZ
        assert path.read_bytes() == b"old"
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) > 400_000, "it had begun to write"

    def test_private_folders_are_private_whatever_the_umask_says(self, tmp_path: Path) -> None:
        old = os.umask(0o000)
        try:
            made = make_private_dir(tmp_path / "home" / "spool")
        finally:
            os.umask(old)
        assert made.stat().st_mode & 0o777 == 0o700


class TestState:
    def test_a_missing_file_gives_the_default_and_no_backup(self, tmp_path: Path) -> None:
        """MEMORIA-12."""
        assert read_state(tmp_path / "confirmed.json", {"a": "b"}) == {"a": "b"}
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "content", [b"", b'{"a": ', b"\xff\xfe\x00", b"[1, 2]", b'"text"', b"null", b"[" * 100_000]
    )
    def test_a_corrupt_file_is_moved_aside_with_a_stamp_and_a_warning(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
    ) -> None:
        """MEMORIA-10. A list where a table belongs is as corrupt as half a file."""
        path = tmp_path / "confirmed.json"
        path.write_bytes(content)
        with caplog.at_level(logging.WARNING):
            assert read_state(path, {}) == {}
        (aside,) = tmp_path.iterdir()
        assert re.fullmatch(r"confirmed\.json\.bak-\d{8}T\d{6}Z", aside.name)
        assert aside.read_bytes() == content
        assert "corrupt" in caplog.text

    def test_a_state_that_is_not_of_its_declared_shape_is_moved_aside(self, tmp_path: Path) -> None:
        path = tmp_path / "confirmed.json"

        def texts(state: dict[str, str]) -> bool:
            return all(isinstance(value, str) for value in state.values())

        path.write_text('{"a": 7}')
        assert read_state(path, {}, texts) == {}
        path.write_text('{"a": 8}')
        assert read_state(path, {}, texts) == {}
        assert sorted(kept.read_text() for kept in tmp_path.iterdir()) == ['{"a": 7}', '{"a": 8}']
        path.write_text('{"a": "b"}')
        assert read_state(path, {}, texts) == {"a": "b"}

    @pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
    def test_what_is_no_file_is_moved_aside_too_and_the_state_can_be_written(
        self, tmp_path: Path, kind: str
    ) -> None:
        path = tmp_path / "confirmed.json"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
        assert read_state(path, {"a": "b"}) == {"a": "b"}
        write_state(path, {"c": "d"})
        assert read_state(path, {}) == {"c": "d"}
        assert len(list(tmp_path.glob("confirmed.json.bak-*"))) == 1

    def test_what_cannot_be_moved_aside_is_the_default_all_the_same(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "confirmed.json"
        path.write_text("{")

        def refused(self: Path, target: Path) -> Path:
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(Path, "replace", refused)
        with caplog.at_level(logging.WARNING):
            assert read_state(path, {}) == {}
        assert "cannot be moved aside" in caplog.text
        assert path.read_text() == "{"

    def test_text_of_any_language_comes_back_as_it_was(self, tmp_path: Path) -> None:
        write_state(tmp_path / "s.json", {"ключ": "値 – ü"})
        assert read_state(tmp_path / "s.json", {}) == {"ключ": "値 – ü"}


class TestLock:
    def test_only_one_holds_it_and_it_is_free_afterwards(self, tmp_path: Path) -> None:
        path = tmp_path / "worker.lock"
        with lock(path) as first, lock(path) as second:
            assert (first, second) == (True, False)
        with lock(path) as third:
            assert third

    def test_a_waiter_gets_it_as_soon_as_it_is_free(self, tmp_path: Path) -> None:
        path = tmp_path / "worker.lock"
        holder = python(
            """
            import sys, time
            from pathlib import Path
            from backstory.atomic import lock
            with lock(Path(sys.argv[1])):
                print("held", flush=True)
                time.sleep(0.3)
            """,
            str(path),
        )
        with holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            with lock(path) as at_once:
                assert not at_once
            with lock(path, wait=10) as held:
                assert held

    @pytest.mark.parametrize("kind", ["pipe", "device"])
    def test_a_lock_that_is_no_file_is_refused_and_not_waited_for(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "worker.lock"
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        with pytest.raises(UnusableFile), lock(path):
            pass

    def test_a_killed_holder_releases_it(self, tmp_path: Path) -> None:
        path = tmp_path / "worker.lock"
        holder = python(
            """
            import sys, time
            from pathlib import Path
            from backstory.atomic import lock
            with lock(Path(sys.argv[1])):
                print("held", flush=True)
                time.sleep(60)
            """,
            str(path),
        )
        with holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            holder.send_signal(signal.SIGKILL)
        with lock(path, wait=5) as held:
            assert held

    def test_on_windows_the_same_lock_is_msvcrts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """MEMORIA-5; the Windows half as data, the POSIX half is every other test here."""
        held: set[int] = set()

        def locking(fd: int, mode: int, size: int) -> None:
            inode = os.fstat(fd).st_ino
            assert (mode, size, os.lseek(fd, 0, os.SEEK_CUR)) == (2, 1, 0)
            if inode in held:
                raise OSError(13, "Permission denied")
            held.add(inode)

        msvcrt = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
        monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
        monkeypatch.setattr(sys, "platform", "win32")
        spec = importlib.util.spec_from_file_location("atomic_on_windows", atomic.__file__)
        assert spec is not None
        assert spec.loader is not None
        windows = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(windows)
        with windows.lock(tmp_path / "w.lock") as first, windows.lock(tmp_path / "w.lock") as second:
            assert (first, second) == (True, False)
