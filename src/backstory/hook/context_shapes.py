"""Secrets that have no shape of their own, told by a command, a statement, a file or a sentence around them.

Rows of the table in patterns.py, as tuples. Nothing is imported here: the hook loads this file.
"""

# A word of a command line, in quotes or not, of which {} is no secret.
_ARGUMENT = r"(?:\\?\"{0}([^\s\"\\]{{1,256}})|\\?'{0}([^\s'\\]{{1,256}})|{0}([^\s\"'`;|&<>()\\]{{1,256}}))"
_ARG = _ARGUMENT.format("")
_AFTER_PERCENT = _ARGUMENT.format(r"[^%\s]{1,60}%")
_AFTER_COMMA = _ARGUMENT.format(r"[^,\s]{1,60},")
_AFTER_COLON = _ARGUMENT.format(r"[^:\s]{1,60}:")
_GOES_ON = r"(?:(?!&&|;[ \t]|\\n)[^\n|]){0,200}?"
_PIPED = (
    r"[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4}(?:-[A-RT-Za-z]{1,3}[ \t]{1,4})?-S|(?:sudo[ \t]{1,4})?chpasswd"
    r"|[^\n|;&]{0,120}?(?:--password-stdin|--with-token|--stdin|--data-file=-|--passphrase-fd|-pass stdin))"
)
_SECRETS = r"(?i:pass(?:word|wd|phrase|code|wort)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
_COLUMNS = r"(?i:(?:[a-z]{1,12}_)?(?:password|passwd|passwort|passphrase|secret|token|api[_-]?key|secret[_-]?key))"

# Sentences: what is told, of what, the verb.
_HUMAN = (
    r"pass(?:word|phrase|code|wort|wd)s?|kennwort|pw|wachtwoord|has[lł]o|parola|l(?:ö|o)senord|mot de passe|mdp"
    r"|contrase(?:ñ|n)a|clave|senha|(?:master|root|admin)[ _-]?pw"
)
_MACHINE = r"(?:api|access|secret|private|license|signing|encryption)[ -]?(?:key|code)|secret|token|key"
_OF = (
    r"(?: (?:is|was) (?:re)?generated)?(?: (?:for|of|to|on|in|at|für|vom|von|der|des|dem|zum|de|del|du|pour|para"
    r"|da|do|per|di|van|voor)(?: [^\s:=\"'`]{1,40}){1,5}?)?"
)
_VERB = (
    r"(?: (?:is|was|are|will be|should be|ist|lautet|war|est|es|era|é|è|era|to|auf|à|a|como)(?=[ :])"
    r"(?: (?:now|still|currently|again|jetzt|nun|maintenant|ahora|this|just))?:?|[ \u00a0]?[:=]|[ \u00a0]?(?:->|=>|→|–|—|⇒))"
)
_SAID = r"[ \t\u00a0]{1,3}(?:\"([^\"\n]{4,120})\"|'([^'\n]{4,120})'|`([^`\n]{4,120})`|([^\s\"'`]{4,256}))"
_NAMED = r" (?:[\"'`]([^\s\"'`]{4,256})[\"'`]|([^\s\"'`]{4,256}))"

ROWS = (
    (
        "private-key",
        ("private-lines",),
        r"Private-Lines:[ \t]{0,4}[0-9]{1,4}((?:(?:[\s\"'+,>|]|\\[nr]){1,40}+(?!Private-)[A-Za-z0-9+/]{4,}+={0,2})++"
        r"(?:(?:[\s\"'+,>|]|\\[nr]){1,40}+Private-(?:MAC|Hash):[ \t]{0,4}[0-9a-f]{1,128})?)",
        "Private-" + "Lines: 1\nAAAAIHk2Jf83hGq01LpZx7VbNm4RtYk2Jf83hGq01LpZx7Vb",
        "word",
        "whole",
    ),
    (
        "private-key",
        ("kty",),
        r"\\?[\"']d\\?[\"'][ \t]{0,4}:[ \t]{0,4}\\?[\"']([A-Za-z0-9_-]{20,2000})",
        '{"kty":"OKP","crv":"Ed25519","d":"' + 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"',
        "inside",
        "jwk",
    ),
    # --- Commands -------------------------------------------------------------------------------------
    (
        "secret",
        ("echo", "printf"),
        rf"(?:echo|printf)(?:[ \t]{{1,4}}-[neE]{{1,3}})?(?:[ \t]{{1,4}}[\"']%s(?:\\n)?[\"'])?[ \t]{{1,4}}"
        rf"{_ARG}[\"'\\]{{0,2}}{_PIPED}",
        "echo " + "hunter2xyz | docker login -u jane --password-stdin",
        "word",
        "option_password",
    ),
    (
        "secret",
        ("-stdin", "sudo -s"),
        rf"(?:-stdin|sudo -S){_GOES_ON}[ \t]{{0,4}}<<<[ \t]{{0,4}}{_ARG}",
        "docker login -u jane --password-stdin <<< '" + "hunter2xyz'",
        "word",
        "option_password",
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
        ("7z", "rar"),
        rf"(?:7za?|rar)(?=[ \t]){_GOES_ON} -h?p{_ARG}",
        "7z x -p" + "S3cretPa55 x.7z",
        "command-p",
        "tool_password",
    ),
    (
        "secret",
        ("rdesktop", "registry login", "twine upload", "az login", "useradd", "usermod", "cf login", "oc login"),
        rf"(?:rdesktop|registry login|twine upload|az login|user(?:add|mod)|(?:cf|oc) login)(?=[ \t]){_GOES_ON} -p[ \t=]{{1,4}}{_ARG}",
        "helm registry login r.acme.dev -u jane -p " + "S3cretPa55",
        "command-p",
        "option_password",
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
        ("ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete", "ldappasswd"),
        rf"ldap(?:search|add|modify|whoami|delete|passwd)(?=[ \t]){_GOES_ON} -w[ \t]{{0,4}}{_ARG}",
        "ldapsearch -D cn=admin -w " + "S3cretPa55 -b dc=acme",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("smbclient", "rpcclient", "lftp", "http", "xh", "ncftp"),
        rf"(?:(?:smb|rpc)client(?=[ \t]){_GOES_ON} -U[ \t]{{0,4}}{_AFTER_PERCENT}"
        rf"|lftp(?=[ \t]){_GOES_ON} -u[ \t]{{0,4}}{_AFTER_COMMA}"
        rf"|(?:https?|xh)(?=[ \t]){_GOES_ON} -a[ \t]{{0,4}}{_AFTER_COLON})",
        "http -a jane:" + "S3cretPa55 https://api.acme.dev",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("htpasswd",),
        rf"htpasswd[ \t]{{1,4}}(?:-[A-Za-z]{{1,8}}[ \t]{{1,4}}){{0,4}}(?<=b )(?:[^\s-][^\s]{{0,200}}[ \t]{{1,4}}){{1,2}}{_ARG}(?=\s|\\n|\Z|[;|&>])",
        "htpasswd -b .htpasswd jane " + "S3cretPa55",
        "command",
        "option_password",
    ),
    (
        "secret",
        ("net user ",),
        rf"net user [A-Za-z0-9._-]{{1,40}} (?!/){_ARG}",
        "net user jane " + "S3cretPa55 /add",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("storepass", "keypass", "-passin", "-passout", "-pass pass:", "mysqladmin", "requirepass", "masterauth"),
        rf"(?:(?:(?:dest|src)?(?:store|key)pass|-pass(?:in|out)?(?=[ \t]{{1,4}}pass:)|requirepass|masterauth)[ \t]{{1,4}}(?:pass:)?"
        rf"|mysqladmin(?=[ \t]){_GOES_ON} password[ \t]{{1,4}}){_ARG}",
        "keytool -list -storepass " + "swordfish -keystore x",
        "word",
        "tool_password",
    ),
    (
        "secret",
        ("xfreerdp", "vault login", "convertto-securestring"),
        rf"(?i:xfreerdp(?=[ \t]){_GOES_ON} /p:|vault login[ \t]{{1,4}}|convertto-securestring(?:[ \t]{{1,4}}-string)?[ \t]{{1,4}}){_ARG}",
        "xfreerdp /u:jane /p:" + "S3cretPa55 /v:srv",
        "word",
        "quoted_password",
    ),
    (
        "secret",
        ("auth ", "auth=("),
        r"(?:AUTH[ \t](?:PLAIN[ \t]|[a-z][\w.]{1,20}[ \t])?([^\s\"'`;|&<>()\\]{6,256})(?=[ \t]*+(?:\Z|\r|\n|\\[nr]))"
        r"|auth=\([\"'][^\"'\n]{1,80}[\"'],[ \t]{0,4}[\"']([^\"'\s]{4,128})[\"'])",
        "redis> AUTH default " + "s6KDZnI9yAOCS22g5S1d\n",
        "word",
        "quoted_password",
    ),
    # --- SQL ------------------------------------------------------------------------------------------
    (
        "secret",
        ("identified ",),
        r"(?i:identified (?:with [\w\"'`]{1,60} )?(?:by|as)[ \t]{1,4}(?:password[ \t]{1,4})?)(?:\\?'([^'\\\n]{1,200})|\\?\"([^\"\\\n]{1,200}))",
        "CREATE USER jane IDENTIFIED BY '" + "swordfish';",
        "word",
        "option_password",
    ),
    (
        "secret",
        ("password '", "password('", "password ('", "password = '", "password for "),
        r"(?i:password(?: for [^\s=]{1,80} =(?: password)?)?)(?:[ \t]{0,3}\(|[ \t]{0,3}=)?[ \t]{0,3}'([^'\\\n]{1,200})'",
        "ALTER ROLE jane WITH PASSWORD '" + "swordfish';",
        "word",
        "sql_password",
    ),
    (
        "secret",
        ("insert into ",),
        r"(?i:insert into )[\w.\"`\[\]]{1,120}[ \t]{0,4}\(([^()]{1,2000})\)\s{0,20}(?i:values)\s{0,20}\(",
        "INSERT INTO users (name, password) VALUES ('jane', '" + "S3cretPa55');",
        "block",
        "inserted",
    ),
    # --- Files ----------------------------------------------------------------------------------------
    (
        "secret",
        ("password", "passwd", "passwort", "passphrase", "secret", "token", "api_key", "apikey", "api-key"),
        rf"{_COLUMNS}[ \t\"`*]{{0,40}}(?=[|,;\t\r\n]|\\[ntr]|\Z)",
        "user,password\njane," + "S3cretPa55\n",
        "block",
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
        ("pass", "pwd", "secret", "token", "key"),
        rf"{_SECRETS}(?:(?:\\?[\"'])?[ \t\r\n]{{1,20}}value=\\?[\"']|\\?[\"'][ \t]{{0,4}},[ \t\r\n]{{0,40}}\\?[\"']value\\?[\"'][ \t]{{0,4}}:[ \t]{{0,4}}\\?[\"']"
        r"|</(?:key|name)>\s{0,40}<(?:string|value)>|[\"']>(?=[^<\s]{4,256}</string>)|\([\"'](?=[^\"'\s]{4,256}[\"']\))"
        r"|['\"][ \t]{0,4},[ \t]{0,4}['\"](?=[^\"'\n]{4,256}['\"][ \t]{0,4}\)[ \t]{0,4};))"
        r"([^\s\"'<>\\]{4,512})",
        '<add key="DbPassword" value="' + 'S3cretPa55" />',
        "word",
        "beside_name",
    ),
    (
        "secret",
        ("pw", "pass", "psk"),
        r"(?i:pw|pass|psk|passcode|wpa_passphrase)(?:\\?[\"'`])?[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}"
        r"(?:\\?\"([^\s\"\\]{4,128})|\\?'([^\s'\\]{4,128})|`([^\s`]{4,128})|([^\s\"'`,;()\[\]{}<>&|\\]{4,128}))",
        "use pw: " + "S3cretPa55",
        "word",
        "short_name",
    ),
    (
        "secret",
        ("mnemonic", "seed phrase", "seed_phrase", "recovery phrase"),
        r"(?i:mnemonic|(?:seed|recovery)[ _]phrase)(?:[\"'`\\]{0,2}[ \t]{0,4}[:=]|[ \t]is:?)?[ \t]{0,4}[\"'`\\]{0,2}"
        r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z ])",
        'MNEMONIC="' + 'zebra quick onion velvet dolphin rapid castle ember frozen guitar humble jelly"',
        "word",
        "whole",
    ),
    (
        "secret",
        (";pwd=", "; pwd="),
        r"(?i:; ?pwd=)([^;\"'\s\\]{1,128})",
        "Driver=x;Uid=app;Pwd=" + "swordfish;",
        "word",
        "option_password",
    ),
    (
        "secret",
        (":5432:", ":3306:", ":*:"),
        r":(?:5432|3306|\*):[^\s:/@]{1,60}:[^\s:/@]{1,60}:([^\s:/@\"'\\]{4,128})(?=\s|\\n|\Z)",
        "db.acme.dev:5432:app:jane:" + "S3cretPa55",
        "word",
        "option_password",
    ),
    (
        "secret",
        ("session=", "sessionid=", "SESSID=", "SESSIONID=", "connect.sid="),
        r"(?:session(?:id|_id)?|SESS(?:ION)?ID|connect\.sid)=([A-Za-z0-9._%+/-]{16,1024})",
        "-b 'session=" + "7jpHjykLHZ3CZ4fpENvRX2WYLsItCPif'",
        "equals",
        "random_value",
    ),
    (
        "secret",
        ("key=", "sig=", "Signature=", "code=", "token="),
        r"(?:[?&]|\\u0026)(?:key|sig|code)=([A-Za-z0-9_%.~+/-]{20,1024})|[Ss]ignature=([A-Za-z0-9_%+/-]{32,1024}={0,2})",
        "https://maps.acme.dev/x?key=" + "poseSTNNsHBBochCUSXIGpWOXANzN46P9BT0Rm7",
        "equals",
        "random_value",
    ),
    # --- Addresses ------------------------------------------------------------------------------------
    (
        "url-password",
        ("@tcp(", "@unix(", "@"),
        r"[\w.-]{1,40}:([^\s:@/\"'`(){}<>]{1,100})@(?:tcp|unix)\(|:(?:\\?/){2}([A-Za-z0-9_-]{20,255})@(?=[A-Za-z0-9])",
        "root:" + "S3cretPa55@tcp(127.0.0.1:3306)/shop",
        "inside",
        "address_password",
    ),
    (
        "url-password",
        ("oracle:thin:", "sqlplus "),
        r"(?:oracle:thin:|sqlplus (?:-[A-Za-z]{1,3} ){0,3})[A-Za-z0-9_$#]{1,40}/([^\s@/\"'\\]{1,100})@",
        "jdbc:oracle:thin:scott/" + "swordfish@//db:1521/orcl",
        "word",
        "option_password",
    ),
    # --- Sentences ------------------------------------------------------------------------------------
    (
        "secret",
        (
            *("password", "passphrase", "passcode", "passwort", "passwd ", "kennwort", "pw ", "wachtwoord", "mdp "),
            *("mot de passe", "contrase", "clave ", "senha ", "parola", "haslo"),
        ),
        rf"(?i:({_HUMAN}){_OF}{_VERB}){_SAID}",
        "the password for the staging db is " + "S3cretPa55",
        "word",
        "told",
    ),
    (
        "secret",
        ("token ", "key ", "key:", "secret ", "access code ", "token:"),
        rf"(?i:({_MACHINE}){_OF}{_VERB}){_SAID}",
        "the API key for prod is " + "9f8e7d6c5b4a32109f8e7d6c5b4a3210",
        "word",
        "told_machine",
    ),
    (
        "secret",
        ("password ", "passphrase ", "passwort ", "kennwort ", "pw ", "mot de passe ", "contrase"),
        rf"(?i:{_HUMAN}){_NAMED}",
        "log in as jane with password " + "S3cretPa55",
        "word",
        "named",
    ),
    (
        "secret",
        ("token ", "key ", "bearer "),
        rf"(?i:token|key|bearer){_NAMED}",
        "use this token " + "9f8e7d6c5b4a32109f8e7d6c5b4a3210",
        "word",
        "named_machine",
    ),
    (
        "secret",
        ("login ", "log in ", "sign in ", "credential", "creds", "zugangsdaten", "user/pass", "username/password"),
        r"(?i:log ?in|sign in|cred(?:ential)?s?|zugangsdaten|user/pass|username/password)(?: (?:with|as|are|is|using|mit|for))?:?"
        r" [\"'`]?[\w.@+-]{2,60}(?: ?/ ?|:)[\"'`]?([^\s\"'`/:,;()]{4,128})",
        "login with admin / " + "S3cretPa55",
        "word",
        "pair",
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
