"""What programs do with their input and their arguments: the tables that `remote_code.py` judges by."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _names("sh bash zsh dash ksh mksh ash fish csh tcsh rbash pwsh powershell cmd at batch crontab")
OTHERS = _names(
    "python ipython pypy perl ruby irb node nodejs php deno bun tsx lua luajit tclsh rscript r "
    "julia osascript"
)
EVALUATES = frozenset(("eval", "iex", "invoke-expression"))
SOURCES = frozenset(("source", "."))
#: Programs that run another one, and their options that take a word of their own.
WRAPPERS = {
    "sudo": "ugpCDhRrtTU", "doas": "uC", "env": "uC", "nohup": "", "time": "fo", "exec": "a", "command": "",
    "nice": "n", "ionice": "cn", "timeout": "sk", "stdbuf": "ioe", "setsid": "", "busybox": "", "builtin": "",
    "xargs": "nPILdsaE", "parallel": "jI", "unbuffer": "", "&": "", "winpty": "", "caffeinate": "t",
}  # fmt: skip
#: Programs that run another one somewhere among their words.
CARRIERS = _names(
    "docker podman nerdctl kubectl oc ssh lxc vagrant wsl nsenter chroot su runuser flatpak "
    "start find watch script strace systemd-run nix-shell conda"
)
KEYWORDS = frozenset(("then", "do", "else", "elif", "!"))
OPENS = frozenset(("if", "while", "until", "for", "select", "case", "{"))
CLOSES = frozenset(("done", "fi", "esac", "}"))
INLINE = {"python": "cm", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "php": "rBR", "lua": "e"}
INLINE_LONG = frozenset(("--eval", "--print", "-command", "--command", "/c"))
TAKES_WORD = {"python": "WX", "perl": "IMm", "ruby": "rI", "node": "r", "php": "dc"}
STDIN = frozenset(("-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"))
SHOWN_AS_IT_IS = frozenset(("echo", "printf", "cat", "tee", "head", "tail", "grep", "sed"))
NETWORK = _names(
    "curl wget aria2c fetch http https xh nc ncat netcat socat ssh scp sftp rsync lynx w3m "
    "links ftp tftp iwr irm invoke-webrequest invoke-restmethod telnet dig host nslookup gsutil "
    "certutil bitsadmin"
)
FETCHERS = NETWORK | {"openssl", "git", "gh", "aws"}
DECODERS = _names("base xxd openssl uudecode gpg rev tr")
SOCKETS = frozenset(("nc", "ncat", "netcat", "socat"))
#: What may take something from elsewhere: it shows, counts, filters or keeps it. Names have no digits at the
#: end (`base64`, `bzip2`).
READERS = (
    _names(
        "cat head tail less more bat tac nl wc sort uniq cut paste column fold fmt tr rev expand "
        "grep egrep fgrep rg ag ack zgrep jq yq gron xmllint xq htmlq pup diff cmp comm tee echo "
        "printf true test [ read sed awk gawk mawk base xxd od hexdump strings file md5sum shasum "
        "sha256sum sha512sum gpg cosign minisign openssl gzip gunzip zcat xz bzip zstd tar unzip "
        "bsdtar 7z mv cp ln mkdir rm ls cd pushd stat du chmod chown touch iconv dos2unix tidy "
        "pandoc convert ffmpeg magick open xdg-open pbcopy xclip export set local declare "
        "select-object where-object select-string sleep date exit"
    )
    | NETWORK
)
PASSES_ON = _names("mv cp ln install tar unzip gunzip gzip xz base openssl dd sed tee cat 7z bsdtar")
FETCHES = (
    "://", "urlopen", "urlretrieve", "requests.", "httpx", "http.get", "https.get", "fetch(", "uri.open",
    "open-uri", "lwp", "get(", "file_get_contents", "net::http", "socket", "http.client", "urllib", "curl",
    "wget",
)  # fmt: skip
#: What runs code, or a program, that a one-liner has been given.
RUNS_INPUT = (
    "eval", "exec", "system", "popen", "subprocess", "compile(", "new function(", "spawn", "passthru", "%x",
    "runpy", "getline", "| \"", "|\"",
)  # fmt: skip
RUNS = (
    *RUNS_INPUT, "import(", "function(", "require(", "os.", "include", "source(", "`", "dofile",
    "loadstring",
)  # fmt: skip
NPM = frozenset(("npm", "npx", "pnpm", "yarn", "bunx", "bun"))
#: Programs that install or run what an address names, and what they do without that.
MANAGERS = NPM | _names(
    "pip pipx uv uvx poetry pdm hatch conda mamba micromamba deno gem bundle cargo go brew apt "
    "apt-get dnf yum zypper pacman apk snap flatpak dpkg rpm nix nix-env nix-shell nix-build "
    "guix choco winget scoop composer luarocks cpan cpanm opam cabal stack mix easy_install "
    "helm kubectl oc docker podman terraform tofu ansible-pull ansible-galaxy code mshta regsvr "
    "rundll msiexec installer asdf mise add-apt-repository install-module install-package "
    "pulumi"
)
HARMLESS_VERBS = _names(
    "test start login logout publish audit view info search whoami get describe logs "
    "port-forward push ps tag compose version list show build"
)
RUNS_LOCALLY = frozenset(("npm", "pnpm", "yarn", "docker", "podman", "cargo", "conda", "poetry", "kubectl"))
REGISTRIES = (
    "INDEX",
    "REGISTRY",
    "GOPROXY",
    "MIRROR",
    "FIND_LINKS",
    "CHANNEL",
    "REPO",
    "GEM_SOURCE",
    "BREW",
)
OWN_FILES = (
    "~/.",
    "$HOME/.",
    "${HOME}/.",
    "/etc/",
    "/usr/",
    "~/bin/",
)  # which others run or obey
WRITERS = NETWORK | {"tee", "dd", "cp", "mv"}
UNPACKERS = _names("tar bsdtar unzip cpio 7z")
#: Files that a program of the project obeys when it is run without being told their names.
OBEYED = _names(
    "makefile gnumakefile package.json conftest.py setup.py setup.cfg pyproject.toml tox.ini noxfile.py "
    "requirements.txt dockerfile compose.yaml compose.yml docker-compose.yml gemfile rakefile build.gradle "
    "settings.gradle cargo.toml build.rs cmakelists.txt vagrantfile jenkinsfile gulpfile.js gruntfile.js "
    "pip.conf composer.json go.mod justfile taskfile.yml sitecustomize.py pom.xml"
)
SAVES_AS = _names("-o --output --output-document -outfile")
