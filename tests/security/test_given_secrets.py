"""Secrets that the name, the call, the command or the line tells to which they are given; all are made here."""

import json
import random
import string
import uuid

import pytest

from backstory.hook.redact import Redactor

RANDOM = random.Random(20261119)
LETTERS = string.ascii_letters + string.digits
REDACTOR = Redactor()


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> None:
    """Each test draws the same values, whatever ran before it."""
    RANDOM.seed(request.node.name)


def drawn(size: int, letters: str = LETTERS) -> str:
    """What a machine would draw: never without a digit, a small and a capital letter if there are any."""
    while True:
        value = "".join(RANDOM.choice(letters) for _ in range(size))
        if sum(map(str.isdigit, value)) >= 3 and sum(map(str.isalpha, value)) >= 3:
            return value


HEX = "0123456789abcdef"
NAMES = (
    *("GITEA_PAT", "AZURE_DEVOPS_EXT_PAT", "MY_PAT", "SALT", "PEPPER", "PSK", "WIFI_PSK", "SEED", "OTP_SEED"),
    *("TOTP_SEED", "MNEMONIC", "BEARER", "SAS_SIG", "RECOVERY_CODE", "ACTIVATION_CODE", "UNLOCK_CODE"),
    *("sonar.login", "-Dsonar.login", "totpSeed", "otp_seed", "JWT_KEY", "CONSUMER_KEY", "ACME_KEY"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["{}={}", "export {}={}", "{}: {}", '"{}": "{}"', '{} = "{}"'])
def test_a_drawn_value_that_is_given_to_a_telling_name_goes(name: str, form: str) -> None:
    for value in (drawn(32), drawn(40, HEX), drawn(64, HEX)):
        text = form.format(name, value)
        assert value not in REDACTOR.redact(f"a\n{text}\nb"), text
        assert REDACTOR.suspicious(json.dumps({"text": text})), text


@pytest.mark.parametrize("name", ["otp_seed", "gitea_pat", "wifi-psk", "password_salt", "pepper"])
def test_a_drawn_value_under_a_telling_key_of_json_goes(name: str) -> None:
    value = drawn(40, HEX)
    clean = json.dumps(REDACTOR.redact_json({name: value, "seed_count": "12", "path": "src/a.py"}))
    assert value not in clean
    assert "src/a.py" in clean


def test_an_asana_token_behind_its_name_goes() -> None:
    value = f"1/{RANDOM.randrange(10**15, 10**16)}:{drawn(32, HEX)}"
    for text in (f"ASANA_PAT={value}", f"asana pat: {value}"):
        assert value not in REDACTOR.redact(text)


CALLS = (
    'co = cohere.Client("{}")',
    'hmac.new(b"{}", message, "sha256")',
    'jwt.sign(payload, "{}")',
    "jwt.sign({{ id }}, '{}', {{ expiresIn: '1h' }})",
    'crypto.createHmac("sha256", "{}")',
    'Fernet(b"{}")',
    'algoliasearch("APPID1234X", "{}")',
    'jwt.decode(token, "{}", algorithms=["HS256"])',
)


@pytest.mark.parametrize("call", CALLS)
def test_a_drawn_literal_that_a_call_signs_with_goes(call: str) -> None:
    for size in (28, 40):
        text = call.format(drawn(size))
        assert "[redacted:secret]" in REDACTOR.redact(text), text
        assert REDACTOR.suspicious(json.dumps({"code": text})), text


LINES = (
    "codecov -t {uuid}",
    "codecov --verbose -t {uuid} -f cov.xml",
    "snyk auth {uuid}",
    "wandb login {hex}",
    "https://api.telegram.org/bot{telegram}/getMe",
    "db.internal:5432:prod:app:{password}",
    "localhost:6432:*:app:{password}",
    'storePassword "{password}"',
    "keyPassword '{password}'",
    "VSS_NUGET: {azure}",
    "User name,Password,Access key ID,Secret access key\ndeploy,,AKIA{id},{aws}",
    "User name,Access key ID,Secret access key\ndeploy,AKIA{id},{aws}",
    "Access key ID,Secret access key\r\nAKIA{id},{aws}",
    '"Access key ID","Secret access key"\n"AKIA{id}","{aws}"',
)


@pytest.mark.parametrize("line", LINES)
def test_a_secret_in_a_known_place_of_a_line_goes(line: str) -> None:
    for _ in range(20):
        secrets = {
            "uuid": str(uuid.UUID(int=RANDOM.getrandbits(128), version=4)),
            "hex": drawn(40, HEX),
            "telegram": f"{RANDOM.randrange(10**9, 10**10)}:AA{drawn(33, LETTERS + '_-')}",
            "password": f"Ke{drawn(6)}7!x",
            "azure": f"{drawn(75)}JQQJ99B{drawn(6)[:2]}",
            "aws": drawn(40),
        }
        text = line.format(id=drawn(16, string.ascii_uppercase + "234567"), **secrets)
        clean = REDACTOR.redact(text)
        assert not any(secret in clean for secret in secrets.values()), text
        assert REDACTOR.suspicious(json.dumps({"text": text})), text


@pytest.mark.parametrize(
    "text",
    [
        "seed = 20261118",
        "random.seed(42)",
        "salt = bcrypt.gensalt(rounds=12)",
        'pat = "^[a-z0-9]{8,40}$"',
        "SALT=${PASSWORD_SALT}",
        "SEED_FILE=fixtures/seed_2026_11_18_customers.sql",
        'with TestClient("app_under_test_with_settings") as client:',
        'client = Client("https://api.acme.dev/v2/accounts/1234567890")',
        'session = Client("0f2b8c1e-9a7d-4e5f-8b6c-1d2e3f4a5b6c")',
        "src/main.py:5432:12:warning:unused",
        "localhost:5432:shop",
        "activation_code: string",
        "CACHE_KEY=3f9a1c7be04d58269b1e7c20af84d356",
        "BUILD_KEY=3f9a1c7be04d58269b1e7c20af84d356",
        "bearer = HTTPBearerAuthenticationScheme",
        "path=3f9a1c7be04d58269b1e7c20af84d356.tar",
        "snyk auth --help",
        "codecov -f coverage.xml -t unit-tests-on-main-branch",
        "Region,Access key,Owner\neu,none,jane",
    ],
)
def test_what_such_names_and_calls_take_otherwise_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


COMMANDS = (
    "rabbitmqctl add_user jane {password}",
    "rabbitmqctl change_password jane '{password}'",
    "binddn cn=admin\nbindpw {password}",
    "lftp -u jane,{password} ftp.acme.dev",
    "lftp -e 'mirror' -u jane,{password} ftp.acme.dev",
    "poetry config http-basic.repo.acme.dev.password {password}",
    '{{"github-oauth":{{"github.com":"{hex}"}}}}',
    "composer config github-oauth.github.com {hex}",
    "BBDC-{drawn}",
    "testsk_{drawn}.eu",
    "fk-{drawn}",
    "AQ.{drawn}{drawn}",
    "ansible-vault encrypt_string '{password}' --name db",
    "ssh-keygen -t ed25519 -N '{password}' -f key",
    "gem push a.gem --key {drawn}",
    "gh secret set DEPLOY -b{password}",
    'smtp.login("jane@acme.dev", "{password}")',
    'requests.get(url, auth=HTTPBasicAuth("jane", "{password}"))',
    'new NetworkCredential("jane", "{password}")',
    "$config['db']['pass'] = '{password}';",
    'ssid="home"\npsk="{password}"',
    "CREATE LOGIN jane WITH PASSWORD = N'{password}';",
    "-----BEGIN OpenVPN Static key V1-----\n{key}\n-----END OpenVPN Static key V1-----",
    "unheardof_{long}",
    "use svc-live-{long} please",
    "figdr_{drawn}",
    "A3-{capitals6}-{capitals11}-{capitals5}-{capitals5}-{capitals5}",
    "pat.{drawn22}.{hex24}.{drawn20}",
)
CAPITALS = string.ascii_uppercase + string.digits


@pytest.mark.parametrize("line", COMMANDS)
def test_a_secret_in_its_place_of_a_command_or_a_file_goes(line: str) -> None:
    for _ in range(10):
        secrets = {
            "password": f"Ke{drawn(7)}7x", "hex": drawn(40, HEX), "drawn": drawn(32), "key": drawn(32, HEX),
            "long": f"{drawn(17)}K4m{drawn(20)}", "drawn20": drawn(20), "drawn22": drawn(22), "hex24": drawn(24, HEX),
            **{f"capitals{size}": "".join(RANDOM.choices(CAPITALS, k=size)) for size in (5, 6, 11)},
        }  # fmt: skip
        text = line.format(**secrets)
        clean = REDACTOR.redact(f"a\n{text}\nb")
        assert not any(secret in clean for secret in secrets.values()), text
        assert REDACTOR.suspicious(json.dumps({"text": text})), text


@pytest.mark.parametrize(
    "text",
    [
        "def add_user(name: str, email: str) -> User:",
        "add_user takes a name and returns the user",
        "change_password requires a login",
        "net use is a command of Windows",
        "the switch is on >50 % of the time",
        "lftp -u jane -e 'mirror; quit' ftp.acme.dev",
        "echo ok > build/token.txt.lock",
        "echo $TOKEN > ~/.token",
        'echo "TOKEN=$TOKEN" >> .env',
        "printf '%s\\n' done > secret-scan.log",
        "bindpw is read from a file",
        "fk-orders-customers-customer-id",
        "FAQ.what_is_the_name_of_the_thing_that_we_were_looking_for",
        "psk=$WIFI_PSK",
        "psk: string",
        "apsk=Ke77xQ91m",
        'page.login("jane", "password")',
        'form.login("jane", form.password)',
        'credential("name", "description")',
        "ssh-keygen -t ed25519 -N '' -f key",
        "gh secret set NPM_TOKEN -b production",
        "gem push backstory-1.2.3.gem --key rubygems",
        "test_Sha256AndMd5ChecksumsOfEveryArchiveAreComparedWithUpstream",
        "sha512-3sBbZjJPPRkV2Rc5kZ4mVx1w8G8bq0Q4hQzxkWl3l1yWmZ2WfR8nGkz4eVtP1HjS8p2b2vZ3gq8w5r1tYxN9bA==",
        "chunk-4f2a9c1be07d35aa8d1c0f9e7b6a5d4c3b2a19084f2a9c1be07d35aa",
        "msg_01XFDUDYJgAACzvnptvVoYEL toolu_01T1x1fJ34qAmk2tNTrN7Up6",
        "echo hello > passwords_page_snapshot.txt",
    ],
)
def test_what_stands_in_such_places_otherwise_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text
