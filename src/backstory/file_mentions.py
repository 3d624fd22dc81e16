"""Which files a text names: paths and names of files as people write them, without looking at any disk.

Whether there ever was such a file is for whoever labels it to say; here only what cannot be one is left out:
addresses of pages, products with a dot in their name, what lies outside of the project. A whole path is one
inside of it if it lies in one of its folders that are given.
"""

import re
from collections.abc import Collection

_ENDINGS = """
    asciidoc bash bat bib c cc cfg clj cmake conf cpp cs css csv cu cxx dart ex exs fish go gradle
    graphql h hbs hcl hpp hs html ini ipynb java jl js json json5 jsonc jsx kt kts less lock lua m
    md mdx mjs ml nix php pl proto ps1 py pyi r rb rs rst sass scala scss service sh sql svelte
    swift tex tf toml ts tsx txt vim vue xml yaml yml zig zsh
"""
_WHOLE = (
    "Brewfile CMakeLists.txt CODEOWNERS Dockerfile Gemfile Jenkinsfile Justfile Makefile Procfile Vagrantfile"
)
_NAMED = re.compile(
    r"(?<![\w./~:@\\$%-])(?:\./|(?P<whole>/))?"
    r"(?P<path>(?:\.?[\w@+-][\w.+-]*/)*"
    rf"(?:\.?[\w+][\w.+-]*\.(?:{'|'.join(_ENDINGS.split())})|{'|'.join(map(re.escape, _WHOLE.split()))}))"
    r"(?![\w/@+-]|\.\w)"
)
#: A page's address, told without its protocol.
_PAGE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|de|edu|gov)/")
#: "Node.js", and the same in small letters.
_PRODUCT = re.compile(
    r"[A-Z]\w*\.js|(?:alpine|angular|backbone|bun|chart|d3|deno|discord|ember|express|knockout|nest|next|node|"
    r"nuxt|p5|react|require|solid|three|vue)\.js",
)
_MOST = 8


def cited_files(text: str, known: Collection[str] = (), folders: Collection[str] = ()) -> tuple[str, ...]:
    """The files that a text names, as they are `known` where only one of these can be meant.

    Whole paths are told as seen from the first of the folders that they lie in.
    """
    named = filter(None, (_inside(found, folders) for found in _NAMED.finditer(text)))
    files = (_known_as(name, known) for name in named if not (_PAGE.match(name) or _PRODUCT.fullmatch(name)))
    return tuple(dict.fromkeys(files))[:_MOST]


def _inside(found: re.Match[str], folders: Collection[str]) -> str:
    """A path as seen from a folder; "" if it is a whole one that lies in none of them."""
    if not found["whole"]:
        return found["path"]
    whole = f"/{found['path']}"
    tops = (f"{folder.rstrip('/')}/" for folder in folders if folder.rstrip("/"))
    return next((whole[len(top) :] for top in tops if whole.startswith(top)), "")


def _known_as(name: str, known: Collection[str]) -> str:
    """The whole path of a file that is called by its end."""
    meant = {file for file in known if file.endswith(f"/{name}")} if name not in known else set()
    return meant.pop() if len(meant) == 1 else name
