"""Secrets that their surroundings tell, in shapes made here: values with signs, tables, objects, sentences."""

import json
import random
import string

import pytest

from backstory.hook.redact import Redactor

RANDOM = random.Random(20261118)
LETTERS = string.ascii_letters + string.digits


def value(size: int, sign: str, places: int = 1) -> str:
    """A drawn value with a sign in its first half, where it used to end."""
    drawn = [RANDOM.choice(LETTERS) for _ in range(size)]
    drawn[size - 2 :] = [*"7Q"]
    drawn[-4:-2] = [*"4z"]
    for at in RANDOM.sample(range(2, size // 2), places):
        drawn[at] = sign
    return "".join(drawn)


FORMS = (
    "REDIS_PASSWORD={}",
    "export SMTP_SECRET={}",
    "STRIPE_TOKEN={}",
    "session_secret: {}",
    "signing-key: {}",
)


@pytest.mark.parametrize("sign", "&)#^!%$*@+/~?")
@pytest.mark.parametrize("form", FORMS)
def test_a_value_without_quotes_goes_as_a_whole(form: str, sign: str) -> None:
    found = 0
    for size in (14, 20, 32, 48):
        given = value(size, sign)
        clean = Redactor().redact(f"A=1\n{form.format(given)}\nB=2")
        found += given[size // 2 :] not in clean and clean.startswith("A=1\n") and clean.endswith("\nB=2")
    assert found >= 3, (form, sign)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://x.test/?token={}&page=2", "&page=2"),
        ("API_TOKEN={} && make deploy", " && make deploy"),
        ("API_TOKEN={}; make", "; make"),
        ("connect(host, password={}, port=5)", ", port=5)"),
        ("connect(host,password={},port=5)", ",port=5)"),
        ("Server=x;Password={};Database=shop", ";Database=shop"),
        ("(API_TOKEN={})", ")"),
        ("<password>{}</password>", "</password>"),
    ],
)
def test_what_follows_a_value_as_code_or_address_stays(text: str, kept: str) -> None:
    given = "q7Rt2Lm9Xc4Vb8Nz"
    clean = Redactor().redact(text.format(given))
    assert given not in clean
    assert clean.endswith(kept)


def test_a_value_in_a_printed_dictionary_goes_as_a_whole() -> None:
    text = repr({"stdout": "DB_PASSWORD=Rq7)Tm4xWz9Lk2\nA=1", "stderr": ""})
    assert "Tm4xWz9Lk2" not in Redactor().redact(text)


SECRET = "vQ4rT9xK2m"
TOLD = (
    "Name              Setting\n---\nroot_password     {}\nowner             jane",
    "  db_secret\t\t{}\n  region\t\teu",
    "netlify secrets set PEPPER={}",
    "fly secrets put --app shop PEPPER='{}'",
    "glab auth login --with-token <<< {}",
    "openssl aes-256-cbc -d -k {} -in a",
    "wpa_passphrase 'my net' {}",
    "rclone config update s3 secret_access_key {}",
    "please take {} as the token",
    "use `{}` as the password",
    "the token you want is {}",
    "the api key you need is: {}",
    "the access key is Kd8/Tq2+Rw6mZp0X{}",
    "＜private＞{}＜/private＞",
    "＜ private ＞{}＜／private＞",
)


@pytest.mark.parametrize("text", TOLD)
def test_what_its_surroundings_tell_goes(text: str) -> None:
    clean = Redactor().redact(text.format(SECRET))
    assert SECRET not in clean
    assert Redactor().redact(clean) == clean
    assert Redactor().suspicious(json.dumps(text.format(SECRET)))


def test_the_value_of_an_object_is_told_by_the_objects_name() -> None:
    state = {
        "admin_password": {"sensitive": True, "type": "string", "value": SECRET},
        "port": {"value": "abc123XY"},
    }
    clean = json.dumps(Redactor().redact_json(state))
    assert SECRET not in clean
    assert "abc123XY" in clean
    assert SECRET not in Redactor().redact(json.dumps(state, indent=2))


@pytest.mark.parametrize(
    "text",
    [
        "public_key: RSAPublicNumbersProvider",
        "private_key: Ed25519PrivateKeyTypes,",
        "mysql://root:root@127.0.0.1:3306/test",
        "redis://user:pass@localhost/0",
        "the token you need is in the vault",
        "use Redis as the token store",
        "use docs/tokens.md as the secret santa list",
        "password    required",
        "token       string   the session's token",
        "def f(key=None, token=None)->dict[str,int]:",
        "secret: Optional[str]|None",
        "key=lambda item:(item.at,item.seq)",
        "pass  rate:  99",
        "if token==other.token&&ready",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor().redact(text) == text
