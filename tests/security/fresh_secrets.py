"""A second set of fake secrets, written before its author had read the detector; in the language of fake_secrets.py.

Half of it, by a hash of the family, was never looked at while the rules were changed: its rates are the honest ones.
"""

import hashlib
import random
import re
import string
from collections.abc import Iterator

from tests.security import fake_secrets
from tests.security.fake_secrets import Fake

_WORDS = [
    "falcon",
    "meadow",
    "copper",
    "lantern",
    "orbit",
    "velvet",
    "harbor",
    "thunder",
    "pickle",
    "saddle",
    "walnut",
    "ribbon",
    "glacier",
    "tunnel",
    "candle",
]
_SIGNS = string.ascii_letters + string.digits + "!@#%^*-_+=?.~"


def _password(rng: random.Random) -> str:
    word, other = rng.choice(_WORDS), rng.choice(_WORDS)
    return rng.choice(
        (
            f"{word.capitalize()}{rng.randrange(1000, 9999)}{rng.choice('!#?*')}",
            "".join(rng.choice(_SIGNS) for _ in range(13)) + str(rng.randrange(10)),
            word.translate(str.maketrans("aeo", "430")) + str(rng.randrange(10, 99)),
            f"{word}-{other}-{rng.choice(_WORDS)}{rng.randrange(10)}",
            f"{word.capitalize()}{rng.choice('&$@')}{other}{rng.randrange(100)}",
        )
    )


def held_back(family: str) -> bool:
    """Whether it belongs to the half whose failures nobody looked at."""
    return hashlib.sha256(f"msec:{family}".encode()).digest()[0] % 2 == 1


def fakes() -> Iterator[Fake]:
    """All of them."""
    for category, rows in _SETS:
        for number, row in enumerate(filter(None, map(str.strip, rows.strip().split("\n")))):
            yield _fake(category, number, row)


def _fake(category: str, number: int, row: str) -> Fake:
    family, _, template = row.partition(" ")
    template = (
        template.strip().replace("\\n", "\n").replace("⏎", "\\n").replace("\\t", "\t").replace("{KEY}", "KEY")
    )
    if category != "bare" and "⟦" not in template:
        template = f"⟦{template}⟧"
    if "⟦" not in template:
        carriers = fake_secrets.CARRIERS
        template = carriers[number % len(carriers)].replace("{}", f"⟦{template}⟧")
    rng = random.Random(f"{category}/{family}")
    template = re.sub(r"\{pw\}", lambda _: _password(rng), template)
    template = re.sub(r"\{word\}", lambda _: rng.choice(_WORDS), template)
    text = fake_secrets.filled(template, rng)
    secrets = tuple(fake_secrets.MARK.findall(text))
    text = fake_secrets.MARK.sub(r"\1", text)
    return Fake(category, f"{category}/{family}", text.replace("{REPEAT}", secrets[0]), secrets)


def harmless() -> list[str]:
    """Lines that hold no secret."""
    return [line.replace("⏎", "\n") for line in HARMLESS.strip("\n").split("\n") if line]


BARE = r"""
aws-akia AKIA{b32_16}
aws-asia-in-json {"AccessKeyId":"⟦ASIA{b32_16}⟧","Expiration":"2026-02-01T00:00:00Z"}
aws-bedrock ABSK{b64_120}=
gh-classic ghp_{an36}
gh-oauth gho_{an36}
gh-server ghs_{an36}
gh-fine github_pat_{an22}_{an59}
gitlab-pat glpat-{url20}
gitlab-routable glpat-{url27}.01.{lo9}
gitlab-trigger glptt-{hex40}
gitlab-runner glrt-{url20}
gitlab-deploy gldt-{url20}
gitlab-feed glft-{url20}
gitlab-cluster glagent-{url50}
gitlab-cijob glcbt-64_{url20}
slack-bot xoxb-{dig12}-{dig13}-{an24}
slack-user xoxp-{dig12}-{dig12}-{dig13}-{hex32}
slack-app xapp-1-A{UP10}-{dig13}-{hex64}
slack-refresh xoxe-1-{an146}
slack-hook https://hooks.slack.com/services/⟦T{UP8}/B{UP10}/{an24}⟧
slack-workflow https://hooks.slack.com/workflows/⟦T{UP8}/A{UP10}/{dig18}/{an24}⟧
discord-hook https://discord.com/api/webhooks/{dig18}/⟦{url68}⟧
discord-bot M{an25}.{url6}.{url38}
teams-hook https://contoso.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/⟦{hex32}⟧/{uuid}
stripe-live sk_live_{an24}
stripe-restricted rk_live_{an99}
stripe-test sk_test_51{an97}
stripe-webhook whsec_{an32}
openai-proj sk-proj-{url74}T3BlbkFJ{url74}
openai-svc sk-svcacct-{url58}T3BlbkFJ{url58}
openai-old sk-{an20}T3BlbkFJ{an20}
anthropic sk-ant-api03-{url93}AA
anthropic-admin sk-ant-admin01-{url93}AA
anthropic-oauth sk-ant-oat01-{url86}AA
openrouter sk-or-v1-{hex64}
groq gsk_{an52}
xai xai-{an80}
perplexity pplx-{an48}
huggingface hf_{al34}
replicate r8_{an37}
cerebras csk-{lo48}
nvidia nvapi-{url64}
together tgp_v1_{url43}
fireworks fw_{an24}
jina jina_{hex32}{an28}
tavily tvly-dev-{an32}
firecrawl fc-{hex32}
langsmith lsv2_pt_{hex32}_{hex10}
langfuse sk-lf-{uuid}
pinecone pcsk_{an6}_{an63}
elevenlabs sk_{hex48}
deepseek sk-{hex32}
google-api AIza{url35}
google-oauth-secret GOCSPX-{url28}
google-refresh 1//0{an1}{url80}
google-access ya29.a0{url150}
firebase-fcm AAAA{url7}:APA91b{url134}
azure-client-secret {an3}8Q~{an34}
azure-storage AccountKey=⟦{b64_86}==⟧;EndpointSuffix=core.windows.net
azure-sas https://acct.blob.core.windows.net/c/b.zip?sv=2023-11-03&se=2026-12-01&sr=b&sp=r&sig=⟦{an40}%2B%3D⟧
azure-devops {an52}JQQJ99{UP18}AZDO{an4}
azure-func-key {url43}xAzFu{an5}A==
do-pat dop_v1_{hex64}
do-refresh dor_v1_{hex64}
do-spaces DO{UP18} / ⟦{an43}⟧ is the spaces secret
heroku-new HRKU-AA{url58}
npm npm_{an36}
pypi pypi-AgEIcHlwaS5vcmc{url85}
rubygems rubygems_{hex48}
crates cio{an32}
nuget oy2{lo43}
clojars CLOJARS_{hex60}
docker-pat dckr_pat_{url27}
docker-oat dckr_oat_{url32}
shopify shpat_{hex32}
shopify-secret shpss_{hex32}
square-access EAAA{url60}
square-secret sq0csp-{url43}
twilio-key SK{hex32}
twilio-pair account AC{hex32} with auth token ⟦{hex32}⟧
sendgrid SG.{url22}.{url43}
brevo xkeysib-{hex64}-{an16}
mailgun key-{hex32}
mailchimp {hex32}-us14
mailersend mlsn.{hex64}
resend re_{an8}_{an24}
postman PMAK-{hex24}-{hex34}
newrelic NRAK-{UP27}
newrelic-ingest {hex36}FFFFNRAL
grafana-sa glsa_{an32}_{hex8}
grafana-cloud glc_eyJvIjoi{b64_80}=
datadog-app ddapp_{an34}
dynatrace dt0c01.{b32_24}.{b32_64}
sentry-user sntryu_{hex64}
sentry-org sntrys_eyJpYXQiOjE3{b64_120}_{b64_43}
honeycomb hcaik_01{lo24}{lo32}
axiom xaat-{uuid}
posthog phx_{an43}
linear lin_api_{an40}
notion ntn_{dig11}{an35}
notion-old secret_{an43}
airtable pat{an14}.{hex64}
asana 1/{dig16}:{hex32}
figma figd_{url40}
atlassian ATATT3xFfGF0{url176}={HEX8}
bitbucket-app ATBB{an24}{HEX8}
hubspot pat-na1-{uuid}
typeform tfp_{url44}_{url14}
contentful CFPAT-{url43}
databricks dapi{hex32}-2
planetscale-pw pscale_pw_{url43}
supabase sbp_{hex40}
supabase-secret sb_secret_{url22}_{url8}
neon napi_{lo64}
netlify nfp_{an36}
vercel vcp_{an56}
render rnd_{an28}
fly FlyV1 fm2_{b64_120}
cloudflare-ca v1.0-{hex24}-{hex146}
pulumi pul-{hex40}
terraform-cloud {an14}.atlasv1.{url67}
doppler dp.pt.{an43}
vault hvs.{url24}
vault-batch hvb.{url140}
infracost ico-{an32}
sonar squ_{hex40}
sourcegraph sgp_{hex16}_{hex40}
buildkite bkua_{hex40}
circleci CCIPAT_{an22}_{hex40}
codeclimate-none snyk_uat.{hex8}.{url80}
tailscale tskey-auth-k{an12}CNTRL-{an32}
ngrok-api 2{an26}_{an21} is my ngrok authtoken
telegram {dig10}:AA{url33}
linkedin-app WPL_AP1.{an16}.{b64_6}==
facebook EAAM{an160}ZD
twitter-bearer AAAAAAAAAAAAAAAAAAAAA{an80}%3D{an40}
mapbox sk.eyJ1{an60}.{url22}
razorpay rzp_live_{an14} secret ⟦{an24}⟧
flutterwave FLWSECK-{hex32}-X
paystack sk_live_{hex40}
braintree access_token$production${lo16}${hex32}
plaid access-production-{uuid}
easypost EZAK{an54}
shippo shippo_live_{hex40}
duffel duffel_live_{url43}
age AGE-SECRET-KEY-1{bech58}
onepassword-sa ops_eyJ{b64_260}
onepassword-key A3-{UP6}-{UP11}-{UP5}-{UP5}-{UP5}
openshift sha256~{url43}
jwt eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{url80}.{url43}
paseto v2.local.{url180}
artifactory AKCp8{an64}
octopus API-{UP29}
launchdarkly sdk-{uuid}
clerk sk_live_{an42}
stytch secret-live-{url35}=
ory ory_pat_{an32}
apify apify_api_{an36}
browserbase bb_live_{url27}
modal as-{an22}
e2b e2b_{hex40}
prefect pnu_{an36}
dbt dbtu_{url42}
yandex AQVN{url35}
alibaba LTAI{an20}
tencent AKID{an32}
adafruit aio_{an28}
readme rdme_{lo70}
"""

ASSIGNED = r"""
env-plain DB_PASSWORD=⟦{pw}⟧
env-export export GRAFANA_ADMIN_PASSWORD='⟦{pw}⟧'
env-quoted SMTP_PASS="⟦{pw}⟧"
env-fish set -gx JIRA_API_TOKEN ⟦{an24}⟧
env-csh setenv FTP_PASSWORD ⟦{pw}⟧
env-powershell $env:AZURE_CLIENT_SECRET = "⟦{an40}⟧"
env-cmd set PGPASSWORD=⟦{pw}⟧
env-cmd-quoted set "MYSQL_PWD=⟦{pw}⟧"
env-setx setx CI_TOKEN ⟦{an32}⟧ /M
yaml-plain   admin_password: ⟦{pw}⟧
yaml-block env:\n  - name: SESSION_SECRET\n    value: ⟦{b64_40}⟧
yaml-quoted secret_key_base: "⟦{hex128}⟧"
json-plain {"user":"svc","password":"⟦{pw}⟧","port":5432}
json-camel {"clientId":"web","clientSecret":"⟦{an32}⟧"}
json-escaped "{\"apiKey\":\"⟦{an32}⟧\"}"
json-token { "refresh_token" : "⟦{url43}⟧" }
toml-plain [auth]\nsecret = "⟦{an30}⟧"
ini-plain [smtp]\nuser = mailer\npasswd = ⟦{pw}⟧
properties spring.datasource.password=⟦{pw}⟧
properties-jasypt jasypt.encryptor.password: ⟦{pw}⟧
xml-element <password>⟦{pw}⟧</password>
xml-attr <add key="ApiKey" value="⟦{an32}⟧" />
xml-attr-pw <user name="root" password="⟦{pw}⟧" roles="manager-gui"/>
xml-server <server><id>nexus</id><username>ci</username><password>⟦{pw}⟧</password></server>
python-plain password = "⟦{pw}⟧"
python-kw conn = connect(host="db", user="app", password="⟦{pw}⟧", dbname="app")
python-dict cfg = {'secret_key': '⟦{an50}⟧', 'debug': True}
python-tuple requests.get(url, auth=("svc-deploy", "⟦{pw}⟧"))
python-environ os.environ["STRIPE_KEY"] = "⟦{an32}⟧"
python-default API_SECRET = os.getenv("API_SECRET", "⟦{an32}⟧")
python-bytes SIGNING_KEY = b"⟦{an32}⟧"
js-const const jwtSecret = '⟦{an32}⟧';
js-obj new Client({ user: 'pg', password: '⟦{pw}⟧', port: 5432 })
js-template const authToken = `⟦{an32}⟧`
js-or const key = process.env.API_KEY || '⟦{an32}⟧';
ts-field private readonly apiKey: string = "⟦{an32}⟧";
go-short dbPassword := "⟦{pw}⟧"
go-const const apiToken string = "⟦{an40}⟧"
go-struct &Config{Username: "admin", Password: "⟦{pw}⟧"}
java-string private static final String DB_PASSWORD = "⟦{pw}⟧";
java-setter dataSource.setPassword("⟦{pw}⟧");
kotlin-val val clientSecret: String = "⟦{an32}⟧"
csharp-string var connectionSecret = @"⟦{an32}⟧";
csharp-prop public string ApiKey { get; set; } = "⟦{an32}⟧";
rust-const const ADMIN_TOKEN: &str = "⟦{an32}⟧";
ruby-hash config.secret_key = '⟦{hex64}⟧'
ruby-rocket { :password => "⟦{pw}⟧", :host => "db" }
php-define define('DB_PASSWORD', '⟦{pw}⟧');
php-array 'password' => '⟦{pw}⟧',
php-var $dbpass = '⟦{pw}⟧';
perl-dbi my $password = q{⟦{pw}⟧};
elixir config :app, App.Repo, username: "postgres", password: "⟦{pw}⟧"
swift let apiSecret = "⟦{an32}⟧"
cpp-define #define WIFI_PASSWORD "⟦{pw}⟧"
arduino const char* password = "⟦{pw}⟧";
lua local api_key = "⟦{an32}⟧"
r-sys Sys.setenv(OPENAI_API_KEY = "⟦{an40}⟧")
matlab apiKey = '⟦{an32}⟧';
makefile DEPLOY_TOKEN ?= ⟦{an32}⟧
dockerfile-env ENV MYSQL_ROOT_PASSWORD ⟦{pw}⟧
dockerfile-arg ARG NPM_AUTH=⟦{an36}⟧
compose       POSTGRES_PASSWORD: ⟦{pw}⟧
compose-list       - REDIS_PASSWORD=⟦{pw}⟧
gh-actions   env:\n    SONAR_LOGIN: ⟦{hex40}⟧
terraform-var variable "db_password" {\n  default = "⟦{pw}⟧"\n}
terraform-attr   master_password     = "⟦{pw}⟧"
tfvars aws_secret_key = "⟦{b64_40}⟧"
tfstate "password": {\n  "value": "⟦{pw}⟧",\n  "type": "string"\n}
ansible-var ansible_ssh_pass: ⟦{pw}⟧
ansible-host web1 ansible_host=10.0.0.4 ansible_user=ops ansible_password=⟦{pw}⟧
nix services.foo.passwordFile = null; services.foo.password = "⟦{pw}⟧";
gradle signingPassword=⟦{pw}⟧
gradle-kts storePassword = "⟦{pw}⟧"
cmake set(DEPLOY_PASSWORD "⟦{pw}⟧")
url-query https://api.example.com/v1/items?api_key=⟦{an32}⟧&page=2
url-query-token GET /hook?access_token=⟦{hex40}⟧ HTTP/1.1
form-body grant_type=password&username=jo&password=⟦{an14}⟧
multipart Content-Disposition: form-data; name="password"\n\n⟦{pw}⟧
graphql mutation { login(email: "a@b.io", password: "⟦{pw}⟧") { token } }
log-kv level=debug msg="login" user=root pass=⟦{an12}⟧ ip=10.1.1.1
log-dump Config(host='db', user='app', password='⟦{pw}⟧')
ruby-inspect #<Config host="db", api_token="⟦{an32}⟧">
java-tostring Credentials{username=svc, password=⟦{an14}⟧, realm=x}
go-dump {Host:db User:app Password:⟦{an14}⟧ Port:5432}
diff-line -  rootPassword: ⟦{pw}⟧
paren-pass DB_PASS=⟦vault(9xQ!k⟧
paren-word ADMIN_PASSWORD=⟦summer(2{dig3}⟧
umlaut-key passwort = ⟦{pw}⟧
spanish-key contraseña: ⟦{pw}⟧
french-key mot_de_passe = "⟦{pw}⟧"
passphrase-words BACKUP_PASSPHRASE="⟦{word} {word} {dig2} {word}⟧"
helm --set postgresql.auth.password=⟦{pw}⟧
nodejs-basic-auth headers: { Authorization: 'Basic ' + btoa('ops:⟦{pw}⟧') }
cookie-secret SESSION_COOKIE_SECRET=⟦{hex64}⟧
wp-salt define( 'AUTH_KEY', '⟦{an30}|{an20}⟧' );
django SECRET_KEY = 'django-insecure-⟦{lo50}⟧'
rails-cred secret_key_base: ⟦{hex128}⟧
laravel APP_KEY=base64:⟦{b64_43}=⟧
snmp rocommunity ⟦{an14}⟧ 10.0.0.0/8
wpa  psk="⟦{pw}⟧"
cisco enable secret 0 ⟦{pw}⟧
"""

DATABASE = r"""
pg-url postgres://app:⟦{pw}⟧@db.internal:5432/app
pg-ssl postgresql+psycopg2://svc:⟦{pw}⟧@10.0.0.2/app?sslmode=require
pg-dsn host=db port=5432 user=app password=⟦{pw}⟧ dbname=app
pg-query postgresql://db/app?user=app&password=⟦{an14}⟧
mysql-url mysql://root:⟦{pw}⟧@127.0.0.1:3306/shop
mysql-go root:⟦{pw}⟧@tcp(127.0.0.1:3306)/shop?parseTime=true
mongo-srv mongodb+srv://admin:⟦{pw}⟧@cluster0.ab1cd.mongodb.net/test
redis-url redis://:⟦{pw}⟧@cache:6379/0
rediss-user rediss://default:⟦{an40}⟧@eu1.upstash.io:6379
amqp amqps://user:⟦{pw}⟧@mq.example.com/vhost
mssql-ado Server=tcp:db,1433;User ID=sa;Password=⟦{pw}⟧;Encrypt=true;
mssql-pwd Data Source=db;UID=sa;PWD=⟦{pw}⟧
jdbc-mysql jdbc:mysql://db:3306/app?user=root&password=⟦{an14}⟧
jdbc-oracle jdbc:oracle:thin:scott/⟦{an12}⟧@//dbhost:1521/ORCL
jdbc-sqlserver jdbc:sqlserver://db;databaseName=x;user=sa;password=⟦{pw}⟧;
odbc Driver={ODBC Driver 18};Server=db;Uid=app;Pwd={⟦{an14}⟧};
snowflake snowflake://jo:⟦{pw}⟧@acct/db/schema
clickhouse clickhouse://default:⟦{pw}⟧@ch:9000/default
smtp-url smtps://mailer%40x.io:⟦{an16}⟧@smtp.x.io:465
ftp-url ftp://deploy:⟦{pw}⟧@ftp.example.com/htdocs
http-basic https://ci-bot:⟦{an20}⟧@git.example.com/team/repo.git
git-token-user https://⟦{hex40}⟧:x-oauth-basic@github.com/acme/app.git
git-token-only https://⟦{lo52}⟧@dev.azure.com/org/_git/repo
sentry-dsn https://⟦{hex32}⟧:⟦{hex32}⟧@sentry.io/12345
ldap-bind ldapsearch -D cn=admin,dc=x -w ⟦{an14}⟧ -b dc=x
servicebus Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦{b64_43}=⟧
cosmos AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=⟦{b64_86}==⟧;
iothub HostName=x.azure-devices.net;DeviceId=d;SharedAccessKey=⟦{b64_43}=⟧
cloudinary cloudinary://{dig15}:⟦{an27}⟧@demo
sqlalchemy-create create_engine("oracle://sys:⟦{an12}⟧@db:1521/xe")
socks socks5://proxyuser:⟦{pw}⟧@10.9.8.7:1080
proxy-env HTTP_PROXY=http://jo:⟦{an12}⟧@proxy.corp:8080
neo4j bolt+s://neo4j:⟦{an20}⟧@graph:7687
rclone-conn :sftp,host=x,user=y,pass=⟦{an22}⟧:path
"""

KEYS = r"""
rsa-pem -----BEGIN RSA PRIVATE {KEY}-----\n⟦{pem}⟧\n-----END RSA PRIVATE {KEY}-----
pkcs8 -----BEGIN PRIVATE {KEY}-----\n⟦{pem}⟧\n-----END PRIVATE {KEY}-----
pkcs8-enc -----BEGIN ENCRYPTED PRIVATE {KEY}-----\n⟦{pem}⟧\n-----END ENCRYPTED PRIVATE {KEY}-----
openssh -----BEGIN OPENSSH PRIVATE {KEY}-----\n⟦{pem}⟧\n-----END OPENSSH PRIVATE {KEY}-----
ec-indented key: |\n    -----BEGIN EC PRIVATE {KEY}-----\n    ⟦{b64_64}⟧\n    ⟦{b64_64}⟧\n    -----END EC PRIVATE {KEY}-----
dsa-quoted > -----BEGIN DSA PRIVATE {KEY}-----\n> ⟦{b64_64}⟧\n> ⟦{b64_30}⟧\n> -----END DSA PRIVATE {KEY}-----
pgp -----BEGIN PGP PRIVATE {KEY} BLOCK-----\nVersion: GnuPG v2\n\n⟦{pem}⟧\n=aB3d\n-----END PGP PRIVATE {KEY} BLOCK-----
ssh2 ---- BEGIN SSH2 ENCRYPTED PRIVATE {KEY} ----\nComment: "k"\n⟦{pem}⟧\n---- END SSH2 ENCRYPTED PRIVATE {KEY} ----
gcp-json {"type":"service_account","private_key_id":"⟦{hex40}⟧","private_key":"-----BEGIN PRIVATE {KEY}-----⏎⟦{b64_64}⟧⏎⟦{b64_64}⟧⏎-----END PRIVATE {KEY}-----⏎"}
one-line KEY="-----BEGIN RSA PRIVATE {KEY}----- ⟦{b64_200}⟧ -----END RSA PRIVATE {KEY}-----"
cut-off -----BEGIN RSA PRIVATE {KEY}-----\n⟦{b64_64}⟧\n⟦{b64_64}⟧\n[output truncated]
putty PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: k\nPublic-Lines: 2\nAAAAC3NzaC1lZDI1NTE5AAAAI{b64_39}\n{b64_16}\nPrivate-Lines: 1\n⟦{b64_64}⟧\nPrivate-MAC: ⟦{hex64}⟧
putty2 PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: imported\nPublic-Lines: 1\nAAAAB3NzaC1yc2E{b64_40}\nPrivate-Lines: 2\n⟦{b64_64}⟧\n⟦{b64_40}⟧\nPrivate-MAC: {hex40}
jwk-ec {"kty":"EC","crv":"P-256","x":"{url43}","y":"{url43}","d":"⟦{url43}⟧"}
jwk-rsa {"kty":"RSA","n":"{url342}","e":"AQAB","d":"⟦{url342}⟧","p":"⟦{url171}⟧","q":"⟦{url171}⟧"}
jwk-oct {"kty": "oct", "alg": "HS256", "k": "⟦{url43}⟧"}
wireguard [Interface]\nPrivateKey = ⟦{b64_43}=⟧\nAddress = 10.0.0.2/24
wireguard-psk [Peer]\nPublicKey = {b64_43}=\nPresharedKey = ⟦{b64_43}=⟧
kube-client-key     client-key-data: ⟦LS0tLS1CRUdJTiB{b64_200}⟧
tor-hs == ed25519v1-secret: type0 ==\n⟦{b64_88}⟧
openvpn-static -----BEGIN OpenVPN Static {KEY} V1-----\n⟦{hex32}⟧\n⟦{hex32}⟧\n⟦{hex32}⟧\n-----END OpenVPN Static {KEY} V1-----
diff-key +-----BEGIN RSA PRIVATE {KEY}-----\n+⟦{b64_64}⟧\n+⟦{b64_64}⟧\n+-----END RSA PRIVATE {KEY}-----
cat-n-key      1\t-----BEGIN OPENSSH PRIVATE {KEY}-----\n     2\t⟦{b64_70}⟧\n     3\t⟦{b64_70}⟧\n     4\t-----END OPENSSH PRIVATE {KEY}-----
concat-key key = ("-----BEGIN RSA PRIVATE {KEY}-----⏎"\n       "⟦{b64_64}⟧⏎"\n       "⟦{b64_64}⟧⏎"\n       "-----END RSA PRIVATE {KEY}-----⏎")
p12-b64 keystore_base64: ⟦MIIKeQIBAzCCCj8GCSqGSIb3DQEHAaCC{b64_200}⟧
nostr nsec1{lo58}
eth-key private key: ⟦0x{hex64}⟧
btc-wif 5{b58_50} is the WIF private key: ⟦5J{b58_49}⟧
xprv xprv9s21ZrQH143K{b58_96}
minisign untrusted comment: minisign encrypted secret key\n⟦RWRTY0Iy{b64_200}⟧
"""

FILES = r"""
netrc machine api.heroku.com login jo@x.io password ⟦{an24}⟧
netrc-multi machine ftp.x.org\n  login anonymous2\n  password ⟦{pw}⟧
pgpass db.example.com:5432:*:app:⟦{pw}⟧
my-cnf [client]\nuser=root\npassword="⟦{pw}⟧"
npmrc-auth //registry.npmjs.org/:_authToken=⟦{uuid}⟧
npmrc-password //npm.corp.io/:_password="⟦{b64_24}⟧"
npmrc-auth-old _auth = ⟦{b64_28}==⟧
yarnrc   npmAuthToken: "⟦{an36}⟧"
pypirc [pypi]\nusername = __token__\npassword = ⟦pypi-{url60}⟧
pip-conf [global]\nindex-url = https://jo:⟦{an18}⟧@pypi.corp/simple
docker-config {"auths":{"ghcr.io":{"auth":"⟦{b64_40}⟧"}}}
docker-identity {"auths":{"x.azurecr.io":{"identitytoken":"⟦{url90}⟧"}}}
kubeconfig users:\n- name: admin\n  user:\n    token: ⟦{an60}⟧
kube-password   user:\n    username: admin\n    password: ⟦{an20}⟧
k8s-secret apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  db-pass: ⟦{b64_20}⟧\n  url: ⟦{b64_40}⟧
k8s-stringdata kind: Secret\nstringData:\n  credential: ⟦{pw}⟧
aws-credentials [default]\naws_access_key_id = AKIA{b32_16}\naws_secret_access_key = ⟦{b64_40}⟧\naws_session_token = ⟦{b64_300}⟧
gcloud-adc {"client_secret": "⟦{url24}⟧", "refresh_token": "⟦1//0{url60}⟧", "type": "authorized_user"}
azure-sp {"appId":"{uuid}","displayName":"ci","password":"⟦{an34}⟧","tenant":"{uuid}"}
git-credentials https://jo:⟦{an36}⟧@gitlab.corp.io
gh-hosts github.com:\n    user: jo\n    oauth_token: ⟦{an40}⟧
maven-settings <server>\n  <id>central</id>\n  <passphrase>⟦{pw}⟧</passphrase>\n</server>
nuget-config <add key="ClearTextPassword" value="⟦{pw}⟧" />
composer-auth {"http-basic":{"repo.magento.com":{"username":"{hex32}","password":"⟦{hex32}⟧"}}}
composer-oauth {"github-oauth":{"github.com":"⟦{hex40}⟧"}}
cargo-cred [registry]\ntoken = "⟦{an35}⟧"
bundle-config BUNDLE_GEMS__CONTRIBSYS__COM: "⟦{hex8}:{hex8}⟧"
hgrc [auth]\nx.prefix = hg.corp\nx.username = jo\nx.password = ⟦{pw}⟧
svn-simple K 8\npassword\nV 12\n⟦{an12}⟧\nK 15
filezilla <Pass encoding="base64">⟦{b64_16}⟧</Pass>
s3cfg access_key = x\nsecret_key = ⟦{b64_40}⟧
rclone [remote]\ntype = sftp\npass = ⟦{url30}⟧
htpasswd admin:⟦$apr1${an8}${an22}⟧
shadow root:⟦$6${an8}${an86}⟧:19000:0:99999:7:::
ansible-vault-inline db_pass: !unsafe "⟦{pw}⟧"
esphome wifi:\n  ssid: "home"\n  password: "⟦{pw}⟧"
mosquitto user:⟦$7$101${b64_16}${b64_86}==⟧
nm-connection [wifi-security]\nkey-mgmt=wpa-psk\npsk=⟦{an16}⟧
ppp "jo" * "⟦{an12}⟧" *
msmtp account x\nhost smtp.x.io\nuser jo\npassword ⟦{pw}⟧
mutt set imap_pass="⟦{pw}⟧"
fetchmail poll imap.x.io user "jo" password "⟦{pw}⟧" is jo here
irssi       sasl_password = "⟦{pw}⟧";
terraformrc credentials "app.terraform.io" {\n  token = "⟦{an50}⟧"\n}
vscode-rest @token = ⟦{an40}⟧
postman-env {"key":"client_secret","value":"⟦{an40}⟧","enabled":true}
jenkins-cred <hudson.util.Secret>⟦{AQAAABAAAAAQ{b64_44}⟧</hudson.util.Secret>
csv-users name,email,password\njo,jo@x.io,⟦{an12}⟧\nbo,bo@x.io,⟦{an12}⟧
csv-export url,username,password,note\nhttps://x.io,jo,⟦{an14}⟧,
md-table | service | user | password |\n|---|---|---|\n| grafana | admin | ⟦{an12}⟧ |
md-table-two | Key | Value |\n|---|---|\n| API key | ⟦{an32}⟧ |
psql-table  id | email    | api_token\n----+----------+-----------\n  1 | jo@x.io | ⟦{an32}⟧
mysql-table +----+------+----------+\n| id | user | password |\n+----+------+----------+\n|  1 | root | ⟦{an12}⟧ |
psql-x -[ RECORD 1 ]-\nid       | 1\npassword | ⟦{an14}⟧
tsv user\tpassword\njo\t⟦{an12}⟧
"""

COMMANDS = r"""
mysql-p mysql -h db -u root -p⟦{an12}⟧ shop
mysql-long mysqldump --user=root --password=⟦{pw}⟧ shop > x.sql
psql-env PGPASSWORD=⟦{pw}⟧ psql -h db -U app
mongo mongosh --username root --password ⟦{an14}⟧ --host db
redis-cli redis-cli -h cache -a ⟦{an20}⟧ ping
sshpass sshpass -p '⟦{pw}⟧' ssh ops@10.0.0.3
sshpass-e SSHPASS=⟦{an12}⟧ sshpass -e scp a b:
curl-u curl -u admin:⟦{an14}⟧ https://x.io/api
curl-user-quoted curl --user 'jo:⟦{pw}⟧' https://x.io
curl-header curl -H "X-Api-Key: ⟦{an32}⟧" https://x.io
curl-bearer curl -H 'Authorization: Bearer ⟦{an40}⟧' https://x.io
curl-data curl -d '{"username":"jo","password":"⟦{an14}⟧"}' https://x.io/login
curl-form curl -F password=⟦{an14}⟧ https://x.io/login
curl-proxy curl --proxy-user jo:⟦{an12}⟧ -x proxy:3128 https://x.io
wget-pass wget --user=jo --password=⟦{pw}⟧ https://x.io/a.zip
wget-header wget --header="PRIVATE-TOKEN: ⟦{url20}⟧" https://gitlab.x/api
httpie http -a jo:⟦{an12}⟧ GET x.io/api
httpie-header http x.io/api X-Auth-Token:⟦{an32}⟧
docker-login docker login -u jo -p ⟦{an14}⟧ reg.x.io
docker-stdin echo ⟦{an14}⟧ | docker login -u jo --password-stdin reg.x.io
docker-herestring docker login -u jo --password-stdin <<< "⟦{an14}⟧"
docker-run-env docker run -e MYSQL_ROOT_PASSWORD=⟦{pw}⟧ -d mysql:8
podman-secret printf '⟦{pw}⟧' | podman secret create db_pass -
helm-registry helm registry login reg.x.io -u jo -p ⟦{an14}⟧
helm-repo helm repo add priv https://x.io --username jo --password ⟦{an14}⟧
kubectl-literal kubectl create secret generic db --from-literal=pw=⟦{an14}⟧
kubectl-docker kubectl create secret docker-registry r --docker-username=jo --docker-password=⟦{an14}⟧
kubectl-token kubectl --token=⟦{an60}⟧ get pods
gh-auth echo ⟦{an40}⟧ | gh auth login --with-token
gh-secret gh secret set DEPLOY_KEY --body "⟦{an32}⟧"
gh-secret-b gh secret set DEPLOY_KEY -b ⟦{an32}⟧
glab-login glab auth login --hostname git.x.io --token ⟦{an20}⟧
az-login az login --service-principal -u app -p ⟦{an34}⟧ --tenant t
az-kv az keyvault secret set --vault-name v --name db --value ⟦{an14}⟧
aws-configure aws configure set aws_secret_access_key ⟦{b64_40}⟧
aws-ssm aws ssm put-parameter --name /db/pw --type SecureString --value '⟦{pw}⟧'
aws-sm aws secretsmanager create-secret --name db --secret-string ⟦{an14}⟧
gcloud-secret echo -n "⟦{an14}⟧" | gcloud secrets create db --data-file=-
vault-kv vault kv put secret/db password=⟦{pw}⟧
vault-login vault login ⟦s.{an24}⟧
vault-userpass vault login -method=userpass username=jo password=⟦{an14}⟧
consul consul kv get -token=⟦{uuid}⟧ x
mc-alias mc alias set prod https://s3.x.io minioadm ⟦{an24}⟧
mc-host mc config host add prod https://s3.x.io {UP20} ⟦{b64_40}⟧
poetry-http poetry config http-basic.corp jo ⟦{an18}⟧
poetry-token poetry config pypi-token.pypi ⟦{an60}⟧
twine twine upload -u jo -p ⟦{an14}⟧ dist/*
npm-set npm config set //npm.corp.io/:_authToken ⟦{an36}⟧
npm-set-eq npm set //registry.npmjs.org/:_authToken=⟦{an36}⟧
yarn-set yarn config set npmAuthToken ⟦{an36}⟧
pnpm-set pnpm config set '//r.io/:_authToken' '⟦{an36}⟧'
composer-config composer config http-basic.repo.x.io jo ⟦{an18}⟧
bundle-set bundle config set --global gems.x.io jo:⟦{an18}⟧
gem-push gem push x.gem --key k --otp 123456 --api-key ⟦{an30}⟧
cargo-login cargo login ⟦{an32}⟧
nuget-push dotnet nuget push x.nupkg -k ⟦{an46}⟧ -s https://x.io
nuget-source dotnet nuget add source https://x.io -n x -u jo -p ⟦{an14}⟧ --store-password-in-clear-text
dotnet-secrets dotnet user-secrets set "Smtp:Password" "⟦{pw}⟧"
conan conan user -p ⟦{an14}⟧ -r corp jo
conan2 conan remote login corp jo -p ⟦{an14}⟧
mvn-prop mvn deploy -Dgpg.passphrase=⟦{pw}⟧
java-sys java -Djavax.net.ssl.keyStorePassword=⟦{pw}⟧ -jar x.jar
keytool keytool -genkey -alias x -storepass ⟦{an14}⟧ -keypass ⟦{an14}⟧
jarsigner jarsigner -storepass ⟦{an12}⟧ app.apk alias
apksigner apksigner sign --ks k.jks --ks-pass pass:⟦{an14}⟧ app.apk
openssl-passin openssl rsa -in k.pem -passin pass:⟦{an14}⟧
openssl-enc openssl enc -aes-256-cbc -k ⟦{an14}⟧ -in a -out b
openssl-pkcs12 openssl pkcs12 -export -passout pass:⟦{pw}⟧ -out k.p12
gpg-passphrase gpg --batch --passphrase ⟦{an14}⟧ -d x.gpg
gpg-fd echo '⟦{pw}⟧' | gpg --batch --passphrase-fd 0 -d x.gpg
zip-p zip -P ⟦{an12}⟧ x.zip a.txt
unzip-p unzip -P ⟦{an12}⟧ x.zip
7z-p 7z x a.7z -p⟦{an12}⟧
rar-hp rar a -hp⟦{an12}⟧ x.rar a
sudo-s echo ⟦{an12}⟧ | sudo -S apt update
su-here sudo -S ls <<< ⟦{an12}⟧
chpasswd echo "deploy:⟦{pw}⟧" | sudo chpasswd
usermod useradd -m -p ⟦{an20}⟧ jo
net-user net user jo ⟦{pw}⟧ /add
net-use net use Z: \\srv\share ⟦{an12}⟧ /user:corp\jo
cmdkey cmdkey /add:srv /user:jo /pass:⟦{an12}⟧
smbclient smbclient //srv/share -U jo%⟦{an12}⟧
mount-cifs mount -t cifs //srv/s /mnt -o username=jo,password=⟦{an12}⟧
rsync-env RSYNC_PASSWORD=⟦{an12}⟧ rsync a rsync://jo@x/mod
lftp lftp -u jo,⟦{an12}⟧ ftp.x.io
ftp-ncftp ncftpput -u jo -p ⟦{an12}⟧ ftp.x.io / a
htpasswd-b htpasswd -b .htpasswd jo ⟦{an12}⟧
rabbitmqctl rabbitmqctl add_user jo ⟦{an12}⟧
rabbit-change rabbitmqctl change_password jo ⟦{an12}⟧
sqlcmd sqlcmd -S db -U sa -P ⟦{pw}⟧
bcp bcp t out f -S db -U sa -P ⟦{an12}⟧
sqlplus sqlplus system/⟦{an12}⟧@orcl
influx influx -username jo -password ⟦{an12}⟧
cqlsh cqlsh -u cass -p ⟦{an12}⟧ db
clickhouse-client clickhouse-client --user x --password ⟦{an12}⟧
mongodump mongodump -u root -p ⟦{an12}⟧ --db x
mongorestore mongorestore --uri "mongodb://r:⟦{an12}⟧@db/x"
ldapadd ldapadd -x -D cn=admin -w ⟦{an12}⟧ -f a.ldif
kinit echo ⟦{an12}⟧ | kinit jo@CORP
ipmitool ipmitool -I lanplus -H 10.0.0.9 -U admin -P ⟦{an12}⟧ power status
snmpwalk snmpwalk -v3 -u jo -A ⟦{an12}⟧ -X ⟦{an12}⟧ host
nmcli nmcli dev wifi connect home password ⟦{an12}⟧
wpa-passphrase wpa_passphrase home ⟦{an12}⟧
restic RESTIC_PASSWORD=⟦{an14}⟧ restic backup /
borg BORG_PASSPHRASE='⟦{pw}⟧' borg create
rclone-obscure rclone obscure ⟦{an12}⟧
ansible-extra ansible-playbook s.yml -e "ansible_become_pass=⟦{an12}⟧"
terraform-var terraform apply -var 'db_password=⟦{an14}⟧'
packer packer build -var "ssh_password=⟦{an12}⟧" x.hcl
pulumi-secret pulumi config set --secret dbPassword ⟦{an14}⟧
heroku-set heroku config:set SECRET_KEY_BASE=⟦{hex64}⟧
fly-secrets fly secrets set API_SECRET=⟦{an32}⟧
vercel-env echo ⟦{an32}⟧ | vercel env add API_SECRET production
vercel-token vercel deploy --token ⟦{an24}⟧
netlify-auth netlify deploy --auth ⟦{url43}⟧
wrangler echo "⟦{an32}⟧" | wrangler secret put API_KEY
supabase-link supabase link --project-ref abc -p ⟦{an14}⟧
sentry-cli sentry-cli --auth-token ⟦{hex64}⟧ releases list
argocd argocd login cd.x.io --username admin --password ⟦{an14}⟧
oc-login oc login https://api.x:6443 --token=⟦{an43}⟧
rancher rancher login https://r.x.io --token token-abcde:⟦{lo54}⟧
jf-config jf c add s --user jo --password ⟦{an14}⟧ --url https://x.io
skopeo skopeo copy --src-creds jo:⟦{an14}⟧ docker://a docker://b
crane crane auth login reg.x.io -u jo -p ⟦{an14}⟧
buildah buildah login -u jo -p ⟦{an14}⟧ reg.x.io
svn-co svn co https://x.io/r --username jo --password ⟦{an14}⟧
git-extra git -c http.extraHeader="Authorization: Bearer ⟦{an40}⟧" fetch
git-remote git remote set-url origin https://jo:⟦{an36}⟧@git.x.io/a.git
ngrok-auth ngrok config add-authtoken ⟦{an27}_{an21}⟧
tailscale-up tailscale up --authkey ⟦{an40}⟧
wg-set doctl auth init -t ⟦{hex64}⟧
stripe-cli stripe listen --api-key ⟦{an40}⟧
wp-cli wp user create jo jo@x.io --user_pass=⟦{an12}⟧
mysqladmin mysqladmin -u root password '⟦{pw}⟧'
sql-identified CREATE USER 'app'@'%' IDENTIFIED BY '⟦{pw}⟧';
sql-identified-with ALTER USER 'root'@'localhost' IDENTIFIED WITH mysql_native_password BY '⟦{pw}⟧';
sql-pg CREATE ROLE app LOGIN PASSWORD '⟦{pw}⟧';
sql-pg-alter ALTER USER app WITH ENCRYPTED PASSWORD '⟦{pw}⟧';
sql-mssql CREATE LOGIN app WITH PASSWORD = '⟦{pw}⟧';
sql-insert INSERT INTO users (email, password) VALUES ('jo@x.io', '⟦{an14}⟧');
sql-update UPDATE users SET password = '⟦{an14}⟧' WHERE id = 1;
sql-setpw SET PASSWORD FOR 'app'@'%' = PASSWORD('⟦{an14}⟧');
sql-oracle CREATE USER app IDENTIFIED BY ⟦{an12}⟧ DEFAULT TABLESPACE x;
sql-mongo db.createUser({user: "app", pwd: "⟦{pw}⟧", roles: []})
redis-requirepass requirepass ⟦{an24}⟧
redis-auth AUTH default ⟦{an20}⟧
redis-setuser ACL SETUSER app on >⟦{an14}⟧ ~* +@all
hdr-basic Authorization: Basic ⟦{b64_32}==⟧
hdr-bearer authorization: bearer ⟦{an40}⟧
hdr-token Authorization: Token ⟦{hex40}⟧
hdr-apikey apikey: ⟦{an40}⟧
hdr-xauth X-Auth-Token: ⟦{hex32}⟧
hdr-cookie Cookie: theme=dark; sessionid=⟦{lo32}⟧; csrftoken=⟦{an32}⟧
hdr-setcookie Set-Cookie: connect.sid=s%3A⟦{url32}.{an43}⟧; Path=/; HttpOnly
hdr-proxy Proxy-Authorization: Basic ⟦{b64_28}⟧
hdr-aws4 Authorization: AWS4-HMAC-SHA256 Credential=AKIA{b32_16}/20260101/us-east-1/s3/aws4_request, Signature=⟦{hex64}⟧
hdr-functions x-functions-key: ⟦{url54}==⟧
hdr-ssws Authorization: SSWS ⟦00{url40}⟧
hdr-vault X-Vault-Token: ⟦s.{an24}⟧
hdr-gitlab JOB-TOKEN: ⟦{url20}⟧
presigned https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA{b32_16}%2F2026&X-Amz-Signature=⟦{hex64}⟧
expect expect "assword:" { send "⟦{an12}⟧\r" }
prompt-answer Password for 'https://jo@git.x.io': ⟦{an14}⟧
prompt-pg Password for user postgres: ⟦{an12}⟧
initial-admin Please use the following password to proceed to installation:\n\n⟦{hex32}⟧\n\nThis may also be found at: /var/lib/jenkins/secrets/initialAdminPassword
argocd-initial $ argocd admin initial-password -n argocd\n⟦{an16}⟧
openssl-rand $ openssl rand -hex 32\n⟦{hex64}⟧
pwgen $ pwgen -s 20 1\n⟦{an20}⟧
read-s-none htpasswd -nbB admin '⟦{pw}⟧'
powershell-secure ConvertTo-SecureString "⟦{pw}⟧" -AsPlainText -Force
powershell-cred New-Object PSCredential("jo", (ConvertTo-SecureString '⟦{pw}⟧' -AsPlainText -Force))
repeat-elsewhere export DB_PASSWORD=⟦Kq{an12}⟧\nthen I typed {REPEAT} into the form
"""

PROSE = r"""
en-the-password-is the password is ⟦{pw}⟧
en-password-for The password for the staging box is ⟦{pw}⟧, please use it.
en-log-in-with log in with admin / ⟦{pw}⟧
en-user-and-pw username is jo and password ⟦{pw}⟧
en-use-pw use pw: ⟦{pw}⟧
en-creds creds: admin:⟦{pw}⟧
en-changed-to I changed the root password to ⟦{pw}⟧ yesterday
en-it-is what's the wifi password? it's ⟦{pw}⟧
en-my-key here is my api key ⟦{an32}⟧ so you can test
en-token-quoted The token you need is "⟦{an32}⟧".
en-set-as set the db password as ⟦{pw}⟧
en-secret-equals client secret → ⟦{an32}⟧
en-with-password connect as postgres with password ⟦{pw}⟧ on port 5433
en-pass-backtick The admin pass is `⟦{pw}⟧`
en-temp Your temporary password: ⟦{pw}⟧
en-new-password Their new password will be ⟦{pw}⟧ from Monday on.
en-old-password the old one (⟦{pw}⟧) was the password of the root user
en-passphrase passphrase of the key: ⟦{word}-{word}-{dig2}⟧
en-word-password password is ⟦{word}⟧ btw
en-pin the vault passcode is ⟦{dig8}⟧
en-login-line Login: jo@x.io  Password: ⟦{pw}⟧
en-slash user/pass is jo/⟦{pw}⟧
en-newline Password:\n⟦{pw}⟧
en-list - username: jo\n- password: ⟦{pw}⟧
en-bold **Password:** ⟦{pw}⟧
en-apikey-newline API key\n⟦{an32}⟧
en-dont-share don't share this, but the prod DB password's ⟦{pw}⟧
en-in-parens (password: ⟦{pw}⟧)
en-license license key ⟦{UP5}-{UP5}-{UP5}-{UP5}⟧ for the password vault
en-basic authenticate using jo:⟦{pw}⟧
en-sign-in you can sign in to grafana as admin, pw ⟦{pw}⟧
en-token-comes Use ⟦{an40}⟧ as the bearer token.
en-as-password try ⟦{pw}⟧ as the password
en-for-password enter ⟦{pw}⟧ when it asks for the password
en-auth-code the secret for the webhook should be ⟦{hex40}⟧
de-lautet Das Passwort lautet ⟦{pw}⟧
de-ist das Kennwort für den Server ist ⟦{pw}⟧
de-zugang Zugangsdaten: jo / ⟦{pw}⟧
de-pw PW ist ⟦{pw}⟧, bitte ändern
de-mit-passwort melde dich mit dem Passwort ⟦{pw}⟧ an
de-schluessel der API-Schlüssel ist ⟦{an32}⟧
de-neues neues Passwort: ⟦{pw}⟧
de-benutzer Benutzer admin, Passwort ⟦{pw}⟧
fr-est le mot de passe est ⟦{pw}⟧
fr-pour Le mot de passe pour la base est « ⟦{pw}⟧ »
fr-mdp mdp : ⟦{pw}⟧
fr-cle voici la clé API : ⟦{an32}⟧
fr-connecte connecte-toi avec admin et le mot de passe ⟦{pw}⟧
es-es la contraseña es ⟦{pw}⟧
es-de la contraseña de la base de datos es ⟦{pw}⟧
es-clave la clave de API: ⟦{an32}⟧
es-usa usa la contraseña ⟦{pw}⟧ para entrar
pt-senha a senha é ⟦{pw}⟧
pt-nova nova senha: ⟦{pw}⟧
it-password la password è ⟦{pw}⟧
nl-wachtwoord het wachtwoord is ⟦{pw}⟧
"""

HARMLESS = r"""
commit 4f2a9c81d0be37716a5e1f0c2b94d86a7730e2c5
Merge: 4f2a9c8 91be02d
index 83db48f..bf2a1c4 100644
  resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
  "integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
checksum = "b9f7e2b4c1d09a3e58f6f0a9d1c2b3a4958677665544332211ffeeddccbbaa99"
golang.org/x/crypto v0.17.0 h1:r8bRNjWL3GshPW3gkd+RpvzWrZAwPS49OmTGZ/uhM4k=
    {file = "requests-2.31.0-py3-none-any.whl", hash = "sha256:58cd2187c01e70e6e26505bca751777aa9f2ee0b7f4300988b709f44e013003f"},
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
FROM python:3.12-slim@sha256:2d97f6910b16bd338d3060f261f53f144965f755599aab1acda1e13cf1731b1b
uses: actions/checkout@b4ffde65f46336ab88eb53be808477a3936bae11 # v4.1.1
request_id=7d1f3c1e-55c0-4a8e-9f58-6b9f5a0b3c9d duration=12ms status=200
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
def authenticate(username: str, password: str) -> User:
password: str
password: Optional[str] = None
    password: SecretStr = Field(min_length=8)
token = get_token()
token = self._read_token(request)
token = request.headers.get("Authorization")
const token = await getAccessToken(clientId);
const password = process.env.DB_PASSWORD;
password = os.environ["DB_PASSWORD"]
password = os.environ.get('DB_PASSWORD')
api_key = config.get("api_key")
apiKey: process.env.OPENAI_API_KEY,
let secret = std::env::var("SECRET_KEY").unwrap();
password := os.Getenv("PGPASSWORD")
String password = System.getenv("DB_PASSWORD");
password=${DB_PASSWORD}
PASSWORD=$(openssl rand -base64 32)
export TOKEN="$(gcloud auth print-access-token)"
      password: ${{ secrets.DOCKER_PASSWORD }}
  token: {{ vault_token }}
secretKeyRef:
  passwordSecretRef: db-credentials
existingSecret: my-app-secrets
secretName: tls-cert
    key: password
<input type="password" name="password" id="password" autocomplete="current-password">
<label for="password">Password</label>
if (password.length < 8) throw new Error("Password too short");
if password != confirm_password:
assert user.check_password("wrong") is False
user.set_password(form.password.data)
bcrypt.compare(password, user.passwordHash)
return jwt.encode(payload, settings.SECRET_KEY, algorithm="HS256")
jwt.verify(token, publicKey, { algorithms: ['RS256'] })
headers: { Authorization: `Bearer ${token}` }
-H "Authorization: Bearer $TOKEN"
curl -H "Authorization: Bearer <your token>" https://api.example.com
curl -u "$USER:$PASS" https://example.com
curl -u user:password https://example.com
API_KEY=your-api-key-here
OPENAI_API_KEY=sk-...
AWS_SECRET_ACCESS_KEY=<secret>
DB_PASSWORD=
SECRET_KEY=changeme
password: "********"
password = [hidden]
POSTGRES_PASSWORD: example
postgres://user:password@localhost:5432/db
postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app
mysql://user:***@host/db
DATABASE_URL=postgresql://localhost/app_test
redis://localhost:6379/0
Password reset email sent to jo@x.io
Invalid username or password
FATAL:  password authentication failed for user "postgres"
Access denied for user 'root'@'localhost' (using password: YES)
remote: Support for password authentication was removed on August 13, 2021.
error: token expired at 2026-01-03T10:11:12Z
SyntaxError: Unexpected token } in JSON at position 42
Unexpected token '<', "<!DOCTYPE "... is not valid JSON
max_tokens: 4096
"prompt_tokens": 1523, "completion_tokens": 211, "total_tokens": 1734
input_tokens=12033 cache_read_input_tokens=99210
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
token_type_ids = encoding["token_type_ids"]
for token in tokens:
csrf_token()
{% csrf_token %}
next_page_token = response.get("nextPageToken")
cancellationToken: CancellationToken = default
The password must contain at least one digit and 12 characters.
The password field is required when the account is new.
The token is refreshed every hour by the worker.
The secret is stored in the vault and rotated weekly.
Password is hashed with argon2id before it is stored.
The API key is read from the environment at startup.
the password is wrong, it says
my password is not accepted anymore
the token is missing in the second request
what is the password policy of the company?
Please rotate the password before you deploy
a secret that nobody should commit
Where is the api key configured?
ask Jo for the password
das Passwort ist falsch
Das Passwort wird beim Start aus der Umgebung gelesen.
das Kennwort muss geändert werden
le mot de passe est incorrect
la contraseña es incorrecta
a senha é obrigatória
Passwort vergessen? Klicke hier.
git checkout -b feature/password-reset
git log --author="jo" --since=2.weeks
grep -rn "password" src/ --include=*.py
rg -n 'api[_-]?key' config/
docker login -u jo --password-stdin < ~/.docker-pass
cat ~/.pass | docker login --username jo --password-stdin
echo "$CR_PAT" | docker login ghcr.io -u jo --password-stdin
mysql -u root -p shop
mysql -uroot -p$MYSQL_ROOT_PASSWORD
psql -U postgres -h localhost -p 5432
ssh -p 2222 deploy@example.com
docker run -p 8080:80 nginx
mkdir -p src/app/components
cp -p a b
pytest -p no:cacheprovider -k token_refresh
npm install --save-dev @types/node
pip install -u requests
tar -xzf archive.tar.gz -C /opt
make -j8 test
kubectl get pods -n kube-system -o wide
kubectl create secret generic db --from-file=./password.txt
kubectl create secret generic db --from-literal=password=$DB_PASS
vault kv get secret/db
aws sts get-caller-identity --profile prod
aws s3 cp s3://bucket/key ./local
openssl req -new -key server.key -out server.csr
openssl rsa -in k.pem -passin env:KEYPASS
ssh-keygen -t ed25519 -C "jo@x.io"
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHq3l0pYkq0Qm2v0m2m3a4b5c6d7e8f9g0h1i2j3k4l5 jo@laptop
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----⏎MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ⏎-----END CERTIFICATE-----
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==
background: url(data:font/woff2;base64,d09GMgABAAAAAAPoAA4AAAAACFAAAAOVAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAA)
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXX0=
test_login_with_wrong_password PASSED [ 12%]
FAILED tests/test_auth.py::test_token_expired - AssertionError: assert 401 == 200
  File "/app/auth/token.py", line 42, in refresh_token
at TokenStore.refresh (/srv/app/dist/token-store.js:114:17)
src/auth/password.ts:12:  export function hashPassword(password: string): Promise<string> {
import { hashPassword, verifyPassword } from './password'
from app.security import create_access_token, verify_password
type Credentials = { username: string; password: string };
interface Props { token?: string; secret: boolean }
struct Config { api_key: String, secret: Option<String> }
CREATE TABLE users (id serial primary key, email text, password_hash text not null);
ALTER TABLE users ADD COLUMN api_token varchar(64);
SELECT id, email FROM users WHERE password IS NULL;
INSERT INTO users (email, password) VALUES (?, ?)
INSERT INTO users (email, password) VALUES ($1, crypt($2, gen_salt('bf')))
GRANT SELECT ON ALL TABLES IN SCHEMA public TO app;
description: "Password of the database user"
help="API token (default: read from keyring)"
parser.add_argument("--password", required=True, help="database password")
@click.option("--token", envvar="GH_TOKEN")
  --password-stdin   Take the password from stdin
  -p, --password string   Password
usage: app [--token TOKEN] [--secret SECRET]
Usage: docker login [OPTIONS] [SERVER]
Set `API_KEY` in your `.env` file.
Put your token into `config.yaml` (`auth.token`).
key = "value"
primary_key=True
foreign_key: user_id
keyboard: us
"key": "ArrowDown"
sort_key = lambda x: x.created_at
cache_key = f"user:{user_id}:profile"
public_key: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
ssh_key_path: ~/.ssh/id_ed25519
private_key_path = "/etc/ssl/private/server.key"
passwordFile: /run/secrets/db_password
TOKEN_FILE=/var/run/secrets/kubernetes.io/serviceaccount/token
AUTH_URL=https://auth.example.com/realms/app
auth: none
auth: required
authorization: enabled
Author: Jo Doe <jo@example.com>
session_id: 7d1f3c1e-55c0-4a8e-9f58-6b9f5a0b3c9d
session = requests.Session()
cookie: accepted
salt_rounds = 12
pass
passes: 41, fails: 2
pass through the arguments
bypass = true
compass: north
Passed: 312, Failed: 0
tests passed (4.2s)
passport.use(new LocalStrategy(verify))
pwd
pwd: /home/jo/project
cd $PWD && ls
PWD=/home/jo/project
secrets: inherit
"secret": true
  secret: false
my_secret_santa_list = []
secretary = "Ms. Moneypenny"
tokens: list[str] = []
token: ${GITHUB_TOKEN}
token: null
access_token: undefined
"password": "string",
"password": { "type": "string", "format": "password" }
password: 'test'
password='password'
password="secret"
login("admin", "admin")
User.create!(email: 'a@b.c', password: 'password123')
credentials: include
credentials: 'same-origin'
credential.helper=store
Content-Security-Policy: default-src 'self'; script-src 'nonce-r4nd0m'
X-Request-Id: 01HV3Z8Q9K7J5M4N3P2R1S0T9W
Set-Cookie: theme=dark; Path=/
Cookie: theme=dark; lang=de
01HV3Z8Q9K7J5M4N3P2R1S0T9W
cuid: ckv8m1x0s000001l5h4z2b3c9
k8s pod api-7d9f8b6c5d-x2x4q restarted
image: ghcr.io/acme/api:sha-4f2a9c8
arn:aws:iam::123456789012:role/deploy
projects/acme/secrets/db-password/versions/3
/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg
0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed
npm audit fix --force
https://example.com/reset?token=
https://github.com/acme/app/commit/4f2a9c81d0be37716a5e1f0c2b94d86a7730e2c5
https://www.youtube.com/watch?v=dQw4w9WgXcQ
https://docs.google.com/document/d/1a2b3c4d5e6f7g8h9i0jklmnopqrstuvwxyzABCDEF/edit
https://user@example.com/path
git@github.com:acme/app.git
The user "admin" / role "viewer" pair is not allowed
jo / bo / mo are the reviewers
| name | password policy |⏎|---|---|⏎| admin | strong |
| Setting | Default |⏎|---|---|⏎| token_ttl | 3600 |
name,email,age⏎jo,jo@example.com,44
echo hello | sudo tee /etc/motd
echo "export PATH=$PATH:/opt/bin" >> ~/.bashrc
printf '%s\n' "$PASS" | gpg --passphrase-fd 0 -d x.gpg
zip -r out.zip dist
7z x archive.7z -oout
mc alias list
mc alias set local http://localhost:9000 $MINIO_USER $MINIO_PASSWORD
poetry config virtualenvs.in-project true
poetry config repositories.corp https://pypi.corp/simple
npm config set registry https://registry.npmjs.org/
git config --global user.name "Jo Doe"
composer config repositories.x vcs https://github.com/x/y
cargo login
kubectl config set-context --current --namespace=app
docker compose --env-file .env up -d
terraform apply -var 'region=eu-central-1'
heroku config:set NODE_ENV=production
rabbitmqctl list_users
keytool -list -v -keystore release.jks
calculate_password_strength(password)
password_strength = zxcvbn(password).score
password_field = page.locator("#password")
await page.fill('#password', user.password)
cy.get('input[name=password]').type(Cypress.env('PASSWORD'))
setPassword(event.target.value)
onChange={(e) => setToken(e.target.value)}
println!("token: {:?}", token);
logger.info("token refreshed for %s", user.id)
print(f"password: {'*' * len(password)}")
token = token.strip()
token = lexer.next()
token == Token.IDENT
auth_token = None
self.password = password
this.apiKey = options.apiKey ?? defaultKey;
params.password = generatePassword(16)
password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt())
MD5 (file.iso) = d41d8cd98f00b204e9800998ecf8427e
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt
nonce = 8472910384
build 20261118.3 took 4m12s
"version": "0.0.0-20230106234847-43070de90fa1"
"""

_SETS = (
    ("bare", BARE),
    ("assigned", ASSIGNED),
    ("database", DATABASE),
    ("key", KEYS),
    ("file", FILES),
    ("command", COMMANDS),
    ("prose", PROSE),
)
