"""The engine: what it finds however it is hidden, and that anchors only make it faster."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.hook.patterns import ROWS, Row
from backstory.hook.redact import Redactor
from tests.security.fake_secrets import Fake, fakes
from tests.tables import walks

REDACTOR = Redactor()
REFERENCE = Redactor(anchored=False)
TOKEN = next(row.example for row in ROWS if row.name == "github-token")

few = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@walks("row", ROWS, ids=lambda row: f"{row.name}-{row.how}")
def test_a_secret_goes_from_a_long_text_too(row: Row) -> None:
    lines = "nothing to see on this line of text\n\n" * 40
    assert row.example not in REDACTOR.redact(lines + row.example + "\n\n" + lines)


def test_a_clean_text_comes_back_as_the_same_object() -> None:
    text = "".join(["nothing ", "to see here: 12 of 12 pass"])
    assert REDACTOR.redact(text) is text
    assert REDACTOR.redact_counted(text) == (text, {})


def test_what_is_found_is_counted_by_name() -> None:
    text = f"{TOKEN} and {TOKEN}, jane@acme.com"
    assert REDACTOR.redact_counted(text) == (
        "[redacted:github-token] and [redacted:github-token], [redacted:email]",
        {"github-token": 2, "email": 1},
    )


def test_the_more_special_row_names_what_two_rows_find() -> None:
    assert REDACTOR.redact(f"GITHUB_TOKEN={TOKEN}") == "GITHUB_TOKEN=[redacted:github-token]"
    assert (
        REDACTOR.redact(f"https://me:{TOKEN}@github.com/x")
        == "https://me:[redacted:github-token]@github.com/x"
    )


# --- Private ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b</Private > c", "a [private] c"),
        ('a <private reason="x">b\nb</private> c', "a [private] c"),
        ("a <private>b", "a [private]"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b</private> c <private>d", "a [private] c [private]"),
        ("a <pri\u200bvate>b</private> c", "a [private] c"),
        (f"<private>{TOKEN}</private>", "[private]"),
        ("a &#60;private&#62;b&#60;/private&#62; c", "a [private] c"),
        ("a &#x3c;private&#x3E;b&#x3C;/private&#x3e; c", "a [private] c"),
        ("a &#0060;private&#0062;b&#x003c;/private&#62; c", "a [private] c"),
        ("a &amp;lt;private&amp;gt;b&amp;lt;/private&amp;gt; c", "a [private] c"),
        ("a &amp;#60;private&amp;#62;b&amp;#60;/private&amp;#62; c", "a [private] c"),
        (r"a \u003cprivate\u003eb\u003c/private\u003e c", "a [private] c"),
        (r"a \u003Cprivate\u003Eb\u003C\/private\u003E c", "a [private] c"),
        (r"a \\u003cprivate\\u003eb\\u003c/private\\u003e c", "a [private] c"),
        (r"a \x3cprivate\x3eb\x3c/private\x3e c", "a [private] c"),
        ("</private> a", "</private> a"),
        ("<privateer>a", "<privateer>a"),
    ],
)
def test_private_spans_go(text: str, clean: str) -> None:
    assert REDACTOR.redact(text) == clean


# --- Hidden -----------------------------------------------------------------------------------------

TRICKS = [
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\x00",
    "\b",
    "\x7f",
    "\u2060",
    "\u202e",
    "\x1b[31m",
    "\x1b[0;1m",
    "\ud800",
    "\\\n",
]


@pytest.mark.parametrize("trick", TRICKS, ids=ascii)
@walks("row", [row for row in ROWS if "\n" not in row.example], ids=lambda row: f"{row.name}-{row.how}")
def test_unseen_characters_hide_nothing(row: object, trick: str) -> None:
    example: str = row.example  # type: ignore[attr-defined]
    for at in (len(example) // 3, len(example) // 2, len(example) - 2):
        text = f"see {trick}{example[:at]}{trick}{example[at:]} end"
        clean = REDACTOR.redact(text)
        assert f"[redacted:{row.name}]" in clean, at  # type: ignore[attr-defined]
        assert clean.endswith(" end")


def test_the_whole_original_span_goes_and_the_rest_keeps_its_characters() -> None:
    text = f"a\u200bb \x1b[31m{TOKEN[:3]}\x1b[0m{TOKEN[3:9]}\u200b{TOKEN[9:]}\x1b[0m c\u200bd"
    assert REDACTOR.redact(text) == "a\u200bb \x1b[31m[redacted:github-token]\x1b[0m c\u200bd"


def test_an_unseen_character_before_a_token_does_not_glue_it_to_a_word() -> None:
    assert REDACTOR.redact(f"word\x00{TOKEN}") == "word\x00[redacted:github-token]"


def test_escapes_of_nested_json_hide_nothing() -> None:
    assert REDACTOR.redact(f"line\\n{TOKEN}\\n") == "line\\n[redacted:github-token]\\n"
    assert REDACTOR.redact(f"{TOKEN[:9]}\\u200b{TOKEN[9:]}") == "[redacted:github-token]"
    assert REDACTOR.redact('{\\"auth\\": \\"9f8e7d6c5b4a\\"}') == '{\\"auth\\": \\"[redacted:secret]\\"}'


# --- JSON and bytes ---------------------------------------------------------------------------------


def test_tool_payloads_are_scrubbed_in_every_corner() -> None:  # CCE-66
    payload = {
        "tool_name": "Bash",
        "tool_input": {
            "command": f"curl -H 'Authorization: token {TOKEN}' https://api.acme.dev",
            "timeout": 5,
        },
        "tool_response": {
            "stdout": "mail jane@acme.com\n",
            "env": [{"DB_PASSWORD": "hunter2xyz"}],
            "ok": True,
        },
        "headers": {"Authorization": "Basic dXNlcjpwYXNz", "X-Api-Key": ["k9J2mQ8xW4"]},
        "answers": {f"is {TOKEN} yours?": "yes"},
    }
    assert REDACTOR.redact_json(payload) == {
        "tool_name": "Bash",
        "tool_input": {
            "command": "curl -H 'Authorization: token [redacted:github-token]' https://api.acme.dev",
            "timeout": 5,
        },
        "tool_response": {
            "stdout": "mail [redacted:email]\n",
            "env": [{"DB_PASSWORD": "[redacted:secret]"}],
            "ok": True,
        },
        "headers": {"Authorization": "Basic [redacted:authorization]", "X-Api-Key": ["[redacted:secret]"]},
        "answers": {"is [redacted:github-token] yours?": "yes"},
    }
    assert payload["answers"] == {f"is {TOKEN} yours?": "yes"}, "the original is untouched"


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        (["db", "--password", "x1y2z3w4"], ["db", "--password", "[redacted:secret]"]),
        (("-api-key", "k9J2mQ8xW4", "k9J2mQ8xW4"), ["-api-key", "[redacted:secret]", "k9J2mQ8xW4"]),
        (["--auth", "Basic dXNlcjpwYXNz"], ["--auth", "Basic [redacted:authorization]"]),
        ({"name": "API_KEY", "value": "k9J2mQ8xW4"}, {"name": "API_KEY", "value": "[redacted:secret]"}),
        ({"password": "sesame"}, {"password": "[redacted:secret]"}),
        (["--password", "sesame"], ["--password", "[redacted:secret]"]),
        ({"contraseña": "mariposa"}, {"contraseña": "[redacted:secret]"}),
        ({"mot de passe": "chaussette"}, {"mot de passe": "[redacted:secret]"}),
        ({"smtpPass": "hunter"}, {"smtpPass": "[redacted:secret]"}),
        ({"Value": "hunter2xyz", "Key": "db_password"}, {"Value": "[redacted:secret]", "Key": "db_password"}),
        (
            {"key": "x", "name": "TOKEN", "value": ["k9J2mQ8xW4"]},
            {"key": "x", "name": "TOKEN", "value": ["[redacted:secret]"]},
        ),
        ({"Cookie": "a=b; sid=k9J2mQ8xW4"}, {"Cookie": "[redacted:cookie]"}),
        ({"set-cookie": ["sid=k9J2mQ8xW4; Path=/"]}, {"set-cookie": ["sid=[redacted:cookie]; Path=/"]}),
        ({"name": "cookie", "value": "sid=k9J2mQ8xW4"}, {"name": "cookie", "value": "[redacted:cookie]"}),
    ],
)
def test_what_stands_beside_a_value_tells_about_it(value: object, clean: object) -> None:
    assert REDACTOR.redact_json(value) == clean
    assert REDACTOR.suspicious(json.dumps(value))
    assert REDACTOR.suspicious(json.dumps(value, indent=2))
    assert REDACTOR.suspicious(json.dumps(value, separators=(",", ":")))


@pytest.mark.parametrize(
    "value",
    [
        ["--password", "--verbose1x", "--max-tokens", "k9J2mQ8xW4", "--token"],
        ["--password", "${DB_PASSWORD}", "password", "k9J2mQ8xW4", "--password-file", "/run/s3cret1"],
        {"name": "api_key", "type": "string", "default": "k9J2mQ8xW4"},
        {"name": "sort_key", "value": "k9J2mQ8xW4"},
        {"name": "Enter your token", "value": "Must have 8 characters"},
        {"name": "API_KEY", "value": "<your key>"},
        {"name": ["API_KEY"], "value": 12345678},
        {"Cookie": "theme=dark", "cookie": None},
        {
            "password": "string",
            "token": "",
            "secret": None,
            "api_key": 12345678901234,
            "max_tokens": "40960000",
        },
        {"password": "Must have 8 characters", "author": "jane2000", "key": "a1b2c3d4e5f6"},
        {"password": "required", "pwd": "project", "pass": "lexer", "passwort": "Passwort"},
        {"password": {"type": "string", "minLength": 8}, "tokens": ["a1b2c3d4e5f6"]},
    ],
)
def test_a_clean_structure_comes_back_as_the_same_object(value: object) -> None:
    assert REDACTOR.redact_json(value) is value


def test_structures_may_be_deeper_than_the_stack() -> None:
    deep: object = TOKEN
    for _ in range(5000):
        deep = [deep]
    clean = REDACTOR.redact_json(deep)
    while isinstance(clean, list):
        clean = clean[0]
    assert clean == "[redacted:github-token]"


def test_keys_that_become_equal_keep_both_values() -> None:
    clean = REDACTOR.redact_json({"jane@acme.com": 1, "john@acme.com": 2})
    assert isinstance(clean, dict)
    assert sorted(clean.values()) == [1, 2]


def test_bytes_that_are_no_text_keep_what_is_not_secret() -> None:
    data = b'\xff\x00{"a": "' + TOKEN.encode() + b'", "b": "caf\xc3\xa9 \xe2'
    assert REDACTOR.redact_bytes(data) == b'\xff\x00{"a": "[redacted:github-token]", "b": "caf\xc3\xa9 \xe2'
    clean = bytes(range(256))
    assert REDACTOR.redact_bytes(clean) is clean
    hidden = TOKEN[:9].encode() + b"\xe2\x80\x8b" + TOKEN[9:].encode()
    assert REDACTOR.redact_bytes(hidden) == b"[redacted:github-token]"


# --- Settings ---------------------------------------------------------------------------------------


def test_rows_can_be_switched_off_by_name() -> None:
    text = "jane@acme.com, 415-555-2671, +14155552671, host 8.8.8.8"
    assert Redactor(off=("email", "phone", "ip")).redact(text) is text
    assert (
        Redactor(off=("secret",)).redact("password=hunter2xyz <private>x") == "password=hunter2xyz [private]"
    )
    assert Redactor(off=("secret",)).redact_json({"password": "hunter2xyz"}) == {"password": "hunter2xyz"}
    assert Redactor(off=frozenset({"email"})).redact(text).startswith("jane@acme.com, [redacted:phone]")


def test_users_can_add_rows() -> None:
    redactor = Redactor(extra=(("ticket", r"ACME-\d+"), ("empty", r"x*")))
    assert redactor.redact("see ACME-42 and jane@acme.com") == "see [redacted:ticket] and [redacted:email]"
    assert redactor.redact("x") == "[redacted:empty]"
    assert redactor.suspicious("{}"), "who knows what their patterns match"
    assert redactor.redact(redactor.redact("ACME-42 xx")) == redactor.redact("ACME-42 xx")
    with pytest.raises(re.error):
        Redactor(extra=(("broken", "("),))


# --- Properties -------------------------------------------------------------------------------------

examples = st.integers(0, len(ROWS) - 1).map(lambda place: ROWS[place].example)
names = [
    "password",
    "api_key",
    "apiKey",
    "token",
    "next_token",
    "auth",
    "secret",
    "--token",
    "PWD",
    "tokens",
    "key",
    "DB_PASSWORD",
    "DB_PASS",
    "JWT_SECRET",
    "MYSQL_PWD",
    "Passwort",
    "mot de passe",
    "contraseña",
]
values = [
    "hunter2xyz",
    "k9J2mQ8xW4",
    "get_token()",
    "${X}",
    "changeme",
    "9f8e7d6c5b4a3210",
    "abc",
    "A b1!",
    "/a/b1",
    "swordfish",
    "Sommer!",
    "newValue",
    "string",
    "sesame\nuser: x",
]
assignments = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(names),
    st.sampled_from(["=", ": ", " = ", '": "', " ", " is ", "\\n", ": str = "]),
    st.sampled_from(["", '"', "'", '\\"']),
    st.sampled_from(values),
    st.sampled_from(["", '"', "'", '\\"', ",", ")"]),
)
near = st.builds(lambda text, at: text[:at] + text[at + 1 :], examples, st.integers(0, 60))
cut = st.builds(lambda text, at: text[: at + 1], examples, st.integers(5, 60))
hidden = st.builds(
    lambda text, at, trick: text[:at] + trick + text[at:],
    examples,
    st.integers(0, 60),
    st.sampled_from(TRICKS),
)
bits = [
    "<private>",
    "</private>",
    "[redacted:",
    "[private]",
    "]",
    "@",
    "://",
    ":",
    ".",
    "-",
    "+",
    "1.2.3.4",
    "sk-",
    "gh",
    "mysql -p",
    "sshpass -p ",
    "docker login -p ",
    "redis-cli -a ",
    "machine h login u password ",
    "[client]\n",
    "curl -u a:",
    "Cookie: a=",
    "2a00:",
    "::1",
]
noise = st.one_of(
    st.sampled_from(
        [*bits, "\\", "\\n", "\n", " ", '"', "é", "\u212a", "\u0130", "—", "v", "=", "Author: ", "ssh "]
    ),
    st.text(max_size=12),
    st.text("0123456789-. +()", max_size=24),
    st.text("23a0:", max_size=24),
    st.text("abcdefABCDEF0123456789_-", max_size=40),
)
part = st.one_of(examples, near, cut, hidden, assignments, noise, noise)
glues = st.sampled_from(["", " ", "\n", ","])
mixed = st.builds(lambda parts, glue: glue.join(parts), st.lists(part, max_size=8), glues)
texts = st.one_of(assignments, hidden, mixed)
flags = st.sampled_from(
    ["--password", "-token", "--api-key", "--max-tokens", "--cookie", "--Client_Secret2", "--"]
)
told = st.one_of(st.sampled_from([*values, "sid=k9J2mQ8xW4; a=b", "Basic dXNlcjpwYXNz"]), texts)
labels = ["name", "key", "Name", "Key", "value", "Value", "cookie", "x"]
structures = st.recursive(
    st.one_of(st.none(), st.integers(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(st.one_of(flags, told, inner), max_size=5),
        st.dictionaries(st.one_of(st.sampled_from(names), noise), inner, max_size=3),
        st.dictionaries(st.sampled_from(labels), st.one_of(st.sampled_from(names), told, inner), max_size=4),
    ),
    max_leaves=6,
)


@few
@given(texts)
def test_anchors_change_nothing_but_the_speed(text: str) -> None:
    assert REDACTOR.redact(text) == REFERENCE.redact(text)


@few
@given(texts)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == once


@few
@given(structures)
def test_raw_json_that_is_not_suspicious_holds_nothing(value: object) -> None:
    for ensure_ascii, indent in ((True, None), (False, None), (True, 2)):
        if not REDACTOR.suspicious(json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)):
            assert REDACTOR.redact_json(value) is value
    clean = REDACTOR.redact_json(value)
    assert REDACTOR.redact_json(clean) == clean


@few
@given(texts)
def test_a_text_that_is_not_suspicious_stays(text: str) -> None:
    if not REDACTOR.suspicious(text):
        assert REDACTOR.redact(text) is text


@few
@given(st.one_of(st.binary(max_size=80), texts.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_bytes_never_raise(data: bytes) -> None:
    once = REDACTOR.redact_bytes(data)
    assert REDACTOR.redact_bytes(once) == once


# --- Hostile ----------------------------------------------------------------------------------------

# A hundred kilobytes of each takes milliseconds; whatever grows faster than its input takes minutes.
HOSTILE = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from backstory.hook.patterns import ROWS, Row
from backstory.hook.redact import Redactor
from tests.security.fake_secrets import Fake, fakes
redactor = Redactor()
named = ["a", "=", "@", "1", "sk-", "<private>"]
units = ["-", "_", ".", ":", "A1b2", "eyJ", "xox", "token=", "token: ", "password=", "password is ", "a@", "a.a@", "a@a.",
         "://", "://a:", "://a:b@", "1.2.3.", "+1 ", "+1", "411-", "4111 ", "<private ", "</private>", "secret_key=",
         "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----a-", "authorization: bearer ", "bearer a1", "ghp_",
         "\\x1b[", "\\u200b", "\\\\u200b", "\\\\", "\\x00", "[redacted:email] ", "[redacted:", '"password": "', "AKIA",
         "mysql ", "mysql -p", "sshpass -p", "docker login ", "docker login -p ", "redis-cli -a ", "mongo ", "passwort: ",
         "machine h login u password ", "machine pass\\n", "password = a\\n", "[a]\\npassword = sesame\\n", "PASSWORD=sesame ",
         "mysql -u a ", "curl ", "curl -u a:", "curl -u", "cookie:a=", "Cookie: a=b; ", "2a00:", "2a00::", "a="]
units += [row.example + " " for row in ROWS] + ["[redacted:email] jane@acme.com "]
for unit in named + units:
    print(repr(unit), flush=True)
    text = unit * ((1_000_000 if unit in named else 100_000) // len(unit))
    redactor.redact(text)
    redactor.suspicious(text)
"""


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("DB_PASSWORD=Tr0ub4dor&hFdnXs", "DB_PASSWORD=[redacted:secret]"),
        ("DB_PASSWORD=Tr0ub4dor&hFdnXs npm start", "DB_PASSWORD=[redacted:secret] npm start"),
        ("/login?password=Tr0ub4dor&user=jo", "/login?password=[redacted:secret]&user=jo"),
        ("export DB_PASSWORD=Tr0ub4dor&&make", "export DB_PASSWORD=[redacted:secret]&&make"),
        ("DB_PASSWORD=Tr0ub4dor& make", "DB_PASSWORD=[redacted:secret]& make"),
    ],
)
def test_an_ampersand_in_a_password_does_not_save_its_tail(text: str, clean: str) -> None:
    assert Redactor().redact(text) == clean
    assert Redactor().redact(clean) == clean


# Those whose form is known without a mark; what else there is to redact is told by test_redaction_coverage.
KEYS_KNOWN = [
    fake
    for fake in fakes()
    if fake.category == "private key" and not fake.kept_by(REDACTOR.redact(fake.text))
]


@pytest.mark.parametrize("mark", ["-", "+", " ", "> ", "- "])
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut off"])
@walks("fake", KEYS_KNOWN, ids=lambda fake: fake.family)
def test_a_private_key_whose_lines_a_diff_or_a_quotation_marks_goes_as_a_whole(
    mark: str, fake: Fake, cut: bool
) -> None:
    lines = fake.text.split("\n")
    if cut and len(lines) > 5:
        lines = lines[:-3]
    text = "\n".join(mark + line for line in lines)
    assert not fake.kept_by(REDACTOR.redact(f"@@ -1,9 +0,0 @@\n{text}"))


def test_a_key_that_a_patch_gives_line_by_line_goes_as_a_whole() -> None:
    # CCE-66: the structuredPatch of an edit holds one string a line
    lines = [
        " # keys",
        "+-----BEGIN RSA PRIVATE KEY-----",
        "+MIIEpAIBAAKCAQEAxyzPEMSECRETBODYabcdef",
        "+QQQQPEMLINE2secretsecret",
        "+-----END RSA PRIVATE KEY-----",
        " x = 1",
    ]
    clean = str(Redactor().redact_json({"structuredPatch": [{"oldStart": 1, "lines": lines}]}))
    assert "PEMSECRETBODY" not in clean
    assert "PEMLINE2" not in clean
    assert "# keys" in clean
    assert "x = 1" in clean


def test_a_megabyte_of_anything_hostile_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"hangs at the last of {done.stdout.split()} {done.stderr}"
