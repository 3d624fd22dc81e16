"""Secrets that the syntax of one kind of file, table or command gives; what looks like one and is none stays."""

import pytest

from backstory.hook.redact import Redactor

REDACTOR = Redactor()
GIVEN = "k7Rw2pXv" + "9sQ4tYbN"
HEX = "3f9a1c7be04d5826" + "9b1e7c20af84d3563f9a1c7be04d58269b1e7c20af84d356"
SHAPES = (
    ('network={\n ssid="home"\n psk="{}"\n}', "tulip marble 19"),
    ('10.1.1.1 %any : PSK "{}"', GIVEN),
    ("username jane password 7 {}", "0822455D0A16"),
    ("enable secret 5 {}", "$1$mERr$" + GIVEN),
    ("[smtp.acme.dev]:587 jane@acme.dev:{}", GIVEN),
    ('variable "db_password" {\n  type = string\n  default = "{}"\n}', "S3cret!Pa55x"),
    ("signingKey: Buffer.from('{}', 'hex')", HEX),
    ('key = bytes.fromhex("{}")', HEX),
    ("<tr><td>password</td><td>{}</td></tr>", GIVEN),
    ("<tr><th>API key</th> <td class='x'>{}</td></tr>", GIVEN),
    (" password \n----------\n {}\n(1 row)", GIVEN),
    ("rsync --password-file=<(echo {}) a b", GIVEN),
    ("aws secretsmanager put-secret-value --secret-id a --secret-string '{}'", GIVEN),
    ("htpasswd -bc .htpasswd jane {}", GIVEN),
    ("htpasswd -B -b .htpasswd jane {}", GIVEN),
    ("cryptsetup luksOpen /dev/sdb1 x <<< '{}'", "b3Cf!oCtVRxg"),
    ("default_pass = {}", GIVEN),
    ("private_key_passphrase = {}", "correct-horse-battery-9"),
)
HARMLESS = (
    'network={\n ssid="home"\n key_mgmt=WPA-PSK\n}',
    "the psk is asked for when it starts",
    "password 7 days before it expires",
    "secret 5 is the last one of the list",
    'variable "db_password" {\n  type = string\n  sensitive = true\n}',
    'variable "token_ttl" {\n  default = "3600s"\n}',
    "const body = Buffer.from('aGVsbG8gd29ybGQ=', 'base64')",
    f"digest = bytes.fromhex('{HEX}')",
    "<tr><td>password</td><td>required</td></tr>",
    "<tr><td>name</td><td>k7Rw2pXv9sQ4tYbN</td></tr>",
    "password\n--------\nrequired\n",
    "rsync --password-file=<(pass show rsync) a b",
    "aws secretsmanager put-secret-value --secret-string file://secret.json",
    "htpasswd -B .htpasswd jane",
    "passwordRules: min-8-chars-required",
)


@pytest.mark.parametrize(("shape", "secret"), SHAPES)
def test_what_a_files_own_syntax_gives_goes(shape: str, secret: str) -> None:
    assert secret not in REDACTOR.redact(shape.replace("{}", secret))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text
