"""Secrets that have no shape of their own, told by a command, a statement, a file or a sentence around them.

Rows of the table in patterns.py, as tuples. Nothing is imported here: the hook loads this file.
"""

# A word of a command line, in quotes or not, of which {} is no secret.
_ARGUMENT = r"(?:\\?\"{0}([^\s\"\\]{{1,256}})|\\?'{0}([^\s'\\]{{1,256}})|{0}([^\s\"'`;|&<>()\\]{{1,256}}))"
_ARG = _ARGUMENT.format("")
_AFTER_COLON = _ARGUMENT.format(r"[^:\s]{1,60}:")
_GOES_ON = r"(?:(?!&&|;[ \t]|\\n)[^\n|]){0,200}?"
_PIPED = (
    r"[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4}(?:-[A-RT-Za-z]{1,3}[ \t]{1,4})?-S|(?:sudo[ \t]{1,4})?chpasswd"
    r"|[^\n|;&]{0,120}?(?:--password-stdin|--with-token|--stdin|--data-file=-|--passphrase-fd|-pass stdin))"
)
_SECRETS = (
    r"(?i:pass(?:word|wd|phrase|code|wort)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
)
_COLUMNS = (
    r"(?i:(?:password|passwd|passwort|passphrase|secret[ _-]?access[ _-]?key|secret|token|api[ _-]?key"
    r"|secret[ _-]?key|access[ _-]?token|client[ _-]?secret|private[ _-]?key))"
)

_LABELS = ("password", "passwort", "passphrase", "passcode", "pass", "pwd", "pw", "secret", "token", "key")

# Sentences: what is told, of what, the verb.
_HUMAN = r"pass(?:word|[ -]?phrase|code|wort|wd)?s?|pwd?|mot de passe|contrase(?:ñ|n)a|senha"
_OF = (
    r"(?: (?:is|was) (?:re)?generated|,? (?:that )?(?:you|we|I|they)(?:'ll| will)? (?:need|use|want|have)"
    r"|(?: you are)? looking for| to use| below| here)?"
    r"(?: (?:for|of|to|on|in|at|für|vom|von|der|des|dem|zum|de|del|du|pour|para"
    r"|da|do|per|di|van|voor)(?: [^\s:=\"'`]{1,40}){1,5}?)?"
)
_VERB = (
    r"(?:['’]s(?= )|(?: (?:(?:has |had )?(?:was|been|got|is|be|must be|should be|to be)"
    r" (?:re)?(?:set|changed|rotated|updated|switched) (?:back )?(?:to|from)"
    r"|(?:might|may|must|could|can|used to) be|from|being|remains|equals|is|was|are|will be|should be|ist|lautet|war|est|es|era|é|è|era|to|auf|à|a|como)(?=[ :])"  # noqa: E501
    r"(?: (?:now|still|currently|again|jetzt|nun|maintenant|ahora|this|just))?:?|[ \u00a0]?[:=]"
    r"|[ \u00a0]?(?:->|=>|→|–|—|⇒)))"
)
_SAID = r"[ \t\u00a0]{1,3}(?:\"([^\"\n]{4,120})\"|'([^'\n]{4,120})'|`([^`\n]{4,120})`|([^\s\"'`]{4,256}))"
# Anchors that announce less than their pattern: it looks ahead for them.
_TOLD = (
    *(
        "password",
        "passphrase",
        "pass phrase",
        "pass-phrase",
        "passcode",
        "passwort",
        "passwd ",
        "pass is ",
        "pass for ",
        "pw ",
        "pwd ",
    ),
    *("mot de passe", "contrase", "senha "),
)
_NAMING = ("password ", "passphrase ", "passwort ", "pw ", "pwd ", "mot de passe ", "contrase")
_PAIRED = (
    *("login ", "login:", "authenticate", "credential", "creds", "pass is "),
    "basic auth ",
)
_SUBJECTS = (
    *(" new password", " old password", " root password", " admin password", " db password", " my password"),
    *(" our password", " your password", " sudo password", " master password", " login password", " the pw"),
    *(" as password", " as token", " the password", " the token", " the secret", " the api key"),
)
# Words of a sentence that a password or a key follows within some words, whatever stands between.
_SENTENCE = (
    *("password", "passphrase", "passcode", "passwort", "kennwort", "pass ", "pw ", "creds", "credential"),
    *("secret ", "secret:", "token ", "token:", "log in", "sign in", "unlock", "login "),
    *("api key", "access key", "encryption key", "signing key", "license key", "master key", "wifi key"),
    *("deploy key", "service key", "private key", "shared key", "vault key"),
)
_NAMED = r" (?:[\"'`]([^\s\"'`]{4,256})[\"'`]|([^\s\"'`]{4,256}))"

ROWS = (
    (
        "private-key",
        ("user-key-file",),
        r"Private-Lines:[ \t]{0,4}[0-9]{1,4}((?:(?:[\s\"'+,>|-]"
        r"|\\[nr]){1,40}+(?!Private-)[A-Za-z0-9+/]{20,}+={0,2})++"
        r"(?:(?:[\s\"'+,>|-]|\\[nr]){1,40}+Private-(?:MAC|Hash):[ \t]{0,4}[0-9a-f]{1,128})?)",
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-"
        + "Lines: 1\nAAAAIHk2Jf83hGq01LpZx7VbNm4RtYk2Jf83hGq01LpZx7Vb\n",
        "inside",
        "putty_key",
    ),
    (
        "private-key",
        ("openvpn static key",),
        r"BEGIN OpenVPN Static key V[0-9]-{4,5}((?:(?:[\s>+#-]|\\[nr]){1,8}+[0-9a-f]{32}){1,64})",
        "-----BEGIN OpenVPN Static " + "key V1-----\n" + "3f9a1c7be04d5826" + "9b1e7c20af84d356\n",
        "inside",
        "whole",
    ),
    (
        "private-key",
        ("kty",),
        r"\"(?:d|p|q|dp|dq|qi|k)\\?\":[ ]?\\?\"([A-Za-z0-9_-]{43,2000})",
        '{"kty":"OKP","crv":"Ed25519","d":"' + 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"',
        "lengthy",
        "jwk",
    ),
    # --- Commands -------------------------------------------------------------------------------------
    (
        "secret",
        ("echo", "printf"),
        rf"(?:echo|printf)(?:[ \t]{{1,4}}-[neE]{{1,3}})?(?:[ \t]{{1,4}}[\"']%s(?:\\n)?[\"'])?[ \t]{{1,4}}"
        rf"{_ARG}[\"'\\]{{0,2}}{_PIPED}",
        "echo " + "hunter2xyz | docker login -u jane --password-stdin",
        "pipe",
        "option_password",
    ),
    (
        "secret",
        ("password-stdin", "with-token", "passphrase-fd"),
        rf"(?:password-stdin|with-token|passphrase-fd){_GOES_ON}[ \t]{{0,4}}<<<[ \t]{{0,4}}{_ARG}",
        "docker login -u jane --password-stdin <<< '" + "hunter2xyz'",
        "word",
        "argument_password",
    ),
    (
        "secret",
        ("zip", "sqlcmd", "bcp"),
        rf"(?:zip|sqlcmd|bcp)(?=[ \t]){_GOES_ON} -P[ \t]{{0,4}}{_ARG}",
        "sqlcmd -S db -U sa -P " + "S3cretPa55 -Q x",
        "command-p",
        "tool_password",
    ),
    (
        "secret",
        ("7z ", "7za ", "rar "),
        rf"(?:7za?|rar)(?= ){_GOES_ON} -h?p{_ARG}",
        "7z x -p" + "S3cretPa55 x.7z",
        "command",
        "tool_password",
    ),
    (
        "secret",
        (" -p",),
        r" -p[ \t=]?(?:\\?\"([^\s\"\\]{6,128})\\?\"|\\?'([^\s'\\]{6,128})\\?')",
        "tool -p'" + "S3cret!Pa55' run",
        "command-p",
        "quoted_password",
    ),
    (
        "secret",
        ("ldap",),
        rf"ldap(?:search|add|modify|whoami|delete|passwd)(?=[ \t]){_GOES_ON} -w[ \t]{{0,4}}{_ARG}",
        "ldapsearch -D cn=admin -w " + "S3cretPa55 -b dc=acme",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("http -a",),
        rf"http -a[ \t]{{0,4}}{_AFTER_COLON}",
        "http -a jane:" + "S3cretPa55 https://api.acme.dev",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("htpasswd",),
        rf"htpasswd(?=[^\n]{{0,40}}? -[A-Za-z]{{0,7}}b)[ \t]{{1,4}}(?:-[A-Za-z]{{1,8}}[ \t]{{1,4}}){{1,4}}"
        rf"(?:[^\s-][^\s]{{0,200}}[ \t]{{1,4}}){{1,2}}{_ARG}(?=\s|\\n|\Z|[;|&>])",
        "htpasswd -b .htpasswd jane " + "S3cretPa55",
        "word",
        "option_password",
    ),
    (
        "secret",
        ("storepassword", "keypassword"),
        r"(?i:(?:store|key)password)[ \t]{1,4}(?:\\?\"([^\"\\\n]{4,200})|\\?'([^'\\\n]{4,200}))",
        'storePassword "' + 'S3cretPa55"',
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("storepass", "keypass", "-passin ", "-passout ", "-pass ", "requirepass", "masterauth"),
        r"(?:(?:store|key)pass|-pass(?:in|out)?(?= [ \t]{0,3}pass:)|requirepass|masterauth)[ \t]{1,4}"
        r"(?:pass:)?" + _ARG,
        "keytool -list -storepass " + "swordfish -keystore x",
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("mysqladmin",),
        rf"mysqladmin(?=[ \t]){_GOES_ON} password[ \t]{{1,4}}{_ARG}",
        "mysqladmin -u root password " + "S3cretPa55",
        "beside",
        "tool_password",
    ),
    (
        "secret",
        ("secrets set ", "secrets put ", "secrets:set "),
        r"secrets(?: set| put|:set) [ \t]{0,3}"
        r"(?:-{1,2}[^\s=]{1,40}(?:[ \t=][^\s=-][^\s=]{0,80})?[ \t]{1,4}){0,4}"
        r"[A-Za-z_][\w.-]{1,80}=(?:\\?\"([^\"\\\n]{4,256})|\\?'([^'\\\n]{4,256})|([^\s\"'`\\]{4,256}))",
        "flyctl secrets set SESSION_SALT=" + "S3cretPa55",
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("openssl ",),
        rf"openssl (?:enc|aes|des)[\w-]{{0,20}}(?=[ \t]){_GOES_ON} -k[ \t]{{1,4}}{_ARG}",
        "openssl enc -aes-256-cbc -k " + "S3cretPa55 -in x",
        "command",
        "tool_password",
    ),
    (
        "secret",
        ("wpa_passphrase",),
        r"wpa_passphrase[ \t]{1,4}(?:\"[^\"\n]{1,64}\"|'[^'\n]{1,64}'|[^\s\"'-][^\s]{0,64})"
        rf"[ \t]{{1,4}}{_ARG}",
        "wpa_passphrase home " + "S3cretPa55",
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("secret set ",),
        rf"secret set {_GOES_ON} --(?:value|body)[ \t=]{{1,4}}{_ARG}",
        "gh secret set API_KEY --body " + "S3cretPa55",
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("vault login",),
        rf"vault login[ \t]{{1,4}}{_ARG}",
        "vault login " + "s.Iwipp9h28Dk8gnrBFhUT9YSK",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("auth ", "auth=("),
        r"(?:AUTH (?:PLAIN[ \t]|[a-z][\w.]{1,20}[ \t])?([^\s\"'`;|&<>()\\]{6,256})(?=[ \t]*+(?:\Z"
        r"|\r|\n|\\[nr]))"
        r"|auth=\([\"'][^\"'\n]{1,80}[\"'],[ \t]{0,4}[\"']([^\"'\s]{4,128})[\"'])",
        "redis> AUTH default " + "s6KDZnI9yAOCS22g5S1d\n",
        "word",
        "quoted_password",
    ),
    # --- SQL ------------------------------------------------------------------------------------------
    (
        "secret",
        ("identified ",),
        r"(?i:identified (?:with [\w\"'`]{1,60} )?(?:by|as)[ \t]{1,4}(?:password[ \t]{1,4})?)"
        r"(?:\\?'([^'\\\n]{1,200})|\\?\"([^\"\\\n]{1,200}))",
        "CREATE USER jane IDENTIFIED BY '" + "swordfish';",
        "word",
        "option_password",
    ),
    (
        "secret",
        ("password",),
        r"(?i:password(?: for [^\s=]{1,80} =(?: password)?)?)(?:[ \t]{0,3}\("
        r"|[ \t]{0,3}=)?[ \t]{0,3}'([^'\\\n]{1,200})'",
        "ALTER ROLE jane WITH PASSWORD '" + "swordfish';",
        "word",
        "sql_password",
    ),
    # --- Files ----------------------------------------------------------------------------------------
    (
        "secret",
        (
            *("password", "passwd", "passwort", "passphrase", "secret", "token", "api_key", "apikey"),
            *("api-key", "api key", "secret_key", "secretkey", "secret-key", "secret key", "private key"),
            *("secret access key", "secret_access_key", "secretaccesskey", "private_key"),
        ),
        rf"{_COLUMNS}(?:\(|[ \t\"'`*\]\\]{{0,40}}(?=[|,;)\t\r\n]|\\[ntr]|\Z))",
        "user,password\njane," + "S3cretPa55\n",
        "title",
        "column",
    ),
    (
        "secret",
        ("kind: secret",),
        r"kind: Secret(?![A-Za-z])",
        "kind: Secret\ndata:\n  dsn: " + "czNjcjN0LVBhNTVzM2NyM3Q=\n",
        "block",
        "kubernetes_secret",
    ),
    (
        "secret",
        (
            *("pass", "pwd", "secret", "token", "apikey", "api_key", "api-key", "accesskey", "access_key"),
            *("access-key", "privatekey", "private_key", "private-key"),
        ),
        rf"{_SECRETS}(?:(?:\\?[\"'])?[ \t\r\n]{{1,20}}value=\\?[\"']"
        rf"|\\?[\"'][ \t]{{0,4}},[ \t\r\n]{{0,40}}\\?[\"'][Vv]alue\\?[\"'][ \t]{{0,4}}:[ \t]{{0,4}}\\?[\"']"
        r"|</(?:key|name)>\s{0,40}<value>"
        r"|\\?[\"'][ \t]{0,4}:\s{0,20}\{[^{}]{0,200}?[\"']value\\?[\"']\s{0,4}:\s{0,4}\\?[\"']"
        r"|(?:\\?[\"'])?[ \t]{0,4}(?:\r?\n|\\n)[ \t+-]{1,40}value:[ \t]{1,4}(?:\\?[\"'])?)"
        r"([^\s\"'<>\\]{4,512})",
        '<add key="DbPassword" value="' + 'S3cretPa55" />',
        "valued",
        "beside_name",
    ),
    (
        "secret",
        ("password:", "passwd:", "passphrase:", "secret:", "token:", "api_key:", "apikey:"),
        r"(?i:password|passwd|passphrase|secret|token|api_?key):[ \t]{0,4}(?:[|>][+-]?)?"
        r"[ \t]{0,4}(?:\r?\n|\\n)[ \t]{1,40}([^\s\"'`:\\]{6,256})(?=[ \t]{0,8}(?:\r|\n|\\n|\Z))",
        "db:\n  password: |\n    " + "S3cretPa55\n",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("cargo login", "wandb login", "snyk auth", "authtoken", "pypi-token."),
        r"(?:(?:cargo|wandb) login|snyk auth|authtoken|pypi-token\.[\w.-]{1,40})"
        r"[ \t]{1,4}([^\s\"'`;|&<>()\\]{16,256})",
        "ngrok config add-authtoken " + "2Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1_Gs4Xk3vQ9mTz7LpRw2Yb",
        "word",
        "random_value",
    ),
    (
        "secret",
        ("convertto-securestring",),
        r"(?i:convertto-securestring)(?=[\s\S]{0,300}? -[A-Za-z])"
        r"(?:[ \t]{1,4}-(?i:string|asplaintext|force)){0,3}[ \t]{1,4}"
        r"(?:\\?\"((?:[^\"\\\n$]|\$(?![A-Za-z_{(])){4,128})|\\?'([^'\\\n]{4,128}))",
        'ConvertTo-SecureString "' + 'S3cretPa55" -AsPlainText -Force',
        "command",
        "argument_password",
    ),
    (
        "secret",
        ("smbclient",),
        r"smbclient(?=[ \t])" + _GOES_ON + r" -U[ \t]{0,4}" + _ARGUMENT.format(r"[^%\s\"']{1,60}%"),
        "smbclient //nas/share -U jane%" + "S3cretPa55",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("<string",),
        r"<string(?: name=\\?\"([^\"\\]{1,80})\\?\")?>([^\s<>]{6,512})</string>",
        '<string name="api_key">' + "9f8e7d6c5b4a32109f8e7d6c5b4a3210</string>",
        "element",
        "string_element",
    ),
    (
        "secret",
        ("pw", "pass", "passcode", "psk", "wpa_passphrase"),
        r"(?i:pw|pass|passcode|psk|wpa_passphrase)(?:\\?[\"'`])?\]?[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}"
        r"(?:\\?\"([^\s\"\\]{4,128})|\\?'([^\s'\\]{4,128})|`([^\s`]{4,128})"
        r"|([^\s\"'`,;()\[\]{}<>&|\\][^\s\"'`\\]{3,127}))",
        "use pw: " + "S3cretPa55",
        "short",
        "short_name",
    ),
    (
        "secret",
        (";pwd=", "; pwd="),
        r"(?i:; ?pwd=)\{?([^;\"'\s\\{}]{1,128})",
        "Driver=x;Uid=app;Pwd=" + "swordfish;",
        "word",
        "argument_password",
    ),
    (
        "secret",
        (":*:",),
        r":\*:[^\s:/@]{1,60}:[^\s:/@]{1,60}:([^\s:/@\"'\\]{4,128})(?=\s|\\n|\Z)",
        "db.acme.dev:*:app:jane:" + "S3cretPa55",
        "star",
        "argument_password",
    ),
    (
        "secret",
        (":5432:", ":6432:", ":5433:"),
        r":(?:5432|5433|6432):([^\s:/@]{1,60}):[^\s:/@]{1,60}:([^\s:/@\"'\\]{4,128})(?=\s|\\n|\Z)",
        "db.acme.dev:5432:shop:jane:" + "S3cretPa55",
        "colon",
        "pgpass_line",
    ),
    (
        "secret",
        (
            "session=",
            "sessionid=",
            "SESSID=",
            "SESSIONID=",
            "connect.sid=",
            "?key=",
            "&key=",
            "?sig=",
            "&sig=",
        ),
        r"(?:session(?:id)?|SESS(?:ION)?ID|connect\.sid|[?&](?:key"
        r"|sig))=([A-Za-z0-9_-]{20}[A-Za-z0-9_%.~+/-]{0,1024})",
        "-b 'session=" + "7jpHjykLHZ3CZ4fpENvRX2WYLsItCPif'",
        "foot",
        "random_value",
    ),
    (
        "secret",
        ("Signature=", "signature=", "?code=", "&code="),
        r"(?:[Ss]ignature|[?&]code)=([A-Za-z0-9_-]{20}[A-Za-z0-9_%.~+/-]{0,1024})",
        "https://x.dev/o?GoogleAccessId=x&Signature=" + "4AFjRqfdMI0lir0DnhZX7MbBwpDKSd7A2CT7Rd5SZRP8dw1",
        "foot",
        "random_value",
    ),
    # A name in bold, as Markdown has it.
    (
        "secret",
        (*(f"{name}{end}" for name in _LABELS for end in ("**", ":**")),),
        rf"(?i:{'|'.join(_LABELS)}):?\*\*[ \t]{{0,4}}[:=–-]?\s{{0,20}}"
        r"(?:`([^\s`]{4,256})`|\"([^\s\"]{4,256})\"|([^\s\"'`<>*|]{4,256}))",
        "- **Password**: " + "S3cretPa55",
        "word",
        "labelled",
    ),
    # --- Addresses ------------------------------------------------------------------------------------
    (
        "url-password",
        ("@tcp(", "@unix("),
        r"[\w.-]{1,40}:([^\s:/\"'`(){}<>]{1,100})@(?:tcp|unix)\(",
        "root:" + "S3cretPa55@tcp(127.0.0.1:3306)/shop",
        "inside",
        "url_password",
    ),
    (
        "url-password",
        ("oracle:thin:", "sqlplus "),
        r"(?:oracle:thin:|sqlplus (?:-[A-Za-z]{1,3} ){0,3})[A-Za-z0-9_$#]{1,40}/([^\s@/\"'\\]{1,100})@",
        "jdbc:oracle:thin:scott/" + "swordfish@//db:1521/orcl",
        "at",
        "argument_password",
    ),
    (
        "url-password",
        ("@",),
        r":(?:\\?/){2}([A-Za-z0-9_-]{20,255}:[^\s\"'<>/\\]{1,200})@(?=[A-Za-z0-9])",
        "https://" + "9f8e7d6c5b4a32109f8e7d6c5b4a3210:x-oauth-basic@github.com/acme/app",
        "url",
        "url_user",
    ),
    # --- Sentences ------------------------------------------------------------------------------------
    (
        "secret",
        _TOLD,
        rf"(?i:(?={'|'.join(_TOLD)})({_HUMAN}){_OF}{_VERB}){_SAID}",
        "the password for the staging db is " + "S3cretPa55",
        "word",
        "told",
    ),
    (
        "secret",
        ("token ", "token:", "key ", "key:", "secret ", "secret:", "bearer "),
        rf"(?i:((?:key|secret|token)(?=[ :])|bearer(?= ))"
        rf"(?:{_OF}{_VERB})?)[ ]{{1,3}}[\"'`]?([A-Za-z0-9_-]{{20}}[A-Za-z0-9_.~+/=-]{{0,512}})",
        "the API key for prod is " + "9f8e7d6c5b4a32109f8e7d6c5b4a3210",
        "spoken",
        "told_machine",
    ),
    (
        "secret",
        _NAMING,
        rf"(?i:(?={'|'.join(_NAMING)})(?:{_HUMAN})){_NAMED}",
        "log in as jane with password " + "S3cretPa55",
        "word",
        "named",
    ),
    (
        "secret",
        (
            "key is ",
            "token is ",
            "secret is ",
            "api key: ",
            "key you ",
            "token you ",
        ),
        r"(?i:(?=(?:key|token|secret) is |api key: |(?:key|token) you )"
        rf"((?:api )?key|token|secret){_OF}{_VERB})[ \t]{{1,3}}[\"'`]?([^\s\"'`<>(){{}}\[\]]{{8,256}})",
        "the api key is " + "9f8e/7d6C5b+4a32T09f8",
        "word",
        "told_mixed",
    ),
    (
        "secret",
        _SUBJECTS,
        r"(?<![^\s\"'`(])([^\s\"'`<>(){}]{6,256})[\"'`)]{0,2}"
        rf"(?i:(?= (?:as|is|was|ist|for|when) )(?=[^\n]{{0,120}}?(?:{'|'.join(_SUBJECTS)})))"
        r"(?i: (?:as|is|was|ist|for|when (?:it|you) (?:is |are )?ask(?:s|ed)?(?: you)? for) (?:the |your |my |our )?(?:[\w-]{1,20} ){0,3}"  # noqa: E501
        r"(?:password|passphrase|pw|api[ -]?key|access[ -]?key|secret|token))(?![\w-])",
        "use " + "S3cretPa55 as the password",
        "inside",
        "told_before",
    ),
    (
        "secret",
        _PAIRED,
        rf"(?i:(?={'|'.join(_PAIRED)})"
        r"(?:login|basic auth|authenticate|cred(?:ential)?s?|(?<=[rne]/)pass(?:word)?))"
        r"(?: (?:to|on|in|at) (?:the )?[\w.-]{1,40})?(?: (?:with|as|are|is|using|mit|for|sind|lauten))?:?"
        r" [\"'`]?[\w.@+-]{2,60}[\"'`]?(?: ?/ ?|:| and | with |, )"
        r"(?:(?:the )?(?:password|pw|pass):? )?[\"'`]?([^\s\"'`/:,;()]{4,128})",
        "login with admin / " + "S3cretPa55",
        "word",
        "pair",
    ),
    (
        "secret",
        _SENTENCE,
        rf"(?i:{'|'.join(_SENTENCE)})(?:(?<= )|s?[,:]? )(?:[^\s]{{1,40}} ){{0,8}}?[\"'`(]?"
        r"(?:[\w.-]{1,20}:)?((?<=[ \"'`(:])(?=[^\s]{0,60}?[0-9])"
        r"(?:[A-Za-z0-9_-]{2,40}[!#$%^&*?~][A-Za-z0-9!#$%^&*?~_-]{1,60}"
        r"|[A-Za-z0-9+/_-]{24,120}={0,2}))(?=[\s.,;:!?)\"'`\\]|\Z)",
        "log in as admin with " + "Kestrel77!xy",
        "sentence",
        "within_sentence",
    ),
    (
        "secret",
        ("send ",),
        r"send (?:-- )?\\?\"([^\s\"\\$]{4,128})\\{1,2}[rn]",
        'expect "password:" { send "' + 'S3cretPa55\\r" }',
        "beside",
        "sent_password",
    ),
    (
        "secret",
        ("api key", "password", "token"),
        r"(?i:api key|password|token)(?:\r?\n|\\n){1,2}"
        r"[ \t]{0,8}([^\s\"'`\\]{8,256})(?=\s|\\n|\Z)",
        "API key\n" + "9f8e7d6c5b4a32109f8e7d6c5b4a3210\n",
        "line",
        "below_name",
    ),
    (
        "secret",
        ("password",),
        r"(?i:password)[^\n:]{0,60}:(?:\r?\n|\\n){1,3}([A-Za-z0-9]{12,64})(?=\s|\\n|\Z)",
        "Please use the following password to proceed:\n\n" + "3f9a1c7be04d5826" + "9b1e7c20af84d356",
        "word",
        "random_value",
    ),
)
