"""A password or a key some words after a word that announces one; and developers' lines that have none."""

import json

import pytest

from backstory.hook.redact import Redactor

REDACTOR = Redactor()
PASSWORD, KEY, HEX = (
    "Kestrel77" + "!xYq",
    "idr0koeP4PPHJTU" + "EdW0mFamRUrcvgqjw",
    "7e48902c53da2219" + "b1e68a41f68e4142",
)
TOLD = (
    "log in as admin with {p}",
    "you can sign in with user jane and {p}",
    "password changed from the old one to {p}",
    "try the pin-protected vault pass {p}",
    "root@10.1.1.1, pass {p}",
    "db creds → app:{p}",
    "das Kennwort für den Server ist jetzt {p}",
    "unlock it with {p}",
    "when it asks for the password type {p}",
    "it wants the sudo password, that is {p}",
    "here is the api key you asked for: {k}",
    "token for prod (do not share) {k}",
    "the encryption key I used was {k}",
    "the secret we share with the webhook is {h}",
)
HARMLESS = """
the token count is 4096 and the password field is empty
the key is to cache the secret lookups, see commit 7e48902c53da2219b1e68a41f68e41424a662e6b
token refresh was fixed in 7e48902c53da2219b1e68a41f68e41424a662e6b
the secret's sha256 is 7e48902c53da2219b1e68a41f68e41424a662e6b7e48902c53da2219b1e68a41
password field uses rounded-md border-[#3b82f6]/50 px-3 py-1.5 md:w-1/2
login page: h-[calc(100%-1rem)] w-full sm:max-w-2xl
the token is parsed by parseOAuth2TokenFromHeader in src/auth/oauth2.ts:120
log in with jsonwebtoken@9.0.2 installed and node v20.11.1
sign in fails on iOS17 and Android14 with error E1004
unlock the mutex in Worker3 before calling flushBuffer2
the password test is test_password_reset_v2_sends_mail_once
token row 0f2b8c1e-9a7d-4e5f-8b6c-1d2e3f4a5b6c was deleted
password reset for user id 0f2b8c1e9a7d4e5f8b6c1d2e3f4a5b6c
the token has type Promise<User1> now
pass the value as arg2 to renderPage3
unlock achievements in level10 with coins250
the access key rotation job runs at 02:30 on 2026-11-18
login took 1250ms, was 980ms before #4411
the private key lives in ~/.ssh/id_ed25519 as before
the api key is read from process.env.API_KEY_V2
the api key has 32 characters and starts with sk_
the signing key algorithm is RS256, was HS256
credentials are in 1Password under team-vault-2
creds are loaded by loadAwsCredentialsV4() on line 88
token TokenStore#refresh2 is called twice
see docs/auth.md#Step2 for the password rules
the secret to fast builds is ccache4
password must match ^(?=.*[A-Z])(?=.*[0-9]).{8,}$
the password needs 8+ characters, 1 digit, 1 of !@#$%
sign in with Google or GitHub (OAuth2)
the token expires in 3600s, the refresh token in 30d
token: { type: string, maxLength: 255 }
"token": {"type": "string", "minLength": 20}
secret rotation: v1 -> v2, see PR #1234
the license key format is XXXXX-XXXXX-XXXXX-XXXXX
the master key is derived with PBKDF2-HMAC-SHA256
wifi key length is 8 to 63 characters for WPA2
the shared key of both lists is user_id_2
unlock with Ctrl+Shift+F12 when it hangs
login.spec.ts passes 12 of 14, see run 8812345678
the token uses font-mono text-xs2 bg-zinc-900/50
password input has class="w-1/2 p-2.5 text-sm"
log in to ghcr.io before docker pull acme/app:1.20.3-rc2
the secret is mounted at /run/secrets/db_password_v2
pass --token-file=/tmp/t1 to the CLI
login as user1 or user2 on staging3
token bucket: rate=100 burst=250
the pass is run by LoopVectorizePass2 in LLVM18
kubectl get secret db-creds-7f9c8d6b5-x2k4j -n prod
password hashing uses argon2id m=65536 t=3 p=4
the private key is 4096 bits, RSA
access key last used 2026-11-01T10:22:31Z in eu-west-1
the token in test 3 is called fakeTokenForTests1
secret scanning found 0 issues in 1,204 files
sign in button moved to x=120 y=48
unlock file .terraform.lock.hcl for v1.9.5
the deploy key check fails with HTTP403Forbidden
credentials error AADSTS50126 on login
the encryption key id is alias/app-key-2026
token ${API_TOKEN_V2} is not set in ci.yml:34
""".strip().split("\n")


@pytest.mark.parametrize("told", TOLD)
def test_what_a_sentence_announces_goes(told: str) -> None:
    text = told.format(p=PASSWORD, k=KEY, h=HEX)
    clean = REDACTOR.redact(f"Hello.\n{text}, thanks")
    assert not any(secret in clean for secret in (PASSWORD, KEY, HEX)), clean
    assert REDACTOR.suspicious(json.dumps({"text": text}))


def test_of_sixty_lines_of_developers_at_most_one_is_changed() -> None:
    assert len(HARMLESS) == 60
    changed = [line for line in HARMLESS if REDACTOR.redact(line) != line]
    assert len(changed) <= 1, changed
