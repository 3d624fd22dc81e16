"""Which files a text names."""

import time

import pytest

from backstory.file_mentions import cited_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("The LRU cache lives in internal/cache/lru.go", ["internal/cache/lru.go"]),
        ("Put it into `src/app.ts`, not into (web/x_y.py)", ["src/app.ts", "web/x_y.py"]),
        ("See ./docs/adr/0001.md.", ["docs/adr/0001.md"]),
        ("lru.go:42 says so, lru.go does", ["lru.go"]),
        ("Makefile and .github/workflows/ci.yml", ["Makefile", ".github/workflows/ci.yml"]),
        ("Node.js and next.js, v1.2.3, and/or e.g. foo.bar", []),
        ("https://x.com/docs/readme.md and example.com/a.md", []),
        ("/etc/nginx.conf, ~/a.sh, ../up.py, C:/a.py, $HOME/b.py", []),
        ("ask ops@example.md about main.gone", []),
    ],
)
def test_what_is_written_like_a_file_of_the_project_is_cited(text: str, files: list[str]) -> None:
    assert list(cited_files(text)) == files


def test_a_whole_path_is_cited_as_seen_from_the_folder_that_it_lies_in() -> None:
    text = "Keep it in /srv/shop/web/src/cart.ts:3, /srv/shop/api/pay.py, /srv/shopping/x.py and /etc/a.conf"
    assert cited_files(text, folders=("/srv/shop/web", "", "/srv/shop/")) == ("src/cart.ts", "api/pay.py")
    assert cited_files(text) == ()


def test_a_file_that_is_called_by_its_end_is_the_one_that_is_known() -> None:
    known = {"internal/cache/lru.go", "a/main.go", "b/main.go", "main.py"}
    assert cited_files("lru.go, cache/lru.go, main.go and main.py", known) == (
        "internal/cache/lru.go",
        "main.go",
        "main.py",
    )


@pytest.mark.parametrize("odd", ["a." * 10_000, "a/" * 10_000, "." * 20_000, "x.py/" * 4_000, "-" * 20_000])
def test_odd_texts_take_no_time(odd: str) -> None:
    began = time.process_time()
    assert len(cited_files(odd)) <= 8
    assert time.process_time() - began < 2
