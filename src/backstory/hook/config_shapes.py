"""Rows of patterns.py: secrets that the syntax of one kind of file or command gives, and nothing else does.

Settings of routers, Wi-Fi, IPsec, mail relays and Terraform, cells of HTML and of a single column, and
options of commands that take nothing but a secret. Nothing is imported here: the hook loads this file.
"""

_ARG = r"(?:\\?\"([^\s\"\\]{1,256})|\\?'([^\s'\\]{1,256})|([^\s\"'`;|&<>()\\]{1,256}))"
_NAMED = r"(?i:password|passphrase|secret|token|api[ _-]?key)"
_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"

ROWS = (
    # The passphrase of a network, of IPsec's pairs: it may hold blanks.
    (
        "secret",
        ("psk",),
        r"(?i:psk)(?:=|[ \t]{1,4})\\?\"([^\"\\\n]{8,63})\\?\"",
        'network={ psk="' + 'tulip marble 19" }',
        "word",
        "argument_password",
    ),
    # Cisco: 7 is an encoding that anybody reverses, 5, 8 and 9 are hashes.
    (
        "secret",
        ("password 7", "secret 5", "secret 8", "secret 9", "key 7"),
        r"(?:password 7|secret [589]|key 7)[ \t]{1,4}([0-9A-F]{8,64}|\$[^\s\"'\\]{12,128})(?=\s|\\n|\Z)",
        "username jane password 7 " + "0822455D0A16",
        "word",
        "whole",
    ),
    (
        "secret",
        ("]:587", "]:465", "]:25"),
        r"\]:(?:587|465|25)[ \t]{1,8}[^\s:@]{1,64}@[^\s:@]{1,64}:([^\s\"'\\]{4,128})(?=\s|\\n|\Z)",
        "[smtp.acme.dev]:587 jane@acme:" + "S3cretPa55",
        "at",
        "argument_password",
    ),
    (
        "secret",
        ("variable",),
        r"variable[ \t]{1,4}\\?\"[\w-]{0,60}(?i:password|passwd|passphrase)\\?\"\s{0,4}\{"
        r"[^{}]{0,300}?default\s{0,20}=\s{0,4}\\?\"([^\"\\\n$]{6,256})\\?\"",
        'variable "db_password" { default = "' + 'S3cretPa55" }',
        "beside",
        "quoted_password",
    ),
    (
        "secret",
        ("buffer.from", "fromhex", "unhexlify", "b64decode", "decodestring", "hex::decode"),
        r"(?i:buffer\.from|fromhex|unhexlify|b64decode|decodestring|hex::decode)\(b?\\?[\"']"
        r"([0-9a-fA-F]{32,256}|[A-Za-z0-9+/_-]{43,256}={0,2})\\?[\"']",
        "key = Buffer.from('" + _HEX32 + "', 'hex')",
        "call",
        "decoded_key",
    ),
    # --- Tables ----------------------------------------------------------------------------------------
    (
        "secret",
        ("td>", "th>"),
        r"t[dh]>\s{0,20}<td[^<>]{0,60}>([^\s<>]{6,256})</td>",
        "<tr><td>password</td><td>" + "S3cretPa55</td></tr>",
        "element",
        "cell_beside",
    ),
    (
        "secret",
        ("password", "passphrase", "token", "secret", "api key", "api_key", "api-key", "apikey"),
        rf"{_NAMED}[ \t]{{0,20}}(?:\r?\n|\\n)[ \t]{{0,4}}-{{4,80}}[ \t]{{0,4}}(?:\r?\n|\\n)[ \t]{{0,4}}"
        r"([^\s\"'\\|]{8,256})(?=\s|\\n|\Z)",
        " password \n----------\n " + "S3cret-Pa55\n",
        "line",
        "below_name",
    ),
    # --- Commands --------------------------------------------------------------------------------------
    (
        "secret",
        ("password-file", "passwordfile", "pass-file", "token-file", "secret-file"),
        r"(?i:password-?file|pass-file|token-file|secret-file)[ \t=]{1,4}<\((?:echo|printf)[ \t]{1,4}" + _ARG,
        "rsync --password-file=<(echo " + "S3cretPa55) a b",
        "word",
        "argument_password",
    ),
    (
        "secret",
        ("secret-string",),
        rf"secret-string[ \t=]{{1,4}}{_ARG}",
        "aws secretsmanager put-secret-value --secret-string '" + "S3cretPa55'",
        "word",
        "quoted_password",
    ),
)
