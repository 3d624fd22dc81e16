"""Rows of patterns.py: secrets that a command line gives by position, by a short option or through a pipe.

A program's own row (context_shapes.py) knows its options. These rows know ways that many programs share.
Nothing is imported here: the hook loads this file.
"""

_ARG = r"(?:\\?\"([^\s\"\\]{1,256})|\\?'([^\s'\\]{1,256})|([^\s\"'`;|&<>()\\]{1,256}))"
_WORD = r"(?:\\?\"[^\"\n]{1,200}\"|\\?'[^'\n]{1,200}'|[^\s\"'`;|<>-][^\s\"'`;|<>]{0,200})"
_OPTIONS = r"(?:[ \t]{1,4}--?[A-Za-z][\w-]{0,40}){0,4}"
_BLANK = r"[ \t]{1,4}"
_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"


def _after(words: int) -> str:
    """That many words of a command, and the secret that follows them."""
    return rf"{_OPTIONS}(?:{_BLANK}{_WORD}){{{words}}}{_OPTIONS}{_BLANK}{_ARG}"


ROWS = (
    (
        "secret",
        ("alias set", "http-basic."),
        rf"(?:(?<=mc )alias set(?=[^\n]{{0,600}}?(?i:http)){_after(3)}"
        rf"|http-basic\.(?:[^\s]{{1,80}}\.password{_BLANK}{_ARG}|[^\s]{{1,80}}{_after(1)}))",
        "mc alias set prod https://s3.acme.dev jane " + "S3cretPa55",
        "http",
        "positional_password",
    ),
    (
        "secret",
        (" -p",),
        rf" -[pP][ \t=]{{1,4}}{_ARG}",
        "crane auth login r.acme.dev -u jane -p " + "S3cretPa55",
        "command-p",
        "user_password",
    ),
    (
        "secret",
        ("echo", "printf"),
        rf"(?:echo|printf)(?:[ \t]{{1,4}}-[neE]{{1,3}})?(?:[ \t]{{1,4}}[\"']%s(?:\\n)?[\"'])?[ \t]{{1,4}}"
        rf"{_ARG}[\"'\\]{{0,2}}[ \t]{{0,4}}\|[ \t]{{0,4}}(?=[^\n|;&]{{0,80}}?(?i:secret|passw|token|login|api_?key|kinit|auth))",  # noqa: E501
        "echo " + "S3cretPa55 | vercel env add API_SECRET",
        "pipe",
        "quoted_password",
    ),
    (
        "secret",
        ("<<<",),
        rf"<<<[ \t]{{0,4}}{_ARG}",
        "gh auth login --with-token x <<< " + "S3cretPa55",
        "here",
        "here_string",
    ),
    (
        "secret",
        ("openssl ",),
        r"openssl rand(?=[^\n\\]{0,80} -[a-z])[^\n\\]{0,80}(?:\r?\n|\\n)"
        r"([A-Za-z0-9+/=_!@#$%^&*-]{12,256})(?=\s|\\n|\Z)",
        "$ openssl rand -hex 16\n" + "3f9a1c7be04d5826" + "9b1e7c20af84d356",
        "command",
        "random_value",
    ),
    # The words of some commands, and the options of others, that are nothing but a secret.
    (
        "secret",
        ("encrypt_string", "setapikey"),
        rf"(?:encrypt_string|setapikey)(?=[^\n]{{0,300}}? --?[A-Za-z]){_OPTIONS}{_BLANK}{_ARG}",
        "ansible-vault encrypt_string '" + "S3cret-Pa55' --name db",
        "command",
        "quoted_password",
    ),
    (
        "secret",
        ("ssh-keygen",),
        rf"ssh-keygen(?=[ \t])[^\n|;&]{{0,200}}? -[NP]{_BLANK}{_ARG}",
        "ssh-keygen -t ed25519 -N '" + "S3cret-Pa55' -f key",
        "command",
        "quoted_password",
    ),
    (
        "secret",
        ("gem push", "nuget push"),
        rf"(?:gem|nuget) push(?=[ \t])[^\n|;&]{{0,200}}? (?:--key|-k)[ \t=]{{1,4}}{_ARG}",
        "gem push a.gem --key " + _HEX32,
        "command",
        "random_value",
    ),
    (
        "secret",
        ("secret set",),
        rf"secret set(?=[ \t])[^\n|;&]{{0,200}}? -b[ \t=]{{0,4}}{_ARG}",
        "gh secret set DEPLOY -b" + "S3cret-Pa55",
        "command",
        "quoted_password",
    ),
    # A user and a password, both literal, given to what logs in with them.
    (
        "secret",
        ("login(", "basicauth(", "credential(", "authenticate("),
        r"(?i:login|basicauth|credential|authenticate)\([^()\"'`\n]{0,80}\\?[\"'`][^\"'`\\\n]{1,80}\\?[\"'`]"
        r"[ \t]{0,4},[ \t]{0,4}\\?[\"'`]([^\s\"'`\\]{6,128})\\?[\"'`]",
        'smtp.login("jane", "' + 'S3cret-Pa55")',
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("codecov",),
        r"(?:codecov)(?=[ \t])[^\n|;&]{0,120}? -t[ \t=]{1,4}([A-Za-z0-9-]{20,64})(?![A-Za-z0-9-])",
        "codecov -t " + "9b1e7c20-af84-4356-8d1c-3f9a1c7be04d",
        "command",
        "random_value",
    ),
    (
        "secret",
        ("identified by",),
        r"(?i:identified by)[ \t]{1,4}([^\s\"'`;,()<>\\]{6,128})",
        "CREATE USER app IDENTIFIED BY " + "S3cretPa55 DEFAULT TABLESPACE x;",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("change_password", "bindpw", "rabbitmqctl"),
        rf"(?i:rabbitmqctl{_OPTIONS}{_BLANK}add_user{_after(1)}|change_password{_after(1)}|bindpw{_BLANK}{_ARG})",
        "rabbitmqctl add_user jane " + "S3cretPa55",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("lftp",),
        rf"(?i:lftp)[^\n|;]{{0,80}}? -u[ \t]{{1,4}}[^\s,]{{1,60}},{_ARG}",
        "lftp -u jane," + "S3cretPa55 ftp.acme.dev",
        "command",
        "quoted_password",
    ),
    (
        "secret",
        ("github-oauth",),
        r"github-oauth[\"'.:\s{]{1,16}[\w.-]{1,60}[\"':\s]{1,8}([0-9a-f]{40})(?![0-9a-f])",
        '{"github-oauth": {"github.com": "' + "3f9a1c7be04d5826" + '9b1e7c20af84d3563f9a1c7b"}}',
        "word",
        "random_value",
    ),
    (
        "authorization",
        ("authorization",),
        r"(?i:authorization)[^\n]{0,12}(?i:basic)[^\n]{0,12}\(b?\\?[\"'`][\w.@+-]{1,60}:([^\s\"'`\\]{4,128})\\?[\"'`]",
        "{ Authorization: 'Basic ' + btoa('jane:" + "S3cretPa55') }",
        "word",
        "argument_password",
    ),
)
