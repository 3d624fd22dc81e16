"""Texts that leave say nothing of the machine that they come from."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.hook.project_identity import project_id
from backstory.model import Project
from backstory.settings import Settings
from backstory.share.outgoing_rows import why_not
from backstory.share.portable_text import LONGEST, PortableText

ROOT = "/opt/code/shop"


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PortableText:
    monkeypatch.setenv("HOME", "/srv/people/ada")
    return PortableText(Settings(), [ROOT, "/old/place/shop"])


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        (f"edit {ROOT}/src/a.py", "edit src/a.py"),
        (f"in {ROOT} run it", "in . run it"),
        (f"{ROOT}-old is another", f"{ROOT}-old is another"),
        ("/old/place/shop/x.py moved", "x.py moved"),
        ("see /srv/people/ada/notes", "see ~/notes"),
        ("see /srv/people/adam/notes", "see /srv/people/adam/notes"),
        ("see /home/carol/x, /Users/dave/y", "see ~/x, ~/y"),
        (r"see C:\Users\Erin\x", r"see ~\x"),
        ("a\0b", "ab"),
        ("half \ud800 a character", "half ? a character"),
        ("whale 🐋", "whale 🐋"),
        ("keep <private>this</private> in", "keep [private] in"),
    ],
)
def test_what_leaves_of_a_text(portable: PortableText, text: str, leaves: str) -> None:
    found = portable.text(text)
    assert found == leaves or ("<private>" in text and "this" not in found)


def test_a_long_text_is_cut(portable: PortableText) -> None:
    assert len(portable.text("word " * 2_000)) <= LONGEST


@pytest.mark.parametrize(
    ("name", "leaves"),
    [
        (f"{ROOT}/src/a.py", "src/a.py"), ("src/a.py", "src/a.py"), ("/etc/passwd", ""), ("../x", ""),
        ("/srv/people/ada/x", ""), (r"C:\x", ""), ("a/../../x", ""),
    ],
)  # fmt: skip
def test_files_leave_by_their_name_in_the_project_or_not_at_all(
    portable: PortableText, name: str, leaves: str
) -> None:
    assert portable.file(name) == leaves


@given(st.text())
def test_whatever_a_text_is_it_can_be_stored_anywhere_and_names_no_place(text: str) -> None:
    found = PortableText(Settings(), [ROOT]).text(f"{ROOT}/{text} /home/carol/{text}")
    found.encode()
    assert "\0" not in found
    assert f"{ROOT}/" not in found
    assert "/home/carol" not in found


@pytest.mark.parametrize("identity", ["/opt/shop", "~/shop", "./shop", r"C:\shop", r"\\host\shop", "D:/shop"])
def test_a_project_that_is_known_by_a_path_is_shared_with_nobody(identity: str) -> None:
    assert why_not(Project(project_id(identity), identity, "shop", identity, 0))


@pytest.mark.parametrize("identity", ["github.com/acme/shop", "git.acme.dev:2222/x", "github.com/a/mono#web"])
def test_a_project_that_is_known_by_its_remote_can_be_shared(identity: str) -> None:
    assert not why_not(Project(project_id(identity), identity, "shop", "/x", 0))
