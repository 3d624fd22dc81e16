"""What counts as a secret or as personal data: one table, each row with its own example.

A row is (name, anchors, pattern, example, how, judge). The anchors are literals of which at least one
stands in every text the pattern can match, so a row without its anchor is never run; `how` says where they
are looked for (anchors.py lists the ways). The pattern is a plain string, compiled by the engine only when
it is needed. The judge is the name of a function in validators.py or pii.py, where placeholders, code and
versions escape.

No anchor holds a character that JSON may escape: a raw JSON document can be checked unparsed.
Five more files hold rows: token_shapes.py those of services, context_shapes.py those that only their
surroundings tell, command_shapes.py those that the words of a command tell, argument_shapes.py those that
a name or a call tells to which they are given, config_shapes.py those that the syntax of a file tells.
Nothing else is imported here: the hook loads this file while an agent waits.
"""

from backstory.hook import argument_shapes, command_shapes, config_shapes, context_shapes, token_shapes

# Of the names of secrets: see secret_names.py.
STEMS = ("pass", "pwd", "secret", "token", "cred", "auth", "key")


class Row:
    """One kind of secret or personal data."""

    __slots__ = ("anchors", "example", "how", "judge", "name", "pattern")

    def __init__(
        self,
        name: str,
        anchors: tuple[str, ...],
        pattern: str,
        example: str,
        how: str = "head",
        judge: str = "token",
    ) -> None:
        self.name = name
        self.anchors = anchors
        self.pattern = pattern
        self.example = example
        self.how = how
        self.judge = judge


_NAMES = (
    r"((?i:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|cred(?:ential)?s?|auth(?:orization)?|key)"
    r"(?:[_-]?(?i:key|base|string|value|prod|dev|live|staging|old|new)|[_-]?[0-9]{1,3})?)"
)
_GIVES = (
    r"(?:\\?[\"'`])?\]?"
    r"((?:[ \t]{0,8}:[ \t]?(?:&(?:'static )?)?[A-Za-z_][\w.]{0,40}"
    r"(?:\[[\w., |]{0,40}\])?(?:[ ]?\|[ ]?[\w.]{1,20}){0,2})?[ \t]{0,8}[?+]?={1,3}>?"
    r"|(?<=[\"'])[ \t]{0,4},(?=[ \t]{0,4}\\?[\"'])|[ \t]{0,8}(?::=?|!==?|\|\||\?\?)|>|[ \t]{1,3}(?i:is)(?=[ \t:])[ \t]{0,2}:?|[ \t]{1,4})[ \t]{0,8}"  # noqa: E501
)
_NAMES_ABROAD = (
    r"((?i:passwort|passord|senha|mot(?: de |_de_|de)passe"
    r"|contrase(?:ñ|n\u0303?|\\u00f1)a))"
)
_GIVES_ABROAD = (
    r"(?:\\?[\"'`])?([ \t\u00a0\u202f]{0,4}[:=]|[ \t](?i:ist|lautet|est|es|is|é|er)(?=[ \t:])[ \t]{0,2}:?)"
    r"[ \t\u00a0\u202f]{0,4}"
)
_QUOTED = "|".join(rf"{quote}((?:[^\s{quote}\\]|\\(?!{quote})){{4,256}})" for quote in "\"'`")
_VALUE = (
    rf"(?:(?:[brufN]{{0,2}}|String::from\()\\?(?:{_QUOTED})"
    r"|([^\s\"'`,;()\[\]{}<>&|\\][^\s\"'`\\]{3,255}))"
)
# A word of a command line, in quotes or not, of which {} is no secret.
_ARGUMENT = r"(?:\\?\"{0}([^\s\"\\]{{1,256}})|\\?'{0}([^\s'\\]{{1,256}})|{0}([^\s\"'`;|&<>()\\]{{1,256}}))"
_COMMAND_GOES_ON = r"(?:(?!&&|;[ \t]|\\n)[^\n|]){0,200}?"
_GIVES_COOKIE = (
    r"(?:(?<=--cookie)[ \t=]{1,4}[\"'\\]{0,2}|s?[\"'`\]\\]{0,3}[ \t]{0,4}"
    r"(?::[ \t]{0,4}[\"'`\\]{0,2}|(?:=>?|,)[ \t]{0,4}\\?[\"'`]))"
)
_COOKIE = r"([\w.$!%*+-]{1,64})=([^\s\"'`;,\\]{0,1024})"
_COOKIES = (
    r"([\w.$!%*+-]{1,64}=[^\s\"'`;,\\]{0,1024}(?:;[ \t]{0,2}[\w.$!%*+-]{1,64}=[^\s\"'`;,\\]{0,1024}){0,40})"
)
_B = "[A-Za-z0-9_-]"
_STOP = "(?![A-Za-z0-9_]|[-.][0-9])"

# The examples are put together at run time, so that scanners of this repository do not take them for leaks.
_A36 = "16C7e42F292c6912E7710c838347Ae178B4a"
_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"

ROWS: tuple[Row, ...] = (
    Row(
        "private-key",
        ("private key",),
        r"-{4,5}[ ]?BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}"
        r"(?:[^-]*+(?:-(?!---)[^-]*+)*+-{4,6}[ ]?END[ A-Z0-9]{0,60}-{4,5}"  # six: a diff removes the line
        r"|(?:(?:[\s\"'+,>|-]|\\[nr])*(?:[A-Z][A-Za-z-]{2,12}:[^\n\\]{0,80}"
        r"|[A-Za-z0-9+/]{20,}={0,2}))*"
        r"(?:(?:[\s+>-]|\\[nr])*+[A-Za-z0-9+/]{1,63}(?:={1,2}|(?=\s*+\Z|[\"'`.…])))?)",
        "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA7bq3\n-----END RSA PRIVATE " + "KEY-----",
        "inside",
        "whole",
    ),
    Row(
        "aws-access-key",
        ("AKIA", "ASIA"),
        r"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        "AKI" + "AZ7QH3V9K2M4XW5TB",
        "head",
        "fixed",
    ),
    Row(
        "aws-secret-key",
        ("secret",),
        r"(?i:secret[_-]?(?:access[_-]?)?key)[\"'`\]\\]{0,3}[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}[\"'`\\]{0,2}"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws_secret_access_key = " + "9drTJvcXLB89EXhqsB4Q" + "/xCqWmAbMV1nPz7uYk+T",
        "word",
        "value",
    ),
    Row(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"g(?:h[pousr]_[A-Za-z0-9]{20,255}|ithub_pat_[A-Za-z0-9]{16,255})",
        "gh" + "p_" + _A36,
        "head",
    ),
    Row(
        "gitlab-token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
        ),
        rf"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-{_B}{{16,255}}",
        "glpat" + "-Xy7zK2mN9pQ4rS8tV1wB",
        "head",
    ),
    Row(
        "slack-token",
        ("xox", "xapp-"),
        rf"x(?:ox[a-z]|app)-{_B}{{15,255}}",
        "xox" + "b-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
        "head",
    ),
    Row(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com\\?/(?:services|workflows|triggers)("
        r"(?:\\?/[A-Za-z0-9_-]{1,99}){1,5}\\?/[A-Za-z0-9]{20,99})",
        "https://hooks.slack.com/services" + "/T0A1B2C3D/B9Z8Y7X6W/k2Jf83hGq01LpZx7VbNm4RtY",
        "path",
        "value",
    ),
    Row(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}",
        "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
        "head",
    ),
    Row(
        "anthropic-key",
        ("sk-ant-",),
        rf"sk-ant-{_B}{{16,255}}",
        "sk-ant" + "-api03-Rq8Zt2Lw9XvB4nKm7YpD1cJf6HsG3aUe",
        "head",
    ),
    Row(
        "openai-key",
        ("sk-",),
        rf"sk-(?!ant-){_B}{{20,255}}",
        "sk" + "-proj-8Kd02LmNqPzRt57VwXyBc91FgHjAeUiO34sT",
        "head",
        "random_token",
    ),
    Row(
        "google-key",
        ("AIza",),
        rf"AIza{_B}{{30,80}}",
        "AI" + "zaSyD3kFh9LmQx72TvWz0PbNc8RgYj5EuKoAsI4",
        "head",
    ),
    Row("google-oauth", ("ya29.",), rf"ya29\.{_B}{{20,255}}", "ya29" + ".a0AfH6SMBx7Qk2Lz9WvNt4RpYc", "foot"),
    Row(
        "google-oauth",
        ("GOCSPX-",),
        rf"GOCSPX-{_B}{{26,80}}",
        "GOCSPX" + "-Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1Gs",
        "head",
    ),
    Row(
        "jwt",
        ("eyJ",),
        rf"eyJ(?:(?<!{_B}eyJ)|(?<=\\[nrt]eyJ)){_B}{{17,}}+\.{_B}{{10,}}+(?:\.{_B}*+){{0,3}}",
        "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlLW9mLTQy",
        "head",
    ),
    Row("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,80}", "np" + "m_" + _A36, "head"),
    Row(
        "pypi-token",
        ("pypi-",),
        rf"pypi-{_B}{{40,255}}",
        "pypi" + "-AgEIcHlwaS5vcmcCJDk3ZjM1" + _A36,
        "head",
        "random_token",
    ),
    Row(
        "huggingface-token",
        ("hf_",),
        r"hf_[A-Za-z0-9]{30,80}",
        "h" + "f_aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678",
        "head",
    ),
    Row(
        "twilio-key",
        tuple(f"SK{digit}" for digit in "0123456789abcdef"),
        r"SK[0-9a-f]{32}(?![A-Za-z0-9])",
        "S" + "K" + _HEX32,
        "head",
        "fixed",
    ),
    Row(
        "sendgrid-key",
        ("SG.",),
        rf"SG\.{_B}{{20,64}}\.{_B}{{16,128}}",
        "S" + "G.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKcx3SP5Vk",
        "foot",
    ),
    Row(
        "digitalocean-token",
        ("dop_v1_",),
        r"dop_v1_[a-f0-9]{40,80}",
        "do" + "p_v1_" + _HEX32 + _HEX32,
        "head",
    ),
    Row(
        "databricks-token",
        ("dapi",),
        r"dapi[0-9a-f]{32}(?![A-Za-z0-9])",
        "dap" + "i" + _HEX32,
        "head",
        "fixed",
    ),
    Row(
        "kube-key",
        ("client-key-data",),
        r"(?i:client-key-data)[\"'\\]{0,2}[ \t]{0,4}:[ \t]{0,4}[\"'\\]{0,2}([A-Za-z0-9+/]{40,8192}={0,2})",
        "client-key-data: " + "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpN",
        "word",
        "value",
    ),
    Row(
        "aws-signature",
        ("X-Amz-Signature=",),
        r"X-Amz-Signature=([0-9a-f]{64})(?![0-9a-f])",
        "X-Amz-Signature=" + _HEX32 + _HEX32,
        "foot",
        "value",
    ),
    Row(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,100}={0,2})",
        "Account" + "Key=" + "Zm9vYmFyK2Jhei9xdXgxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=",
        "inside",
        "value",
    ),
    Row(
        "azure-sas",
        ("sig=",),
        r"sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,200}={0,2})",
        "?sv=2022-11-02&sig=" + "Zt8yXq2LkV%2BnB4mR7wPcD9sJf1HgAeUi%2FoTz5rQ%3D",
        "equals",
        "value",
    ),
    Row(
        "telegram-token",
        (":AA",),
        rf"[0-9]{{8,10}}:AA{_B}{{32,64}}",
        "110201543" + ":AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
        "foot",
        "bot_token",
    ),
    Row(
        "discord-token",
        (".wwwwww." + "w" * 27,),
        rf"[MNO][A-Za-z0-9]{_B}{{22,30}}\.{_B}{{6}}\.{_B}{{27,64}}",
        "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "words",
    ),
    Row(
        "discord-webhook",
        ("webhooks",),
        rf"discord(?:app)?\.com\\?/api\\?/webhooks(\\?/[0-9]{{6,32}}\\?/{_B}{{20,128}})",
        "https://discord.com/api/webhooks" + "/1098765432101234567/kJ8d_Lw2Xv9QzRt5YbNm3PcF7HsG1aUeT4oK",
        "path",
        "value",
    ),
    Row(
        "authorization",
        ("authorization", "bearer"),
        r"(?i:authorization[\"'`\]\\]{0,3}[ \t]{0,4}[:=,]{1,2}[ \t]{0,4}[\"'`\\]{0,2}"
        r"(?:bearer|basic|token|bot|apikey|[a-z]{0,8}-?key|splunk|negotiate)[ \t]{1,4})([^\s\"'`\\,;]{6,256})"
        r"|(?i:bearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,256})"
        r"|(?i:authorization[\"'`\]\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}[\"'`\\]{0,2})"
        r"([A-Za-z0-9._~+/=-]{20,256})(?![A-Za-z0-9 ])"
        r"|(?i:authorization[\"'`\]\\]{0,3}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`\\]{0,2}[a-z][\w-]{1,20}[ \t]{1,4})"
        r"([A-Za-z0-9._~+/=-]{20,256})"
        r"|(?i:authorization:[ \t]{0,4}digest[ \t]{1,4})([^\n\r]{10,1000})",
        "Authorization: Basic " + "dXNlcjpodW50ZXIyeHl6",
        "word",
        "authorization",
    ),
    Row(
        "cookie",
        ("cookie",),
        rf"(?i:cookie)(?:(?<=(?i:set-cookie)){_GIVES_COOKIE}{_COOKIE}|{_GIVES_COOKIE}{_COOKIES})",
        "Cookie: theme=dark; sid=" + "s9Kq2LmX7vTz4RwP",
        "word",
        "cookie",
    ),
    Row(
        "url-password",
        ("@",),
        r":(?:\\?/){2}(?:[^\s:@/?#\"'<>\\]{0,80}:([^\s\"'<>/\\]{1,200})|([A-Za-z0-9_-]{20,255}))@"
        r"(?=[A-Za-z0-9\[$.{_-])",
        "postgres://app:" + "s3cr3tpw" + "@db.internal:5432/app",
        "url",
        "url_password",
    ),
    Row("secret", STEMS, _NAMES + _GIVES + _VALUE, "DB_PASSWORD=" + "hunter2xyz", "word", "assigned"),
    Row(
        "secret",
        ("password=", "passwd=", "passphrase=", "_pwd=", "_secret="),
        r"(?:PASSWORD|PASSWD|PASSPHRASE|_PWD|_SECRET)=\\?(?:\"([^\"\\\n$]{4,200})|'([^'\\\n$]{4,200}))",
        'DB_PASSWORD="' + 'correct horse battery"',
        "inside",
        "value",
    ),
    Row(
        "secret",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)(?:-?[a-z]{2,8})?(?:\.exe)?"
        r"(?:[ \t]{1,4}-(?!p)[^\s;|&<>]{0,200}+(?:[ \t]{1,4}[^\s;|&<>-][^\s;|&<>]{0,200}+){0,2}){0,12}"
        rf"[ \t]{{0,3}} -p{_ARGUMENT.format('')}",
        "mysql -h db -u shop -p" + "S3cretPa55 shop",
        "command-p",
        "command_password",
    ),
    Row(
        "secret",
        ("curl",),
        r"curl(?:\.exe)?(?=[ \t])(?:(?!&&|;[ \t]|\\n|curl[ \t])[^\n|]){0,400}?"
        r" (?:-[uU][ \t=]{0,4}|-[A-Za-z]{1,8}[uU][ \t]{1,4}|--(?:proxy-)?user[ \t=]{1,4})"
        + _ARGUMENT.format(r"[^\s:\"'`;|&<>(){}\\/]{0,80}:"),
        "curl -sS -u admin:" + "S3cretPa55 https://shop.internal/api",
        "command",
        "command_password",
    ),
    Row(
        "secret",
        ("sshpass",),
        rf"sshpass[ \t]{{1,4}}(?:-v[ \t]{{1,4}})?(?<= )-p[ \t]{{0,4}}{_ARGUMENT.format('')}",
        "sshpass -p " + "hunter2 ssh db",
        "command-p",
        "option_password",
    ),
    Row(
        "secret",
        ("docker login", "podman login", "mongo"),
        rf"(?:(?:docker|podman) login|mongo(?:sh|dump|restore|export|import)?)(?=[ \t]){_COMMAND_GOES_ON}"
        rf" -p[ \t=]{{1,4}}{_ARGUMENT.format('')}",
        "docker login -u shop -p " + "hunter2 registry.internal",
        "command-p",
        "option_password",
    ),
    Row(
        "secret",
        ("redis-cli",),
        rf"redis-cli(?=[ \t]){_COMMAND_GOES_ON} (?:-a|--pass)[ \t]{{1,4}}{_ARGUMENT.format('')}",
        "redis-cli -h cache -a " + "hunter2 ping",
        "command",
        "option_password",
    ),
    Row(
        "secret",
        ("machine", "default login"),
        r"(?:machine[ \t]{1,8}[^\s\\]{1,255}|default(?= login))(?:\s|\\n){1,20}"
        r"(?:(?:login|account)[ \t]{1,8}[^\s\\]{1,255}(?:\s|\\n){1,20}){0,2}"
        r"password[ \t]{1,8}([^\s\"'\\]{1,256})",
        "machine shop.internal login jane password " + "sesame",
        "beside",
        "login_password",
    ),
    Row(
        "secret",
        (
            *("passwort", "passord", "senha", "contrase"),
            *("mot de passe", "mot_de_passe", "motdepasse"),
        ),
        _NAMES_ABROAD + _GIVES_ABROAD + _VALUE,
        "Passwort: " + "Sommer2026",
        "word",
        "assigned_abroad",
    ),
    *(Row(*row) for row in token_shapes.ROWS),
    *(Row(*row) for row in context_shapes.ROWS),
    *(Row(*row) for row in command_shapes.ROWS),
    *(Row(*row) for row in argument_shapes.ROWS),
    *(Row(*row) for row in config_shapes.ROWS),
    Row(
        "email",
        ("@",),
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9_-])",
        "jane.doe@acme-corp.com",
        "left",
        "email",
    ),
    Row(
        "ip",
        ("0.0.0.0",),  # noqa: S104
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![A-Za-z0-9_]|\.[0-9])",
        "host 52.95.110.1",
        "thin",
        "public_ip",
    ),
    Row(
        "ip",
        ("hhhh:",),
        r"[23][0-9A-Fa-f]{3}(?:::?[0-9A-Fa-f]{1,4}){1,7}(?:::)?(?![A-Za-z0-9_]|:[0-9A-Fa-f:])",
        "from 2a00:1450:4001:81b::200e",
        "hextet",
        "public_ipv6",
    ),
    Row(
        "ssn",
        ("000-00-0000",),
        r"([0-9]{3}([- ])[0-9]{2}\2[0-9]{4})" + _STOP,
        "SSN 219-45-6789",
        "dash",
        "ssn",
    ),
    Row("card", ("0" * 13,), rf"([0-9]{{13,19}}){_STOP}", "5555555555554444", "number", "card"),
    Row(
        "card",
        ("0000-0000-0000-0", "0000-000000-0000"),
        r"([0-9]{4}([ -])[0-9]{4}\2[0-9]{4}\2[0-9]{1,7}(?:\2[0-9]{1,3})?|[0-9]{4}([ -])[0-9]{6}\3[0-9]{4,5})"
        + _STOP,
        "4111 1111 1111 1111",
        "dash",
        "card",
    ),
    Row(
        "phone",
        ("000-000-0000", ")-000-0000", ")000-0000"),
        r"((?:1[- ])?(?:\([2-9][0-9]{2}\)[ -]?[0-9]{3}[- ][0-9]{4}|[2-9][0-9]{2}([- ])[0-9]{3}\2[0-9]{4}))"
        + _STOP,
        "(415) 555-2671",
        "dash",
        "phone",
    ),
    Row(
        "phone",
        ("000.000.0000",),
        rf"((?:1\.)?[2-9][0-9]{{2}}\.[0-9]{{3}}\.[0-9]{{4}}){_STOP}",
        "415.555.2671",
        "dot",
        "phone",
    ),
    Row(
        "phone",
        ("+00000000",),
        r"\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}(?![A-Za-z0-9_]|[ .()-]{0,2}[0-9])",
        "+44 20 7946 0958",
        "packed",
        "world_phone",
    ),
)
