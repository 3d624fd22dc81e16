"""The table of secrets and personal data, walked; and what it must leave alone."""

import subprocess
import sys
from pathlib import Path

import backstory
from backstory.hook.anchors import FOLDED_GATES
from backstory.hook.patterns import ROWS, STEMS, Row
from backstory.hook.redact import Redactor
from tests.tables import walks

REDACTOR = Redactor()

# Examples that another row covers too, once their own is off.
ALSO = {
    "aws-secret-key": "secret",
    "aws-signature": "secret",
    "azure-key": "secret",
    "kube-key": "private-key",
    "stripe-key": "service-token",
}


def ids(row: Row) -> str:
    return f"{row.name}-{row.how}"


@walks("row", ROWS, ids=ids)
def test_every_row_redacts_its_own_example(row: Row) -> None:  # CCE-64, CCE-65
    clean, counts = REDACTOR.redact_counted(f"before {row.example} after")
    assert counts == {row.name: 1}
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert row.example not in clean


@walks("row", ROWS, ids=ids)
def test_a_row_that_is_off_leaves_its_example_to_the_others(row: Row) -> None:
    counts = Redactor(off=(row.name,)).redact_counted(row.example)[1]
    assert counts in ({}, {ALSO.get(row.name): 1})


@walks("row", ROWS, ids=ids)
def test_anchors_can_be_sought_in_raw_json(row: Row) -> None:
    for anchor in row.anchors:
        assert anchor.isascii()
        assert not set(anchor) & set('"\\/\b\f\n\r\t'), "JSON may write these differently"
        if row.how in ("word", "left", "inside", "block", "title", "short", "sentence"):
            assert anchor == anchor.lower()
            assert any(gate in anchor for gate in FOLDED_GATES)


def test_names_are_words_that_settings_can_name() -> None:
    assert {"email", "ip", "ssn", "card", "phone", "secret", "github-token"} <= {row.name for row in ROWS}
    assert all(row.name == row.name.lower() and row.name.replace("-", "").isalpha() for row in ROWS)
    assert next(row.anchors for row in ROWS if row.name == "secret") == STEMS


def test_a_clean_text_loads_no_module_but_our_own() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(backstory.__file__).parent.parent)!r}); old = set(sys.modules)\n"
        "from backstory.hook.redact import Redactor\n"
        "redactor = Redactor(off=('phone',))\n"
        'assert not redactor.suspicious(\'{"input_tokens": 12, "author": "me", "key": "a-b"}\')\n'
        "assert redactor.redact('The tests pass now: 12 of 12 — fine.')\n"
        "print(*sorted(set(sys.modules) - old))\n"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [
        "backstory",
        "backstory.hook",
        "backstory.hook.anchors",
        "backstory.hook.argument_shapes",
        "backstory.hook.command_shapes",
        "backstory.hook.config_shapes",
        "backstory.hook.context_shapes",
        "backstory.hook.patterns",
        "backstory.hook.redact",
        "backstory.hook.secret_names",
        "backstory.hook.token_shapes",
    ]


GOES = {
    # What is said around a secret tells that it is one. CCE-65
    "secret": [
        'password = "hunter2xyz"',
        "password: hunter2xyz",
        '{"api_key": "abc123def456ghi"}',
        r"{\"password\": \"hunter2xyz\"}",
        "--password S3cretPa55",
        "mysql --password=S3cretPa55 -u x",
        "export API_TOKEN=abcdef123456",
        "client_secret: 8f3a9c1b-22d4-4e1a-9b7c-0011aa22bb33",
        "my password is Tr0ub4dor",
        'curl -H "X-Api-Key: 9f8e7d6c5b4a"',
        "<password>hunter2xyz</password>",
        "'password' => 'hunter2xyz'",
        'token: str = "abc123def456"',
        'token: str | None = "abc123def456"',
        "const clientSecret = 'kJ8dLw2Xv9Qz'",
        'os.environ["API_KEY"] = "k9J2mQ8xW4"',
        "https://x.dev/cb?access_token=9f8e7d6c5b4a3210&x=y",
        "SECRET_KEY_BASE=9f8e7d6c5b4a32109f8e7d6c5b4a3210",
        "PGPASSWORD=s3cretpw psql",
        "//registry.npmjs.org/:_authToken=9f8e7d6c5b4a3210",
        'password = "it\'s-5ecret!x"',
        "token=" + "a1b2c3d4" * 100,
        # Words, where a password is given beyond doubt.
        "DB_PASSWORD=correcthorsebatterystaple",
        "DB_PASSWORD=correct-horse-battery-staple ./run",
        "PGPASSWORD=Passw0rd psql",
        "export MYSQL_PWD=tiger; mysql",
        "DB_PASS=hunter",
        'docker run -e "POSTGRES_PASSWORD=letmein" postgres',
        "JWT_SECRET=correcthorsebattery",
        "db.password=swordfish",
        "host=db user=shop password=swordfish dbname=shop",
        "Server=db;User Id=sa;Password=swordfish;Encrypt=yes",
        "https://x.dev/login?user=jane&password=swordfish&next=1",
        "password: letmein!",
        "  user: jane\n  password: swordfish\n",
        r"user: jane\npassword: swordfish\n",
        "POSTGRES_PASSWORD: Letmein",
        "[client]\nuser = root\npassword = swordfish\n",
        '"password": "hunter2"',
        '{"db_password":"swordfish"}',
        r"{\"password\": \"swordfish\"}",
        'password = "opensesame"',
        'password: str = "opensesame"',
        'passwd := "opensesame"',
        "'password' => 'swordfish'",
        "if password == 'swordfish':",
        "<password>swordfish</password>",
        "--password hunter",
        "docker login -u jane --password swordfish registry.acme.dev",
        "--password='swordfish' -v",
        # Names in other languages.
        "Passwort: Sommer",
        "das Passwort lautet Sommer26",
        "Passwort: Sommer, Benutzer: jane",
        "mot de passe : chaussette",
        "mot_de_passe=chaussette",
        "contraseña: Mariposa",
        r"contrase\u00f1a: mariposa",
        "senha: borboleta",
        # Command lines.
        "sshpass -p hunter2 ssh db",
        "sshpass -p1234 ssh db",
        "sshpass -v -p 'opensesame' ssh db",
        "docker login registry.acme.dev -u jane -p opensesame",
        "mongosh --host db -u jane -p opensesame",
        "redis-cli -h cache -a opensesame ping",
        "machine h login u password p",
        "machine db.acme.dev\n  login jane\n  password sesame\n",
        "default login anonymous password guest",
        "mysql -u root -pSecret",
        "mysqldump -h db.local -uroot -p'hunter2!' shop > shop.sql",
        'docker exec db mariadb-dump --user root -p"S3cretPa55" shop',
        "/usr/bin/mysql -pS3cretPa55 -e 'select 1'",
        r"subprocess.run(\"mysql -u root -phunter2xyz\")",
        "mysql \\\n  -u root \\\n  -pS3cretPa55",
        "mysql -p" + "a1b2c3d4" * 100 + " shop",
        "curl -u user:pass https://api.acme.dev",
        "curl -sS 'https://api.acme.dev/x?a=1&b=2' --user 'jane:S3cret;Pa55|x'",
        "curl -fsSLu jane:hunter2xyz https://api.acme.dev",
        "curl.exe --proxy-user=jane:hunter2xyz https://api.acme.dev",
        'curl -u "jane:hunter2xyz" https://api.acme.dev',
        r"{\"cmd\": \"curl -u jane:hunter2xyz https://api.acme.dev\"}",
        # What a sentence says has become of a password, and what it may be.
        "The password has been reset to " + "Heron!4471",
        "the root password must be set to " + "Heron!4471 in the config",
        "I think the password might be " + "Heron!4471",
        "we changed the root password from " + "Heron!4471",
        "Heron!4471" + " is the new root password",
        "the pass phrase: " + "Heron!4471",
        "Pwd " + "Heron!4471",
        # A name in bold, a setting of a connection, a script that types.
        "- **Password**: " + "Heron!4471",
        "**Password:** `" + "Heron!4471`",
        "Host=db;Username=jane;Password=" + "heronQWeRt;Database=crm",
        'expect "password:" { send "' + 'Heron4471\\r" }',
        'ConvertTo-SecureString "' + 'he$7Ron4471" -AsPlainText -Force',
    ],
    "authorization": [
        "Authorization: Bearer abcdEFGH12345678",
        'headers = {"Authorization": "Bearer 9f8e7d6c5b4a3210ffee"}',
        "authorization: basic dXNlcjpwYXNz",
        "Bearer 9f8e7d6c5b4a3210ffee",
    ],
    "cookie": [
        "Cookie: sessionid=9f8e7d6c5b4a3210",
        "Cookie: theme=dark; lang=en; connect.sid=s%3AkJ8dLw2Xv9Qz.Rt5YbNm3",
        "set-cookie: sid=kJ8dLw2Xv9Qz; Path=/; HttpOnly",
        "curl -H 'Cookie: PHPSESSID=q2w3e4r5t6y7u8i9' https://acme.dev",
        "curl --cookie 'PHPSESSID=q2w3e4r5t6y7u8i9' https://acme.dev",
        'headers = {"Cookie": "session=9f8e7d6c5b4a3210ffee"}',
        r"{\"cookie\": \"session=9f8e7d6c5b4a3210ffee\"}",
        'document.cookie = "csrftoken=9f8e7d6c5b4a3210ffee; path=/"',
        "Cookie: session=" + "a1b2c3d4" * 1000,
    ],
    "service-token": [
        "sent with 3f9a1c7be04d58269b1e7c20"
        + "af84d356-3f9a1c7b-9b1e7c20",  # of one length, without a prefix
        "wallet 5Kb8kLf9zgWQnogidDA76M" + "zPL6TsZZY36hWXMssSzNydYXYB9KF",
        "dt0s16.KCQXITAI." + "CJ5DVSYEJP2EL7XGRN4EXE2673ZLQOUNTPAMTEW2E53UPJ7DV4MYM4XVJWV6ZUGU",
        "lmnr_" + "Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1GsXk3vQ9mT",
    ],
    "slack-token": ["xapp" + "-1-A0B1C2D3E4F-4567890123456-9f8e7d6c5b4a32109f8e7d6c5b4a3210"],
    "google-oauth": ["client: GOCSPX" + "-a9Kq2LmX7vTz4RwPb3Nc8Hd5Jf1G"],
    "gitlab-token": [
        "gldt" + "-Xy7zK2mN9pQ4rS8tV1wB",
        "glrt" + "-t1_Xy7zK2mN9pQ4rS8tV1wB",
        "glcbt" + "-64_Xy7zK2mN9pQ4rS8tV1wB",
        "glptt" + "-9f8e7d6c5b4a32109f8e7d6c5b4a3210",
        "glagent" + "-Xy7zK2mN9pQ4rS8tV1wBXy7zK2mN9pQ4rS8tV1wB",
    ],
    "url-password": [
        "postgres://user:pass@host/db",
        "redis://:p4ss@cache.internal:6379",
        "https://me:p@ss@w0rd@git.acme.com/x.git",
        "amqp://me:%40bc1@mq.acme.com",
        r"https:\/\/me:pa55@git.acme.com\/x",
    ],
    "private-key": [
        "-----BEGIN OPENSSH PRIVATE "
        + "KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAABG5v\\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PRIVATE " + "KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nMIIEvQIBADAN",  # cut off
        "-----BEGIN EC PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\n\nMHcCAQEEIOoGAbNuXkGy3zzn0xDq",
    ],
    "email": [
        "contact jane.doe@acme.co.uk please",
        "Authors: write to jane@acme.com",
        "we use ssh, it works well here, so please mail jane@acme.com",
        "<a.b+c@mail.acme.com>",
        "mailto:jane@acme.io",
        "jane@163.com",
    ],
    "ip": [
        "host 8.8.8.8",
        "http://8.8.8.8/x",
        "8.8.4.4",
        "connected to 52.95.110.1:443",
        "from 203.0.114.7",
        "server=3.5.140.2",
        "3.5.140.2:22",
        "user@52.95.110.1",
        "2a00:1450:4001:81b::200e",
        "2606:4700::1111",
        "2a02::1f",
        "http://[2A00:1450:4001:081B:0000:0000:0000:200E]:8080/x",
        "ping: 2a00:1450:4001:81b::200e: Network is unreachable",
        "2003:e1:bf0f:4200:1c2d:3e4f:5a6b:7c8d/64",
        r"peers:\n2a00:1450:4001:81b::200e\n",
        "café 2a00:1450:4001:81b::200e",
    ],
    "ssn": ["123-45-6789", "SSN: 219 45 6789", "ssn=219-45-6789,"],
    "card": [
        "4111111111111111",
        "5500-0000-0000-0004",
        "378282246310005",
        "3782 822463 10005",
        "6011000990139424",
    ],
    "phone": [
        "415-555-2671",
        "415.555.2671",
        "(415)555-2671",
        "1-415-555-2671",
        "tel 415 555 2671",
        "+14155552671",
        "+49 (30) 901820-12",
        "+33.1.42.68.53.00",
    ],
}


@walks(("name", "text"), [(name, text) for name, texts in GOES.items() for text in texts])
def test_it_goes(name: str, text: str) -> None:  # CCE-64, CCE-65
    clean, counts = REDACTOR.redact_counted(text)
    assert counts == {name: 1}
    assert f"[redacted:{name}]" in clean


STAYS = [
    # Code, not secrets.
    "token = get_token()",
    "password: str",
    'secret = os.environ["X"]',
    "api_key=api_key",
    "api_key=self.config.api_key2",
    "max_tokens=4096",
    '"input_tokens": 1234567, "cache_read_input_tokens": 12',
    'tokenizer = AutoTokenizer.from_pretrained("bert-base")',
    "key: value",
    "self.token = settings.auth.token",
    "password: Optional[str] = None",
    "const token: string = useToken();",
    "password: String!",
    "if token == None:",
    '"token": "string"',
    'pad_token="<pad>"',
    'next_token: "CAESBgoEGgIIAQ12"',
    "token = tokens[i]",
    "secretName: my-secret-name",
    "PWD=/home/user/project1",
    "SSH_AUTH_SOCK=/tmp/ssh-XXXX/agent.123",
    "password_file: /run/secrets/db1",
    "author=Jane2000",
    "primary_key=True, foreign_key='users.id2'",
    'cache_key = "user:1234abcd5678"',
    'password: "Enter a new password"',
    '"password": "password-input"',
    'password: "bg-red-500"',
    "Bearer token authentication",
    "sk-learn-is-a-python-library-for-ml",
    "task-management-system-for-everyone",
    "x = W@self.weight(1)",
    # Command lines and headers without secrets.
    "mysql -u root -p shop",
    "mysql -u root -p",
    'mysql -u root -p"$MYSQL_PASSWORD" shop',
    "mysql -uroot -p${MYSQL_ROOT_PASSWORD} shop",
    "mysql -p<password>",
    'f"mysql -u {user} -p{password}"',
    '["mysql -u root -p", host, "x"]',
    "'mysql -u root -p' + secret",
    "mysql -P3306 --protocol=tcp",
    "docker run --name mysql -p3306:3306 -d mysql:8",
    "docker run --name mysql -p 3306:3306 mysql:8.0",
    "apt install mysql-client && mkdir -p/srv/data1",
    "ssh mysql -p2222",
    "use mysql, the -plugin1 option and -path2",
    "curl -u $USER:$PASS https://x.dev",
    'curl -u "${CREDS:?set CREDS1}" https://x.dev',
    'curl -u "${CREDS:-}" https://x.dev',
    "curl -u <user>:<pass1> https://x.dev",
    "curl --user-agent x:abc123 https://x.dev",
    "curl -H Authority:abc123 -o out:put1 https://x.dev",
    "curl https://x.dev | python3 -u main:app1",
    "curl https://x.dev && sort -u a:b1c2d3",
    "curl https://x.dev\nsort -u a:b1c2d3",
    "docker run curl --user 1000:1000",
    "pycurl -u a:b1c2d3",
    "curl -u https://x.dev/a1b2c3",
    "Cookie: theme=dark; lang=en-US",
    "Set-Cookie: lang=en; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    "Set-Cookie: session=deleted; Max-Age=0",
    "Cookie: session=${SESSION_ID}; csrftoken=<token>",
    "Cookie: sessionid=$SID",
    "const cookie = req.cookies.session1",
    "cookie: string = parse(x1)",
    'document.cookie = name + "=" + value1',
    "res.cookie(cookie, sid=sid1a2b3c4d)",
    "SESSION_COOKIE_NAME=sessionid1a2",
    "glrt-runner",
    "xapp-layout",
    "single-glft-x",
    "GOCSPX-your-client-secret-goes-here",
    # Code, types, states and prose where a password could stand.
    "password = input()",
    "password: SecretStr",
    "  password: string\n  email: string",
    "password: Option<String>,",
    "passwordField: TextField",
    "password=os.environ['X']",
    "PASSWORD=$DB_PASSWORD",
    "PASSWORD=password",
    "POSTGRES_PASSWORD=your_password_here",
    "password: ${{ secrets.DB }}",
    "password=<your password>",
    "password is wrong",
    "Password: incorrect",
    "password = hashed",
    "password = swordfish",
    "connect(user=user, password=sesame)",
    "connect(\n    password=sesame,\n)",
    "self.password=sesame",
    "password=new_value",
    "password=newValue",
    "password=settings.db.default",
    "password: newValue",
    "{ email: email, password: sesame }",
    "const { password } = body",
    '"password": "Passwort"',
    '"password": "auth.login.title"',
    "'password' => 'required|min:8'",
    '{"password": "required"}',
    "<label for=password>Weak</label>",
    "--password PASSWORD",
    "--password string   the password to use",
    "the --password option is gone",
    "pass --password explicitly and go on",
    "PWD=project",
    '"pwd": "project"',
    "secret: sesame",
    "SECRET=true",
    "12 tests pass: fine",
    "first_pass=lexer",
    "Passwort: vergessen?",
    "Passwort: bitte merken",
    "Mot de passe oublié ?",
    "senhas: duas",
    "sshpass -p $PASSWORD ssh db",
    "sshpass -e ssh db",
    "docker login -u jane --password-stdin",
    "mongo -p <password>",
    "machine learning needs no password",
    "type netrcLine struct {\n\tmachine  string\n\tlogin    string\n\tpassword string\n}",
    # Placeholders. CCE-65
    "password: ${DB_PASSWORD}",
    "password=$DB_PASSWORD",
    "api_key: <your-key>",
    "API_KEY=xxxxxxxxxxxx",
    "password=changeme",
    'password = "123456"',
    "api_key: {{ secrets.API_KEY }}",
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_your_token_here",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-your-key-goes-in-this-place",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_TOKEN",
    "postgres://user:${PGPASSWORD}@host/db",
    "postgres://user:<password>@host/db",
    "postgres://%(user)s:%(password)s@host/db",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    # Ids, hashes, keys that are public.
    "commit 3f2a9c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a",
    "550e8400-e29b-41d4-a716-446655440000",
    "toolu_01A2b3C4d5E6f7G8h9J0kLmN",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    # People that git names, machines, packages. CCE-64
    "Author: Jane Doe <jane@acme.com>",
    "    Co-authored-by: Jane <jane@acme.com>",
    "fix\n\nSigned-off-by: Jane <jane@acme.com>",
    "git@github.com:foo/bar.git",
    "scp deploy@web1.acme.com:/srv/x .",
    "ssh deploy@web1.acme.com",
    "lodash@4.17.21 @types/node@18.0.0-beta.1",
    "1234+user@users.noreply.github.com noreply@anthropic.com",
    "me@example.com you@mail.example.org x@host.test",
    "icon@2x.png getty@tty1.service",
    "https://user@bitbucket.org/x/y",
    # Addresses that are nobody's. CCE-64
    "127.0.0.1 10.1.2.3 192.168.1.1 172.16.4.4 169.254.1.1 0.0.0.0 192.0.2.4 255.255.255.0 100.64.1.1",
    "http://localhost:8080 and 127.0.0.1:3000",
    "::1 fe80::1ff:fe23:4567:890a fc00::1 fd12:3456:789a:1::1 2001:db8::8a2e:370:7334 2001:0DB8::1 ff02::1",
    "12:30:45 2025:10:01 2026-10-01T12:30:45+02:00 2400:12:30",
    "3f2a:9c1b 2a00:1450 2a:00:14:50:40:01:08:1b",
    "commit 2a00c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a3",
    "rows[2400::2] rows[2001:2600:3] std::2a00::b 2fac::Foo",
    "2a00:1450:4001:81b:1:2:3:4:5 2a00::1::2 2a00:::1 a2a00::1b 0:2a00::1b",
    "SHA1 2A01:0B:1C:2D:3E:4F:5A",
    "version 1.2.3.4",
    "foo==1.2.3.4",
    "foo>=152.2.3.4",
    "v1.2.3.4",
    "package 1.2.3.4",
    "Chrome/120.0.0.0 Safari",
    "Section 3.2.1.4",
    "1.3.6.1.4.1.311",
    # Numbers.
    "1759934123456 and 1759934123456789",
    "2025-10-01T12:00:00.123Z 2025-10-01 12:00:00",
    "000-12-3456 666-12-3456 912-12-3456 123-00-4567 123-45-0000",
    "4111 1111 1111 1112",
    '"id": "4111111111111111"',
    "a4111111111111111 41111111111111110000",
    "+10 -200",
    "@@ -10,7 +10,9 @@",
    "+1.2345678901",
    "+12345 -67890 lines",
    "1e+1234567890123",
    "415-555-26711 9415-555-2671",
    "200 300 4000",
    # Sentences and labels that tell about a password, but not which.
    "the password has been reset to its default",
    "the password must be set to something longer",
    "the password might be wrong",
    "**Password**: required",
    "**Token:** the parser reads one at a time",
    "**Key**: `cache_key`",
    "pwd shows the folder",
    'socket.send "hello\\r" before the password',
    "build 3f9a1c7be04d58269b1e7c20af84d3563f9a1c7b of main",
]


@walks("text", STAYS)
def test_it_stays(text: str) -> None:  # CCE-64, CCE-65
    assert REDACTOR.redact(text) is text
