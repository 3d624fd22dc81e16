"""Fake secrets and harmless lines, made at run time so that no scanner takes this file for a leak.

A template says what a format looks like: `{an36}` is 36 random letters and digits, `{hex32}` hex digits,
`{lo}` lowercase and digits, `{UP}` capitals and digits, `{b64_}` and `{url}` base64 and its URL form,
`{dig}` digits, `{al}` letters, `{uuid}`, `{pw}` a password somebody chose, `{word}` one that is a word.
⟦…⟧ marks the secret; a template without it is a secret as a whole. Nothing here was ever valid.
"""

import base64
import hashlib
import random
import re
import string
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

_B64 = string.ascii_letters + string.digits + "+/"
_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "al": string.ascii_letters,
    "lo": string.ascii_lowercase + string.digits,
    "UP": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "b64_": _B64,
    "url": string.ascii_letters + string.digits + "-_",
    "b32_": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "b58_": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_PASSWORDS = (
    "Tr0ub4dor&3",
    "s3cr3t-Pa55",
    "kX9#mPq2vL",
    "Winter2026!",
    "qW7zR4tY1p",
    "hunter2!x",
    "N0tSoEasy7",
)
_WORDS = ("swordfish", "opensesame", "letmeinplease", "trustno-one", "bananabread")
_HOLE = re.compile(r"\{(an|al|lo|UP|hex|HEX|dig|b64_|url|b32_|b58_|bech|uuid|pw|word|pem)(\d*)\}")
MARK = re.compile("⟦(.*?)⟧", re.S)


@dataclass(frozen=True)
class Fake:
    """A text with the secrets that must leave it."""

    category: str
    family: str
    text: str
    secrets: tuple[str, ...]

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the half that nobody looked at while the patterns were written."""
        return hashlib.sha256(self.family.encode()).digest()[0] % 2 == 1

    def kept_by(self, clean: str) -> bool:
        """Whether a line of a secret is still there."""
        lines = [line.strip() for secret in self.secrets for line in re.split(r"\n|\\n", secret)]
        return any(line in clean for line in lines if len(line) > 3)


def _pem(rng: random.Random, lines: int = 6) -> str:
    body = ["".join(rng.choice(_B64) for _ in range(64)) for _ in range(lines)]
    return "\n".join([*body, "".join(rng.choice(_B64) for _ in range(22)) + "=="])


def filled(template: str, rng: random.Random) -> str:
    def fill(hole: re.Match[str]) -> str:
        kind, size = hole[1], int(hole[2] or 0)
        if kind == "uuid":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if kind == "pw":
            return rng.choice(_PASSWORDS)
        if kind == "word":
            return rng.choice(_WORDS)
        if kind == "pem":
            return _pem(rng)
        return "".join(rng.choice(_ALPHABETS[kind]) for _ in range(size))

    return _HOLE.sub(fill, template)


CARRIERS = ("I copied {} from the dashboard", "{}", "+    client = connect('{}')", "got `{}` back, ok?")


def _fakes(category: str, rows: str, carry: bool) -> Iterator[Fake]:
    for number, row in enumerate(filter(None, map(str.strip, rows.strip().split("\n")))):
        family, _, template = row.partition(" ")
        template = template.strip().replace("\\n", "\n").replace("⏎", "\\n").replace("\\t", "\t")
        if carry and "⟦" not in template:
            template = CARRIERS[number % len(CARRIERS)].replace("{}", f"⟦{template}⟧")
        text = filled(template, random.Random(family))
        yield Fake(category, family, MARK.sub(r"\1", text), tuple(MARK.findall(text)))


def wrapped_keys() -> Iterator[Fake]:
    """Private keys that something else is wrapped around: base64 of a PEM, with and without a name."""
    rng = random.Random("wrapped")
    for label in (
        "RSA PRIVATE " + "KEY",
        "PRIVATE " + "KEY",
        "OPENSSH PRIVATE " + "KEY",
        "EC PRIVATE " + "KEY",
    ):
        pem = f"-----BEGIN {label}-----\n{_pem(rng)}\n-----END {label}-----\n"
        code = base64.b64encode(pem.encode()).decode()
        slug = label.lower().replace(" ", "-")
        yield Fake("private key", f"base64-{slug}", f"here: {code}", (code,))
        folded = "\n".join(code[at : at + 76] for at in range(0, len(code), 76))
        yield Fake("private key", f"base64-folded-{slug}", f"data:\n{folded}\n", (folded,))


BARE = """
aws-akia AKIA{b32_16}
aws-asia ASIA{b32_16}
aws-abia ABIA{b32_16}
aws-session IQoJb3JpZ2lu{b64_300}==
aws-session-old FwoGZXIvYXdz{b64_300}=
aws-bedrock-long ABSKQmVkcm9ja0FQSUtleS{b64_110}
aws-bedrock-short bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b64_100}
aws-mws amzn.mws.{uuid}
aws-appsync da2-{lo26}
amazon-lwa-secret amzn1.oa2-cs.v1.{hex64}
amazon-lwa-refresh Atzr|IwEB{url120}
gcp-api-key AIza{url35}
gcp-oauth-secret GOCSPX-{url28}
gcp-access ya29.{url120}
gcp-refresh 1//0{url90}
firebase-fcm AAAA{url7}:APA91b{url134}
azure-client-secret {an3}8Q~{an34}
azure-devops {an52}JQQJ99B{an15}AAAAAZDO{an4}
azure-storage {b64_76}+ASt{b64_6}==
azure-function {url44}AzFu{url8}==
azure-search {an42}AzSe{an6}
azure-cosmos {b64_76}ACDb{b64_6}==
github-p ghp_{an36}
github-o gho_{an36}
github-u ghu_{an36}
github-s ghs_{an36}
github-r ghr_{an76}
github-fine github_pat_{an22}_{an59}
gitlab-pat glpat-{an20}
gitlab-pat-routable glpat-{url27}.01.{lo9}
gitlab-deploy gldt-{an20}
gitlab-runner glrt-{an20}
gitlab-runner-reg GR1348941{an20}
gitlab-runner-reg-new glrtr-{an20}
gitlab-ci glcbt-1f_{an20}
gitlab-trigger glptt-{hex40}
gitlab-feed glft-{an20}
gitlab-mail glimt-{lo25}
gitlab-agent glagent-{an50}
gitlab-oauth gloas-{hex64}
gitlab-scim glsoat-{an20}
gitlab-workspace glwt-{an20}
gitlab-session _gitlab_session={hex32}
bitbucket-app ATBB{an32}
bitbucket-repo ATCTT3xFfG{url180}={HEX8}
atlassian ATATT3xFfGF0{url180}={HEX8}
atlassian-admin ATCTT3xFfGN0{url170}={HEX8}
trello ATTA{hex64}{HEX8}
slack-bot xoxb-{dig12}-{dig13}-{an24}
slack-user xoxp-{dig12}-{dig12}-{dig13}-{hex32}
slack-app xapp-1-A{UP10}-{dig13}-{hex64}
slack-config xoxe.xoxp-1-{an160}
slack-config-refresh xoxe-1-{an146}
slack-cookie xoxd-{an40}%2B{an60}%3D
slack-client xoxc-{dig12}-{dig12}-{dig13}-{hex64}
slack-legacy xoxs-{dig10}-{dig10}-{dig10}-{hex10}
slack-workspace xoxa-2-{dig12}-{dig12}-{hex32}
slack-webhook https://hooks.slack.com/services/⟦T{UP8}/B{UP10}/{an24}⟧
slack-workflow https://hooks.slack.com/workflows/⟦T{UP10}/A{UP10}/{dig18}/{an24}⟧
discord-bot MT{an24}.G{an5}.{url38}
discord-mfa mfa.{url84}
discord-webhook https://discord.com/api/webhooks/⟦{dig18}/{url68}⟧
teams-webhook https://acme.webhook.office.com/webhookb2/⟦{uuid}@{uuid}/IncomingWebhook/{hex32}/{uuid}⟧
telegram {dig10}:AA{url33}
stripe-live sk_live_{an24}
stripe-test sk_test_{an99}
stripe-restricted rk_live_{an24}
stripe-webhook whsec_{an32}
stripe-org sk_org_live_{an30}
square-access EAAA{url60}
square-old sq0atp-{url22}
square-secret sq0csp-{url43}
braintree access_token$production${lo16}${hex32}
twilio-key SK{hex32}
sendgrid SG.{url22}.{url43}
mailgun key-{hex32}
mailgun-new {hex32}-{hex8}-{hex8}
mailchimp {hex32}-us12
mandrill md-{url22}
brevo xkeysib-{hex64}-{an16}
brevo-smtp xsmtpsib-{hex64}-{an16}
npm npm_{an36}
pypi pypi-AgEIcHlwaS5vcmc{url150}
pypi-test pypi-AgENdGVzdC5weXBpLm9yZw{url150}
rubygems rubygems_{hex48}
crates cio{an32}
nuget oy2{lo43}
clojars CLOJARS_{hex60}
docker-pat dckr_pat_{url27}
docker-oat dckr_oat_{url32}
vault-service hvs.{url95}
vault-batch hvb.{url150}
vault-recovery hvr.{url95}
vault-old s.{an24}
terraform {an14}.atlasv1.{url67}
databricks dapi{hex32}
databricks-suffix dapi{hex32}-2
databricks-oauth dose{hex32}
digitalocean-pat dop_v1_{hex64}
digitalocean-oauth doo_v1_{hex64}
digitalocean-refresh dor_v1_{hex64}
heroku-new HRKU-AA{url58}
heroku-uuid HRKU-{uuid}
netlify nfp_{an40}
vercel vcp_{an56}
vercel-blob vercel_blob_rw_{an16}_{an30}
fly-fo1 fo1_{url43}
fly-fm2 fm2_lJPE{b64_160}
flyv1 FlyV1 fm2_lJPE{b64_160}
cloudflare-ca v1.0-{hex24}-{hex146}
cloudflare-user cfut_{an40}{hex8}
supabase-pat sbp_{hex40}
supabase-secret sb_secret_{url22}_{url8}
planetscale-token pscale_tkn_{url43}
planetscale-password pscale_pw_{url43}
planetscale-oauth pscale_oauth_{url43}
neon-api napi_{lo64}
neon-password npg_{an12}
render rnd_{an28}
openai-old sk-{an20}T3BlbkFJ{an20}
openai-project sk-proj-{url74}T3BlbkFJ{url74}
openai-service sk-svcacct-{url74}T3BlbkFJ{url74}
openai-admin sk-admin-{url74}T3BlbkFJ{url74}
openai-session sess-{an40}
anthropic-api sk-ant-api03-{url93}AA
anthropic-admin sk-ant-admin01-{url93}AA
anthropic-oauth sk-ant-oat01-{url93}AA
anthropic-session sk-ant-sid01-{url93}AA
openrouter sk-or-v1-{hex64}
deepseek sk-{hex32}
langfuse sk-lf-{uuid}
huggingface hf_{al34}
huggingface-org api_org_{al34}
replicate r8_{an37}
groq gsk_{an52}
perplexity pplx-{an48}
xai xai-{an80}
together tgp_v1_{url43}
fireworks fw_{an24}
cerebras csk-{lo48}
nvidia nvapi-{url64}
langsmith lsv2_pt_{hex32}_{hex10}
langsmith-service lsv2_sk_{hex32}_{hex10}
pinecone pcsk_{an6}_{an63}
tavily tvly-dev-{an32}
firecrawl fc-{hex32}
jina jina_{hex32}{an28}
elevenlabs sk_{hex48}
voyage pa-{url43}
wandb wandb_v1_{an77}
facebook EAAC{an160}ZD
facebook-app {dig15}|{url27}
instagram IGQV{url140}
twitter-bearer AAAAAAAAAAAAAAAAAAAAA{an40}%3D{an40}
twitter-access {dig18}-{an40}
linkedin-secret WPL_AP1.{an16}.{b64_6}==
dropbox sl.{url130}
dropbox-short sl.u.{url140}
airtable pat{an14}.{hex64}
notion ntn_{an46}
notion-old secret_{an43}
linear lin_api_{an40}
linear-oauth lin_oauth_{hex64}
asana 2/{dig16}/{dig16}:{hex32}
asana-old 1/{dig16}:{hex32}
figma figd_{url40}
sentry-org sntrys_eyJ{url120}={url2}_{url43}
sentry-user sntryu_{hex64}
newrelic-user NRAK-{UP27}
newrelic-insert NRII-{url32}
newrelic-browser NRJS-{hex19}
newrelic-license {hex36}NRAL
grafana-sa glsa_{an32}_{hex8}
grafana-cloud glc_eyJ{b64_80}==
grafana-old eyJrIjoi{b64_80}==
dynatrace dt0c01.{b32_24}.{b32_64}
okta 00{url40}
doppler dp.pt.{an43}
doppler-service dp.st.prd.{an43}
doppler-cli dp.ct.{an43}
onepassword-sa ops_eyJ{b64_300}
onepassword-key A3-{UP6}-{UP6}-{UP5}-{UP5}-{UP5}-{UP5}
age AGE-SECRET-KEY-1{bech58}
jwt eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI{url40}.{url43}
shopify-app shpat_{hex32}
shopify-secret shpss_{hex32}
shopify-custom shpca_{hex32}
shopify-private shppa_{hex32}
hubspot pat-na1-{uuid}
hubspot-eu pat-eu1-{uuid}
intercom dG9rOj{b64_50}=
mapbox sk.eyJ1Ijoi{url70}.{url22}
yandex-api AQVN{url36}
yandex-iam t1.9eu{url80}.{url86}
yandex-oauth y0_{url55}
alibaba LTAI{an20}
tencent AKID{an32}
adobe p8e-{an32}
adafruit aio_{an28}
artifactory AKCp{an69}
artifactory-ref cmVmdGtuOj{an54}
contentful CFPAT-{url43}
duffel duffel_live_{url43}
easypost EZAK{an54}
easypost-test EZTK{an54}
frameio fio-u-{url64}
flutterwave FLWSECK_TEST-{hex32}-X
harness pat.{url22}.{hex24}.{an20}
infracost ico-{an32}
intra42 s-s4t2ud-{hex64}
launchdarkly sdk-{uuid}
launchdarkly-api api-{uuid}
lob live_{hex35}
maxmind {an6}_{an29}_mmk
octopus API-{UP26}
openshift sha256~{url43}
plaid access-production-{uuid}
postman PMAK-{hex24}-{hex34}
prefect pnu_{an36}
pulumi pul-{hex40}
readme rdme_{lo70}
scalingo tk-us-{url48}
shippo shippo_live_{hex40}
sonarqube squ_{hex40}
sonarqube-project sqp_{hex40}
sourcegraph sgp_{hex16}_{hex40}
tailscale tskey-auth-{an12}CNTRL-{an32}
thunderstore tss_{url43}
typeform tfp_{url59}
circleci CCIPAT_{an22}_{hex40}
buildkite bkua_{hex40}
klaviyo pk_{hex34}
nylas nyk_v0_{an64}
persona persona_production_{an40}
razorpay rzp_live_{an14}
resend re_{an8}_{an24}
trigger tr_prod_{an20}
inngest signkey-prod-{hex64}
posthog phx_{an43}
posthog-secure phs_{an43}
honeycomb hcaik_{lo58}
axiom xaat-{uuid}
dbt dbtu_{url40}
netbird nbp_{an36}
upcloud ucat_{UP26}
exoscale EXO{hex24}
tigris tsec_{url40}
backblaze K005{b64_27}
alchemy alcht_{an30}
prisma prisma+postgres://accelerate.prisma-data.net/?api_key=⟦eyJ{url100}⟧
ghost {hex24}:{hex64}
square-sandbox EAAAl{url59}
ngrok {an27}_{an21}
codecov-upload CODECOV_TOKEN={uuid}
typesense-search x-typesense-api-key: {an32}
retool retool_{lo26}
deno ddp_{an36}
sanity sk{an178}
statsig secret-{an44}
stytch secret-live-{url36}=
gocardless live_{url40}
zapier-hook https://hooks.zapier.com/hooks/catch/⟦{dig7}/{lo7}⟧/
telegram-url https://api.telegram.org/bot⟦{dig10}:AA{url33}⟧/getMe
bitcoin-wif 5K{b58_49}
bitcoin-xprv xprv9{b58_107}
stellar-seed SB{b32_54}
coinbase-cdp organizations/{uuid}/apiKeys/{uuid} secret=⟦{b64_86}==⟧
settlemint sm_pat_{an16}
opsgenie-genie Authorization: GenieKey ⟦{uuid}⟧
"""

ASSIGNED = """
k8s-env - name: DB_PASSWORD\\n  value: ⟦{pw}⟧
yaml-block password: |\\n  ⟦{pw}⟧
yaml-next-line password:\\n  ⟦{pw}⟧
terraform-option terraform apply -var 'db_password=⟦{pw}⟧'
ansible-become ansible_become_pass=⟦{pw}⟧
admin-pw admin_pw=⟦{pw}⟧
rust-str let token: &str = "⟦{hex32}⟧";
rust-string let password = String::from("⟦{pw}⟧");
python-getenv os.getenv('API_KEY', '⟦{hex32}⟧')
node-default const key = process.env.API_KEY || '⟦{hex32}⟧'
redis-pass redis-cli --pass ⟦{pw}⟧ ping
ngrok-authtoken ngrok authtoken ⟦{an27}_{an21}⟧
poetry-token poetry config pypi-token.pypi ⟦{an40}⟧
infura https://mainnet.infura.io/v3/⟦{hex32}⟧
make-hook https://hook.eu1.make.com/⟦{lo32}⟧
cursor ⟦crsr_{hex64}⟧
aws-secret AWS_SECRET_ACCESS_KEY=⟦{b64_40}⟧
aws-secret-yaml secretAccessKey: ⟦{b64_40}⟧
aws-session-env AWS_SESSION_TOKEN=⟦{b64_200}⟧
azure-secret-env AZURE_CLIENT_SECRET=⟦{an3}8Q~{url31}⟧
heroku-env HEROKU_API_KEY=⟦{uuid}⟧
linode-env LINODE_TOKEN=⟦{hex64}⟧
datadog-env DD_API_KEY=⟦{hex32}⟧
datadog-app DD_APP_KEY: "⟦{hex40}⟧"
algolia-env ALGOLIA_ADMIN_KEY=⟦{hex32}⟧
cloudflare-global CLOUDFLARE_API_KEY=⟦{hex37}⟧
cloudflare-token CF_API_TOKEN=⟦{url40}⟧
fastly-env FASTLY_API_TOKEN=⟦{url32}⟧
vercel-env VERCEL_TOKEN=⟦{an24}⟧
railway-env RAILWAY_TOKEN=⟦{uuid}⟧
cohere-env CO_API_KEY=⟦{an40}⟧
mistral-env MISTRAL_API_KEY=⟦{an32}⟧
okta-env OKTA_CLIENT_TOKEN=⟦00{url40}⟧
auth0-env AUTH0_CLIENT_SECRET=⟦{url64}⟧
pagerduty-env PAGERDUTY_TOKEN=⟦u+{url18}⟧
twilio-env TWILIO_AUTH_TOKEN=⟦{hex32}⟧
telegram-env BOT_TOKEN=⟦{dig10}:AA{url33}⟧
ethereum-key PRIVATE_KEY=⟦0x{hex64}⟧
ethereum-js const privateKey = "⟦0x{hex64}⟧";
mnemonic MNEMONIC="⟦zebra quick onion velvet dolphin rapid castle ember frozen guitar humble jelly⟧"
django-secret SECRET_KEY = 'django-insecure-⟦{lo10}!@{lo30}⟧'
django-spaced SECRET_KEY = "⟦{lo20}#{lo10}(^{lo18}⟧"
rails-base secret_key_base: ⟦{hex128}⟧
rails-master RAILS_MASTER_KEY=⟦{hex32}⟧
laravel-key APP_KEY=base64:⟦{b64_43}=⟧
flask-secret app.config['SECRET_KEY'] = '⟦{hex48}⟧'
flask-secret-attr app.secret_key = b'⟦_5#y2L"F4Q8z{an8}⟧'
nextauth NEXTAUTH_SECRET=⟦{b64_43}=⟧
jwt-secret jwtSecret: '⟦{pw}{an8}⟧'
encryption-key ENCRYPTION_KEY=⟦{hex64}⟧
cookie-secret COOKIE_SECRET=⟦{an32}⟧
session-secret sessionSecret = "⟦{an24}⟧"
webhook-secret WEBHOOK_SECRET=⟦{hex40}⟧
salt-value WP_SALT: define('AUTH_KEY', '⟦{an30}$%^&*{an20}⟧');
wp-password define( 'DB_PASSWORD', '⟦{pw}⟧' );
wp-password-word define('DB_PASSWORD', '⟦{word}⟧');
go-password Password: "⟦{pw}⟧",
java-property spring.datasource.password=⟦{pw}⟧
java-setter config.setPassword("⟦{pw}⟧");
csharp-appsettings "ConnectionStrings": { "Default": "Server=db;Database=x;User Id=sa;Password=⟦{pw}⟧;" }
php-array 'password' => '⟦{pw}⟧',
ruby-hash :password => "⟦{pw}⟧"
powershell $password = "⟦{pw}⟧"
powershell-secure ConvertTo-SecureString "⟦{pw}⟧" -AsPlainText -Force
batch set DB_PASSWORD=⟦{pw}⟧
fish-set set -x API_TOKEN ⟦{an32}⟧
export-quoted export DB_PASSWORD='⟦{pw}⟧'
terraform-var TF_VAR_db_password=⟦{pw}⟧
dockerfile-env ENV POSTGRES_PASSWORD ⟦{pw}⟧
dockerfile-arg ARG NPM_TOKEN=⟦{an36}⟧
compose-env - POSTGRES_PASSWORD=⟦{pw}⟧
helm-set --set auth.password=⟦{pw}⟧
passcode passcode: ⟦{dig6}⟧
pin-code PIN: ⟦{dig6}⟧
apikey-camel apiKey: "⟦{an32}⟧"
apikey-lower apikey=⟦{hex32}⟧
access-token-js accessToken: '⟦{an40}⟧'
refresh-token "refresh_token": "⟦{an64}⟧"
client-secret "client_secret": "⟦{url32}⟧"
consumer-secret consumer_secret = "⟦{an44}⟧"
bearer-token bearerToken = "⟦{an40}⟧"
private-token PRIVATE-TOKEN: ⟦{an20}⟧
deploy-key deploy_key="⟦{an32}⟧"
sentry-dsn SENTRY_DSN=https://⟦{hex32}⟧:⟦{hex32}⟧@sentry.acme.dev/2
pw-short pw = "⟦{pw}⟧"
pwd-yaml pwd: ⟦{pw}⟧
pass-yaml pass: "⟦{pw}⟧"
smtp-pass SMTP_PASS=⟦{word}⟧
mysql-root MYSQL_ROOT_PASSWORD: ⟦{word}⟧
"""

DATABASE = """
postgres postgres://app:⟦{pw}⟧@db.acme.internal:5432/app
postgres-word postgresql://app:⟦{word}⟧@db/app
postgres-at postgresql://app:⟦p@ss:w0rd{an4}⟧@db.acme.internal/app
postgres-asyncpg postgresql+asyncpg://app:⟦{pw}⟧@db:5432/app
mysql-url mysql://root:⟦{pw}⟧@127.0.0.1:3306/shop
mysql-sqlalchemy mysql+pymysql://root:⟦{word}⟧@localhost/shop
mongodb mongodb://admin:⟦{pw}⟧@mongo:27017/?authSource=admin
mongodb-srv mongodb+srv://admin:⟦{an16}⟧@cluster0.ab1cd.mongodb.net/test
redis-url redis://:⟦{pw}⟧@cache:6379/0
rediss-user rediss://default:⟦{an32}⟧@eu1-foo.upstash.io:6379
amqp amqp://guest:⟦{pw}⟧@rabbit:5672/vhost
amqps amqps://user:⟦{an20}⟧@mq.acme.dev/user
mssql-url mssql+pyodbc://sa:⟦{pw}⟧@sql.acme.dev/db?driver=ODBC
sqlserver-jdbc jdbc:sqlserver://db:1433;databaseName=x;user=sa;password=⟦{pw}⟧;
jdbc-postgres jdbc:postgresql://db/app?user=app&password=⟦{pw}⟧
jdbc-mysql jdbc:mysql://root:⟦{pw}⟧@db:3306/app
jdbc-oracle jdbc:oracle:thin:scott/⟦{word}⟧@//db.acme.dev:1521/orcl
oracle-sqlplus sqlplus system/⟦{pw}⟧@orcl
odbc Driver={ODBC Driver 17};Server=db;Uid=sa;Pwd=⟦{pw}⟧;
odbc-word Driver={PostgreSQL};Server=db;Uid=app;Pwd=⟦{word}⟧;
adonet Server=tcp:x.database.windows.net;User ID=a;Password=⟦{pw}⟧;Encrypt=True
libpq host=db port=5432 user=app password=⟦{pw}⟧ dbname=app
libpq-quoted psql "host=db user=app password='⟦{pw}⟧' dbname=app"
go-dsn root:⟦{pw}⟧@tcp(127.0.0.1:3306)/shop
go-dsn-word app:⟦{word}⟧@tcp(db:3306)/app?parseTime=true
azure-storage-conn DefaultEndpointsProtocol=https;AccountName=x;AccountKey=⟦{b64_86}==⟧;EndpointSuffix=core.windows.net
azure-servicebus Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦{b64_43}=⟧
azure-sas-url https://x.blob.core.windows.net/c?sv=2022-11-02&se=2030&sig=⟦{an30}%2B{an12}%3D⟧
cosmos-conn AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=⟦{b64_86}==⟧;
clickhouse clickhouse://default:⟦{pw}⟧@ch:9000/db
snowflake snowflake://user:⟦{pw}⟧@acct/db
couchdb http://admin:⟦{pw}⟧@couch:5984/
elastic https://elastic:⟦{an24}⟧@es.acme.dev:9243
neo4j neo4j+s://neo4j:⟦{url43}⟧@x.databases.neo4j.io
nats nats://user:⟦{pw}⟧@nats:4222
smtp-url smtp://mailer%40acme.dev:⟦{pw}⟧@smtp.acme.dev:587
smtps-word smtps://apikey:⟦{word}⟧@smtp.acme.dev
ftp-url ftp://deploy:⟦{pw}⟧@ftp.acme.dev/www
git-url git clone https://jane:⟦{an40}⟧@git.acme.dev/x.git
git-url-oauth https://oauth2:⟦{an26}⟧@gitlab.acme.dev/x.git
git-url-token https://⟦{an40}⟧@github.com/acme/x.git
git-url-x https://x-access-token:⟦{an40}⟧@github.com/acme/x
cloudinary cloudinary://{dig15}:⟦{url27}⟧@acme
proxy-env http_proxy=http://jane:⟦{pw}⟧@proxy.acme.dev:3128
ldap-bind ldapsearch -D cn=admin,dc=acme -w ⟦{pw}⟧ -b dc=acme
db2 DATABASE=x;HOSTNAME=h;UID=db2inst1;PWD=⟦{pw}⟧;
kafka-jaas org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="⟦{pw}⟧";
ceph secret=⟦AQ{b64_37}==⟧
"""

KEYS = """
pem-rsa ⟦-----BEGIN RSA PRIVATE⟧ KEY-----\\n⟦{pem}⟧\\n-----END RSA PRIVATE KEY-----
pem-pkcs8 -----BEGIN PRIVATE KEY-----\\n⟦{pem}⟧\\n-----END PRIVATE KEY-----
pem-encrypted -----BEGIN ENCRYPTED PRIVATE KEY-----\\n⟦{pem}⟧\\n-----END ENCRYPTED PRIVATE KEY-----
pem-ec -----BEGIN EC PRIVATE KEY-----\\n⟦{pem}⟧\\n-----END EC PRIVATE KEY-----
pem-dsa -----BEGIN DSA PRIVATE KEY-----\\n⟦{pem}⟧\\n-----END DSA PRIVATE KEY-----
pem-openssh -----BEGIN OPENSSH PRIVATE KEY-----\\n⟦{pem}⟧\\n-----END OPENSSH PRIVATE KEY-----
pem-ssh2 ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\\nComment: "x"\\n⟦{pem}⟧\\n---- END SSH2 ENCRYPTED PRIVATE KEY ----
pem-pgp -----BEGIN PGP PRIVATE KEY BLOCK-----\\nVersion: GnuPG v2\\n\\n⟦{pem}⟧\\n=AbCd\\n-----END PGP PRIVATE KEY BLOCK-----
pem-json "private_key": "-----BEGIN PRIVATE KEY-----⏎⟦{b64_64}⟧⏎⟦{b64_64}⟧⏎-----END PRIVATE KEY-----⏎"
pem-env PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----⏎⟦{b64_64}⟧⏎⟦{b64_50}⟧⏎-----END RSA PRIVATE KEY-----"
pem-yaml key: |\\n    -----BEGIN RSA PRIVATE KEY-----\\n    ⟦{b64_64}⟧\\n    ⟦{b64_64}⟧\\n    -----END RSA PRIVATE KEY-----
pem-diff +-----BEGIN RSA PRIVATE KEY-----\\n+⟦{b64_64}⟧\\n+⟦{b64_64}⟧\\n+⟦{b64_30}⟧==\\n+-----END RSA PRIVATE KEY-----
pem-numbered 1\\t-----BEGIN RSA PRIVATE KEY-----\\n     2\\t⟦{b64_64}⟧\\n     3\\t⟦{b64_64}⟧\\n     4\\t⟦{b64_28}⟧\\n     5\\t-----END RSA PRIVATE KEY-----
pem-cut -----BEGIN RSA PRIVATE KEY-----\\n⟦{b64_64}⟧\\n⟦{b64_64}⟧\\n⟦{b64_40}⟧
pem-tail-only ⟦{b64_64}⟧\\n⟦{b64_64}⟧\\n⟦{b64_28}⟧\\n-----END RSA PRIVATE KEY-----
putty PuTTY-User-Key-File-3: ssh-ed25519\\nEncryption: none\\nComment: jane\\nPublic-Lines: 2\\n{b64_64}\\n{b64_20}\\nPrivate-Lines: 1\\n⟦{b64_48}⟧\\nPrivate-MAC: ⟦{hex64}⟧
putty-2 PuTTY-User-Key-File-2: ssh-rsa\\nEncryption: aes256-cbc\\nComment: x\\nPublic-Lines: 1\\n{b64_64}\\nPrivate-Lines: 2\\n⟦{b64_64}⟧\\n⟦{b64_64}⟧\\nPrivate-MAC: {hex40}
wireguard PrivateKey = ⟦{b64_42}A=⟧
wireguard-psk PresharedKey = ⟦{b64_42}8=⟧
jwk {"kty":"RSA","e":"AQAB","d":"⟦{url86}⟧","n":"{url86}"}
jwk-ec {"kty":"EC","crv":"P-256","x":"{url43}","y":"{url43}","d":"⟦{url43}⟧"}
ssh-base64 id_ed25519: ⟦b3BlbnNzaC1rZXktdjEAAAAABG5vbmU{b64_120}⟧
pkcs8-der key = ⟦MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{b64_400}⟧
minisign untrusted comment: minisign encrypted secret key\\n⟦RWRTY0Iy{b64_200}⟧
erlang-cookie .erlang.cookie: ⟦{b32_20}⟧
"""

FILES = """
netrc machine api.acme.dev login jane password ⟦{pw}⟧
netrc-lines machine api.acme.dev\\nlogin jane\\npassword ⟦{word}⟧
npmrc //registry.npmjs.org/:_authToken=⟦{uuid}⟧
npmrc-auth _auth=⟦{b64_40}==⟧
npmrc-password //npm.acme.dev/:_password=⟦{b64_22}==⟧
pypirc [pypi]\\nusername = jane\\npassword = ⟦{word}⟧
pgpass db.acme.dev:5432:app:jane:⟦{pw}⟧
pgpass-word *:*:*:jane:⟦{word}⟧
docker-config {"auths": {"https://index.docker.io/v1/": {"auth": "⟦{b64_38}==⟧"}}}
docker-config-lines "registry.acme.dev": {\\n      "auth": "⟦{b64_40}⟧"\\n    }
kubeconfig-key     client-key-data: ⟦LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{b64_300}⟧
kubeconfig-token     token: ⟦{an64}⟧
kubeconfig-user - name: jane\\n  user:\\n    password: ⟦{word}⟧\\n    username: jane
k8s-secret apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: db\\ndata:\\n  username: YWRtaW4=\\n  password: ⟦{b64_24}⟧
k8s-secret-other kind: Secret\\ntype: Opaque\\ndata:\\n  database-url: ⟦{b64_60}⟧\\n
k8s-secret-stringdata kind: Secret\\nstringData:\\n  dsn: ⟦{an24}⟧\\n  password: ⟦{word}⟧
htpasswd jane:⟦$apr1${an8}${an22}⟧
htpasswd-bcrypt jane:⟦$2y$05${an53}⟧
shadow root:⟦$6${an16}${an86}⟧:19000:0:99999:7:::
ini [database]\\nuser = app\\npassword = ⟦{pw}⟧
ini-word [client]\\nuser=app\\npassword=⟦{word}⟧
toml [db]\\npassword = "⟦{pw}⟧"
toml-api [llm]\\napi_key = "⟦{an40}⟧"
yaml database:\\n  username: app\\n  password: "⟦{pw}⟧"
yaml-word database:\\n  username: app\\n  password: ⟦{word}⟧
json {"host": "db", "password": "⟦{pw}⟧"}
json-nested {"db": {"credentials": {"user": "x", "pass": "⟦{pw}⟧"}}}
xml <password>⟦{pw}⟧</password>
xml-attr <add key="DbPassword" value="⟦{pw}⟧" />
xml-attr-password <user name="tomcat" password="⟦{pw}⟧" roles="manager"/>
maven-settings <server><id>x</id><username>u</username><password>⟦{word}⟧</password></server>
nuget-config <add key="ClearTextPassword" value="⟦{pw}⟧" />
android-property <string name="api_key">⟦{an32}⟧</string>
plist <key>ApiToken</key>\\n<string>⟦{an32}⟧</string>
properties db.password=⟦{word}⟧
properties-keystore keystore.password=⟦{pw}⟧
gradle signingPassword=⟦{pw}⟧
hcl db_password = "⟦{pw}⟧"
tfstate "master_password": "⟦{pw}⟧",
tfvars-word password = "⟦{word}⟧"
env-word DB_PASSWORD=⟦{word}⟧
env-spaces DB_PASSWORD="⟦correct horse battery⟧"
ansible ansible_ssh_pass: ⟦{pw}⟧
ansible-become ansible_become_password=⟦{pw}⟧
wifi network={\\n  ssid="home"\\n  psk="⟦{pw}⟧"\\n}
git-credentials https://jane:⟦{pw}⟧@git.acme.dev
s3cfg access_key = AKID\\nsecret_key = ⟦{b64_40}⟧
aws-credentials [default]\\naws_access_key_id = AKIA{b32_16}\\naws_secret_access_key = ⟦{b64_40}⟧
rclone [s3]\\ntype = s3\\nsecret_access_key = ⟦{b64_40}⟧
filezilla <Pass encoding="base64">⟦{b64_12}⟧</Pass>
composer-auth {"http-basic": {"repo.acme.dev": {"username": "u", "password": "⟦{an24}⟧"}}}
composer-github {"github-oauth": {"github.com": "⟦{hex40}⟧"}}
bundle-config BUNDLE_GEMS__CONTRIBSYS__COM: "⟦{hex8}:{hex8}⟧"
sbt-credentials credentials += Credentials("Nexus", "nexus.acme.dev", "jane", "⟦{pw}⟧")
mycnf [client]\\npassword="⟦{pw}⟧"
redis-conf requirepass ⟦{pw}⟧
redis-masterauth masterauth ⟦{an24}⟧
mongo-conf security.keyFile-secret: ⟦{b64_40}⟧
cisco enable secret 5 ⟦$1${an4}${an22}⟧
snmp snmp-server community ⟦{an10}⟧ RW
gitlab-ci-var   DEPLOY_PASSWORD: "⟦{pw}⟧"
circleci-env - run: echo "export TOKEN=⟦{an40}⟧" >> $BASH_ENV
vscode-settings "sonarlint.token": "⟦{an40}⟧"
postman-env {"key": "token", "value": "⟦{an40}⟧", "enabled": true}
table-markdown | user | password |\\n|---|---|\\n| jane | ⟦{pw}⟧ |\\n| joe | ⟦{an10}⟧ |
table-row | password | ⟦{pw}⟧ |
table-psql  id | email | password\\n----+-------+----------\\n  1 | j | ⟦{pw}⟧\\n(1 row)
csv user,email,password\\njane,j,⟦{pw}⟧\\njoe,k,⟦{an12}⟧
csv-token id;token;name\\n1;⟦{an24}⟧;x
tsv user\\tpassword\\njane\\t⟦{pw}⟧
"""

COMMANDS = """
curl-u curl -u jane:⟦{pw}⟧ https://api.acme.dev
curl-user curl --user 'jane:⟦{word}⟧' https://api.acme.dev
curl-bearer curl -H "Authorization: Bearer ⟦{an40}⟧" https://api.acme.dev
curl-basic curl -H 'Authorization: Basic ⟦{b64_30}==⟧' https://x.dev
curl-token curl -H "Authorization: Token ⟦{hex40}⟧" https://x.dev
curl-apikey-auth curl -H "Authorization: ApiKey ⟦{b64_40}==⟧" https://es
curl-key-auth curl -H "Authorization: Key ⟦{uuid}⟧" https://x
curl-raw-auth curl -H "Authorization: ⟦{an40}⟧" https://x
curl-apikey curl -H "X-Api-Key: ⟦{an32}⟧" https://x.dev
curl-vault curl -H "X-Vault-Token: ⟦{an26}⟧" https://v
curl-gitlab curl --header "PRIVATE-TOKEN: ⟦{an20}⟧" https://g
curl-postmark curl -H "X-Postmark-Server-Token: ⟦{uuid}⟧" x
curl-dd curl -H "DD-API-KEY: ⟦{hex32}⟧" x
curl-fastly curl -H "Fastly-Key: ⟦{url32}⟧" x
curl-cf curl -H "X-Auth-Key: ⟦{hex37}⟧" x
curl-shopify curl -H "X-Shopify-Access-Token: ⟦{hex32}⟧" x
curl-algolia curl -H "X-Algolia-API-Key: ⟦{hex32}⟧" x
curl-subscription curl -H "Ocp-Apim-Subscription-Key: ⟦{hex32}⟧" x
curl-cookie curl -b "session=⟦{an32}⟧" https://x
curl-data curl -d 'username=jane&password=⟦{pw}⟧' https://x/login
curl-json curl -d '{"user":"jane","password":"⟦{pw}⟧"}' https://x/login
curl-grant curl -d "grant_type=client_credentials&client_id=x&client_secret=⟦{an32}⟧" x
header-basic Authorization: Basic ⟦{b64_30}⟧
header-bearer authorization: bearer ⟦{an32}⟧
header-proxy Proxy-Authorization: Basic ⟦{b64_30}⟧
header-digest Authorization: Digest username="x", response="⟦{hex32}⟧"
header-aws4 Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101/us/s3/aws4_request, Signature=⟦{hex64}⟧
header-cookie Cookie: sessionid=⟦{lo32}⟧; csrftoken=⟦{an32}⟧
header-set-cookie Set-Cookie: connect.sid=⟦s%3A{url32}.{an43}⟧; Path=/; HttpOnly
header-csrf X-CSRF-Token: ⟦{an40}⟧
query-apikey https://api.acme.dev/v1?api_key=⟦{hex32}⟧&q=x
query-key https://maps.acme.dev/x?key=⟦{an39}⟧
query-token GET /ws?room=1&token=⟦{an40}⟧ HTTP/1.1
query-access https://x/cb#access_token=⟦{an60}⟧&token_type=bearer
query-sig https://x.dev/f?exp=1&sig=⟦{url43}⟧
query-amz https://b.s3.amazonaws.com/k?X-Amz-Credential=x&X-Amz-Signature=⟦{hex64}⟧
query-amz-token https://b.s3.amazonaws.com/k?X-Amz-Security-Token=⟦IQoJb3JpZ2lu{an200}⟧
query-code https://x.dev/callback?code=⟦{url40}⟧&state=x
query-cf-sign https://storage.googleapis.com/b/o?GoogleAccessId=x&Signature=⟦{an80}%3D⟧
mysql-p mysql -u root -p⟦{pw}⟧ shop
mysql-p-quoted mysql -uroot -p'⟦{pw}⟧' shop
mysql-long mysql --user=root --password=⟦{word}⟧ shop
mysqladmin mysqladmin -u root password ⟦{pw}⟧
pgpassword PGPASSWORD=⟦{pw}⟧ psql -h db
pgpassword-quoted PGPASSWORD='⟦{pw}⟧' pg_dump shop
sshpass sshpass -p ⟦{pw}⟧ ssh root@db
sshpass-quoted sshpass -p '⟦{word}⟧' scp a b:
docker-p docker login -u jane -p ⟦{pw}⟧ r.acme.dev
docker-stdin echo ⟦{pw}⟧ | docker login -u jane --password-stdin
docker-stdin-quoted echo "⟦{an36}⟧" | docker login ghcr.io -u jane --password-stdin
docker-printf printf '%s' '⟦{an30}⟧' | podman login --password-stdin r.acme.dev
docker-herestring docker login -u jane --password-stdin <<< "⟦{an30}⟧"
helm-login helm registry login r.acme.dev -u jane -p ⟦{pw}⟧
sudo-stdin echo '⟦{pw}⟧' | sudo -S apt update
sudo-word echo ⟦{word}⟧ | sudo -S true
gh-auth echo ⟦{an40}⟧ | gh auth login --with-token
chpasswd echo "jane:⟦{pw}⟧" | chpasswd
passwd-stdin echo ⟦{pw}⟧ | passwd --stdin jane
useradd useradd -m -p ⟦{pw}⟧ jane
openssl-pass openssl enc -aes-256-cbc -pass pass:⟦{pw}⟧ -in x
openssl-passin openssl rsa -passin pass:⟦{word}⟧ -in k.pem
gpg-passphrase gpg --batch --passphrase ⟦{pw}⟧ -d x.gpg
zip-p zip -P ⟦{pw}⟧ x.zip a
unzip-p unzip -P ⟦{pw}⟧ x.zip
sevenzip 7z x -p⟦{pw}⟧ x.7z
redis-a redis-cli -a ⟦{pw}⟧ ping
redis-auth AUTH ⟦{pw}⟧
redis-auth-user redis> AUTH default ⟦{an20}⟧
mongo-p mongosh -u admin -p ⟦{pw}⟧
mongo-eval db.createUser({user: "jane", pwd: "⟦{pw}⟧", roles: []})
psql-identified CREATE USER jane IDENTIFIED BY '⟦{pw}⟧';
sql-identified-word ALTER USER 'root'@'localhost' IDENTIFIED BY '⟦{word}⟧';
sql-identified-with ALTER USER root IDENTIFIED WITH mysql_native_password BY '⟦{pw}⟧';
sql-role ALTER ROLE jane WITH PASSWORD '⟦{pw}⟧';
sql-role-word CREATE ROLE app LOGIN PASSWORD '⟦{word}⟧';
sql-create-user create user app with encrypted password '⟦{pw}⟧';
sql-set-password SET PASSWORD FOR jane = PASSWORD('⟦{pw}⟧');
sql-login CREATE LOGIN app WITH PASSWORD = '⟦{pw}⟧';
sql-insert INSERT INTO users (name, password) VALUES ('jane', '⟦{pw}⟧');
sql-update UPDATE users SET password = '⟦{pw}⟧' WHERE id = 1;
mssql-sa sqlcmd -S db -U sa -P '⟦{pw}⟧' -Q 'select 1'
option-password tool --password ⟦{pw}⟧ --verbose
option-password-word tool login --password ⟦{word}⟧ -v
option-token tool deploy --token ⟦{an32}⟧
option-token-eq vercel --token=⟦{an24}⟧ deploy
option-apikey tool --api-key ⟦{an32}⟧
option-secret tool --client-secret=⟦{url32}⟧
option-p tool -p '⟦{pw}⟧' -u jane
option-auth-token npm config set //registry.npmjs.org/:_authToken ⟦{an36}⟧
git-config-token git config --global github.token ⟦{hex40}⟧
git-extraheader git -c http.extraHeader="Authorization: Basic ⟦{b64_40}⟧" clone x
aws-configure aws configure set aws_secret_access_key ⟦{b64_40}⟧
gh-secret gh secret set API_KEY --body "⟦{an32}⟧"
heroku-config heroku config:set SECRET_TOKEN=⟦{hex40}⟧
kubectl-secret kubectl create secret generic db --from-literal=password=⟦{pw}⟧
kubectl-registry kubectl create secret docker-registry r --docker-password=⟦{pw}⟧
kubectl-token kubectl --token=⟦{an64}⟧ get pods
vault-write vault kv put secret/db password=⟦{pw}⟧
vault-login vault login ⟦s.{an24}⟧
az-login az login --service-principal -u x -p ⟦{an3}8Q~{an34}⟧ --tenant y
az-keyvault az keyvault secret set --name x --value ⟦{pw}{an6}⟧
gcloud-secret echo -n "⟦{pw}⟧" | gcloud secrets create db --data-file=-
htpasswd-b htpasswd -b .htpasswd jane ⟦{pw}⟧
net-user net user jane ⟦{pw}⟧ /add
smbclient smbclient //srv/x -U jane%⟦{pw}⟧
mount-cifs mount -t cifs //srv/x /mnt -o username=jane,password=⟦{pw}⟧
lftp lftp -u jane,⟦{pw}⟧ ftp.acme.dev
wget-pass wget --user=jane --password=⟦{pw}⟧ https://x
httpie http -a jane:⟦{pw}⟧ https://x
xfreerdp xfreerdp /u:jane /p:⟦{pw}⟧ /v:srv
rdesktop rdesktop -u jane -p ⟦{pw}⟧ srv
ftp-login ftp> user jane ⟦{pw}⟧
expect-send send "⟦{pw}⟧\\\\r" ;# password
imap-login a1 LOGIN jane ⟦{pw}⟧
keytool keytool -importkeystore -storepass ⟦{pw}⟧ -keystore x
jarsigner jarsigner -keypass ⟦{word}⟧ x.jar
docker-env docker run -e POSTGRES_PASSWORD=⟦{word}⟧ postgres
twine-p twine upload -u __token__ -p ⟦{an40}⟧ dist/*
ansible-extra ansible-playbook x.yml -e "db_password=⟦{pw}⟧"
mvn-d mvn -Dpassword=⟦{pw}⟧ deploy
java-d java -Djavax.net.ssl.keyStorePassword=⟦{word}⟧ -jar x.jar
python-requests requests.get(url, auth=("jane", "⟦{pw}⟧"))
python-connect psycopg2.connect(host="db", user="x", password="⟦{word}⟧")
log-line 12:01 DEBUG login ok user=jane password=⟦{pw}⟧ ip=10.0.0.1
smtp-auth AUTH LOGIN\\n334 VXNlcm5hbWU6\\namFuZQ==\\n334 UGFzc3dvcmQ6\\n⟦{b64_16}⟧
smtp-plain AUTH PLAIN ⟦{b64_28}==⟧
otpauth otpauth://totp/x:jane?secret=⟦{b32_32}⟧&issuer=x
totp-secret TOTP_SECRET=⟦{b32_32}⟧
generated-root A temporary password is generated for root@localhost: ⟦qL7-{an8}⟧
jenkins-initial Please use the following password to proceed to installation:\\n\\n⟦{hex32}⟧\\n
argocd-initial admin password: ⟦{an16}⟧
"""

PROSE = """
p-is the password is ⟦{pw}⟧
p-is-excl The password is ⟦hunter2!⟧
p-is-now my password is now ⟦{pw}⟧, please log in
p-word-quoted the password is "⟦{word}⟧"
p-is-word-quoted-2 the root password is '⟦{word}⟧', use that
p-for the password for the staging db is ⟦{pw}⟧
p-for-admin password for admin: ⟦{pw}⟧
p-use-pw use pw: ⟦{pw}⟧
p-pw-colon user jane pw ⟦{pw}⟧
p-pw-word pw: ⟦{word}⟧
p-login-with login with admin / ⟦{pw}⟧
p-login-slash credentials: admin/⟦{pw}⟧
p-login-as log in as jane with password ⟦{pw}⟧
p-with-password connect as root with the password ⟦{pw}⟧
p-with-password-word connect with password "⟦{word}⟧" please
p-token my token: ⟦{an24}⟧
p-token-is the token is ⟦{an32}⟧
p-use-token use this token ⟦{hex40}⟧ for the api
p-heres-key here's the api key: ⟦{an32}⟧
p-key-is the API key is ⟦{an32}⟧
p-api-key-prose Our API key for prod is ⟦{hex32}⟧, don't share it
p-passphrase the passphrase of the key is ⟦{pw}⟧
p-passphrase-words the passphrase is "⟦correct horse battery staple⟧"
p-secret the client secret is ⟦{url32}⟧
p-changed I changed the password to ⟦{pw}⟧
p-set-to set the root password to ⟦{pw}⟧
p-reset reset it, new password: ⟦{pw}⟧
p-old the old password was ⟦{pw}⟧
p-try try password ⟦{pw}⟧ instead
p-creds creds are jane:⟦{pw}⟧
p-user-pass username: jane, password: ⟦{word}⟧
p-user-pass-slash user/pass: jane/⟦{pw}⟧
p-pin the PIN is ⟦{dig6}⟧
p-wifi wifi password: ⟦{word}⟧
p-arrow password -> ⟦{pw}⟧
p-dash Password – ⟦{pw}⟧
p-equals-spaced password = ⟦{pw}⟧
p-backtick the password is `⟦{word}⟧`
p-de das Passwort ist ⟦{pw}⟧
p-de-fuer das Passwort für den Server lautet ⟦{pw}⟧
p-de-kennwort Kennwort: ⟦{pw}⟧
p-de-zugang Zugangsdaten: jane / ⟦{pw}⟧
p-fr le mot de passe est ⟦{pw}⟧
p-fr-colon mot de passe : ⟦{word}⟧
p-fr-pour le mot de passe pour la base est ⟦{pw}⟧
p-es la contraseña es ⟦{pw}⟧
p-es-clave la clave es ⟦{pw}⟧
p-es-de la contraseña de root es ⟦{pw}⟧
p-it la password è ⟦{pw}⟧
p-pt a senha é ⟦{pw}⟧
p-nl het wachtwoord is ⟦{pw}⟧
p-pl hasło: ⟦{pw}⟧
p-ru пароль: ⟦{pw}⟧
p-zh 密码是 ⟦{pw}⟧
p-zh-colon 密码：⟦{pw}⟧
p-ja パスワード: ⟦{pw}⟧
p-sent they sent me the key ⟦{an32}⟧ yesterday
p-bearer pass bearer ⟦{an32}⟧ in the header
p-license license key: ⟦{UP5}-{UP5}-{UP5}-{UP5}⟧
p-access access code is ⟦{UP8}⟧
"""

HARMLESS = r"""
def f(⏎    user,⏎    password,⏎    server_hostname,⏎):
def f(user,⏎      password,⏎      server_hostname, port):
from a import (⏎    get_password,⏎    created_at,⏎    Sha256Digest,⏎)
from a import b, get_password,⏎    created2at, Utf8Reader
export {⏎  token,⏎  parseUrl2,⏎  isHTTP2,⏎};
export { a, token⏎       parse2, Utf8Reader }
const { user, password⏎} = body, base64Url⏎
| column | type |⏎|---|---|⏎| password | varchar |⏎| created_at | timestamp |⏎| sha256_sum | char64 |
| password | varchar |⏎| created_at | timestamp |⏎| updated2at | timestamp |
| name | secret |⏎|---|---|⏎| created_at | updated_at |
    user, password⏎    host, server2name⏎
-    password,⏎-    server_hostname,⏎+    token,⏎+    Utf8Reader,
test_InvalidHTTPCacheURLError
tests/test_x.py::test_Http2ServerV3Sha256Digest FAILED
key_GetURLFromHTTPAPIForXMLDOM and api-HttpServer2WithUtf16Decoder
+4294967296
+18446744073709551616 and +281474976710656 and x = +2147483648
commit 3f2a9c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a
Merge: 1a2b3c4 5d6e7f8
index 83db48f..bf269f4 100644
9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  dist/app.js
"integrity": "sha512-V8t3kJfQ9w1mXzY7cN4bR2pL6sD0aG5hE8uI3oK1xZvB7nM4qW2rT6yU9iO0pA3sD5fG7hJ9kL1zX3cV5bN7mQ=="
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
--hash=sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
checksum = "3f2a9c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6"
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=
550e8400-e29b-41d4-a716-446655440000
session 8f14e45f-ceea-467f-a8f8-5c3d2b1a0e9f started
{"id": "0190f3b2-7c4d-7e1a-9b2c-3d4e5f6a7b8c", "type": "user"}
toolu_01A2b3C4d5E6f7G8h9J0kLmN
msg_01XFDUDYJgAACzvnptvVoYEL
req_011CQbZkSgHm6x2Yk9d8VnLp
chatcmpl-9Xz7Qw3rT5yU1iO2pA4sD6fG8hJ0k
call_8mKq2LwX9vTz4RpYb3Nc7Hd
run_id: run_7Hq2LmX9vTz4RwPb3Nc8Kd5J
cus_NffrFeUfNV2Hib
price_1MoBy5LkdIwHu7ixZhnattbh
pi_3MtwBwLkdIwHu7ix28a3tqPa
acct_1032D82eZvKYlo2C
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxMCI+PC9zdmc+">
url(data:font/woff2;base64,d09GMgABAAAAAAXwAA0AAAAADEQAAAWaAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA)
color: #1a2b3c; background: #ff00ff80;
.btn-primary-outline-large-disabled { margin: 0 }
test_that_the_login_page_shows_an_error_when_the_password_is_wrong
def test_password_reset_token_expires_after_one_hour(client): ...
password = get_password()
password = getpass.getpass("Password: ")
token: str
token: str | None = None
"password": null
"token": ""
password: ""
"password": "string"
{"type": "password", "label": "Password"}
<input type="password" name="password" placeholder="Enter your password">
<label for="password">Password</label>
export API_KEY=<your-token>
Authorization: Bearer <your-token>
API_KEY=xxx
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
password: changeme
DB_PASSWORD=changeme
SECRET_KEY=replace-me-in-production
token = process.env.TOKEN
const token = process.env.GITHUB_TOKEN!;
token: ${TOKEN}
token: ${{ secrets.GITHUB_TOKEN }}
password: "{{ vault_db_password }}"
password=$(pass show db/prod)
PASSWORD=$(cat /run/secrets/db)
password: !vault |
TOKEN=`cat token.txt`
api_key = os.environ["OPENAI_API_KEY"]
api_key=os.getenv("ANTHROPIC_API_KEY"),
let key = std::env::var("API_KEY")?;
ENV['SECRET_KEY_BASE']
System.getenv("DB_PASSWORD")
password varchar(255) NOT NULL,
password_hash TEXT NOT NULL
ALTER TABLE users ADD COLUMN password text;
CREATE TABLE tokens (id uuid primary key, token text unique);
SELECT id, password FROM users WHERE token = $1
SELECT * FROM users WHERE password = ? AND email = ?
ALTER ROLE app WITH PASSWORD :'password';
CREATE USER app IDENTIFIED BY '${DB_PASSWORD}';
CREATE USER app IDENTIFIED BY '<password>';
token expired
Error: token expired at 2026-01-01T00:00:00Z
invalid token: unexpected end of input
password must be at least 8 characters
Your password must contain a number and an uppercase letter.
The password is required
the password is wrong
the password is stored in the vault
the password is hashed with bcrypt before it is saved
password is not set
password is None
The token is invalid or has expired.
the token is refreshed every 15 minutes
the token is passed in the header
use the token from the environment
use a token with the repo scope
the key is missing
the key is the user id
the API key is read from ANTHROPIC_API_KEY
Set the password to something long.
reset the password to continue
I changed the password field to a masked input
changed the password to be optional
set the password to null in the fixture
forgot password? click here
Password reset email sent
password for the database: see 1Password
log in as admin and open the settings
login with GitHub / Google
login with email / password
credentials: include
credentials: 'same-origin'
the secret is in AWS Secrets Manager
the passphrase is prompted for
Passwort vergessen?
Das Passwort ist falsch.
das Passwort muss mindestens 8 Zeichen haben
le mot de passe est incorrect
la contraseña es obligatoria
la clave es que no haya duplicados
a senha é obrigatória
/home/jane/projects/acme/src/components/PasswordResetForm.tsx
src/auth/token_refresh_handler_integration_test.go:128:12
node_modules/@aws-sdk/credential-provider-node/dist-cjs/index.js
AbstractSingletonProxyFactoryBeanConfigurationTokenProvider
com.acme.security.authentication.UsernamePasswordAuthenticationToken
UsernamePasswordAuthenticationFilter.doFilter(UsernamePasswordAuthenticationFilter.java:112)
!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():e.x=t()}(this,function(){});
var a=function(e){return e.token||e.key||null},b=a({token:void 0});
const{token:e,password:t}=this.props;
if (token !== expectedToken) throw new Error("bad token");
if password == confirm_password:
self.password = password
this.token = token;
user.password = hash_password(user.password)
token = jwt.encode(payload, SECRET_KEY, algorithm="HS256")
expect(screen.getByLabelText("Password")).toBeInTheDocument()
await page.fill('#password', password)
max_tokens: 4096
"input_tokens": 1234567
usage: input_tokens=15234 output_tokens=812 cache_read=99812
tokenizer.encode("hello world")
"max_tokens": 8192, "stop": null
next_page_token: CAESBgoEGgIIAQ
key: value
"key": "value"
sort_key = lambda row: row.created_at
primary_key=True
foreign_key="users.id"
cache_key = f"user:{user_id}:{version}"
keyboard shortcut: ctrl+shift+p
monkey: banana
author: Jane Roe
authorization_endpoint: https://id.acme.dev/authorize
auth: true
auth: none
auth_mode: oauth2
secretName: my-tls-secret
secretKeyRef: {name: db, key: password}
valueFrom: {secretKeyRef: {name: db-secret, key: password}}
imagePullSecrets: [{name: regcred}]
password_file: /run/secrets/db_password
token_file = /var/run/secrets/kubernetes.io/serviceaccount/token
pass: 12 fail: 0 skip: 3
PASS tests/login.test.ts (5.123 s)
first pass: collect symbols
--password string   password to use (default "")
--password-stdin    Take the password from stdin
docker login --username jane --password-stdin < token.txt
echo "$TOKEN" | docker login ghcr.io -u jane --password-stdin
echo $GITHUB_TOKEN | gh auth login --with-token
echo hello | tee out.txt
echo "done" | sudo tee -a /etc/hosts
mysql -u root -p
mysql -u root -p"$MYSQL_PASSWORD"
psql -h db -p 5432 -U app
ssh -p 2222 jane@db.internal
docker run -p 8080:80 nginx
mkdir -p build/assets
cp -p a b
curl -u "$USER:$PASS" https://api.acme.dev
curl -H "Authorization: Bearer $TOKEN" https://api.acme.dev
curl -H "X-Api-Key: ${API_KEY}" https://api.acme.dev
https://api.acme.dev/v1?api_key=YOUR_API_KEY
https://api.acme.dev/v1?token={token}
https://x.dev/search?q=password+reset&key=name&sort=asc
https://github.com/acme/x/commit/3f2a9c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a
https://docs.acme.dev/guides/authentication#access-tokens
postgres://localhost:5432/app
postgres://user:password@localhost/db
postgres://app:${DB_PASSWORD}@db/app
redis://localhost:6379/0
Server=localhost;Database=app;Trusted_Connection=True;
| field | type | password |
| name | type | description |
| password | string | The user's password |
| `--token` | API token | required |
user,email,created_at
id,name,token_count
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7Vv3kJfQ9w1mXzY7cN4bR2pL6sD0aG5hE8uI3oK1xZ jane@laptop
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHk2Jf83hGq01LpZx7VbNm4RtYk2Jf83hGq01LpZx7Vb jane
SHA256:9kX2mPq7vL4tR1wY8zB3nC6dF5gH0jK2lM4nP7qR9sT
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMrZ0F3SUJBZ0lCQURBTkJna3Foa2lHOXcwQkFRc0ZBREFWTVJNd0VRWURWUVFERXdwcmRXSmwK
fingerprint: 3f:2a:9c:1b:7d:5e:8f:0a:1b:2c:3d:4e:5f:6a:7b:8c
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
x-request-id: 7c4d7e1a9b2c3d4e5f6a7b8c0190f3b2
traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
arn:aws:iam::123456789012:role/deploy
i-0a1b2c3d4e5f67890 vpc-0f1e2d3c4b5a69788
projects/acme-prod-123456/secrets/db-password/versions/latest
registry.acme.dev/app@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
app-7d9f8b6c5d-x2k9q   1/1   Running   0   3d
0x7f8e9d0c1b2a3948 in malloc ()
block 0x3f2a9c1b7d5e8f0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6
address: 0x52908400098527886E0F7030069857D2E4169EE7
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789
task-management-system-for-everyone-2026
sk-learn-is-a-python-library-for-ml
live_reload_server_configuration_options
api-reference-documentation-for-version-two
secret_santa_assignments_for_the_office
pat-on-the-back-for-everybody-today
key-value-store-implementation-in-rust
key_error_handling_and_recovery_strategy
fc-match-pattern-for-the-default-font
npm_config_registry npm_package_version
re_compile_all_patterns_at_import_time
hf_hub_download("bert-base-uncased", "config.json")
use_xai_client_when_available
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
class PasswordResetTokenGenerator(BaseTokenGenerator):
The AUTH header is missing
AUTH required
send "exit\r"
net user administrator /active:yes
set -x PATH $HOME/bin $PATH
enable secret management in the console
snmp-server location Berlin
requirepass ""
10:15:32.123 [main] INFO  TokenService - token refreshed for user 42
warning: password authentication is deprecated
Permission denied (publickey,password).
psql: error: FATAL: password authentication failed for user "app"
remote: Invalid username or password.
E   assert response.json()["detail"] == "Incorrect password"
version = "1.24.0-alpha.3+build.20260115"
2026-01-15T10:15:32.123456789Z
bert-base-multilingual-uncased-sentiment-v2-finetuned
claude-sonnet-4-5-20250929
pk_test_placeholder
"kty": "RSA", "use": "sig", "alg": "RS256"
"""


def fakes() -> list[Fake]:
    """All fake secrets, by category and family."""
    return [
        *_fakes("bare token", BARE, carry=True),
        *_fakes("key = value", ASSIGNED, carry=False),
        *_fakes("database", DATABASE, carry=False),
        *_fakes("private key", KEYS, carry=False),
        *wrapped_keys(),
        *_fakes("file", FILES, carry=False),
        *_fakes("command", COMMANDS, carry=False),
        *_fakes("prose", PROSE, carry=False),
    ]


def harmless() -> list[str]:
    """Lines that hold no secret; ⏎ breaks one that only tells with its neighbours."""
    return [line.replace("⏎", "\n") for line in HARMLESS.strip().split("\n") if line]
