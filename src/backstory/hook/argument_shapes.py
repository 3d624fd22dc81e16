"""Rows of patterns.py: drawn values that the name or the call tells to which they are given.

`OTP_SEED=…`, `GITEA_PAT: …`, `jwt.sign(claims, "…")`. These names and calls take harmless values too, so only
what a machine has drawn goes, and anchors are sought only where a run of 20 letters and digits follows.
Nothing is imported here: the hook loads this file.
"""

# Names whose whole or last part says that a value is secret; of others see secret_names.py.
NAMES = (
    *("pat", "psk", "seed", "pepper", "salt", "bearer", "mnemonic", "sas_sig", "sas-sig", "sassig"),
    *(
        f"{kind}{joint}code"
        for kind in ("recovery", "activation", "unlock", "backup", "registration", "pairing", "api")
        for joint in ("_", "-", "")
    ),
    "sonar.login",
)
# Calls that sign, encrypt or authenticate with a literal among their first arguments.
CALLS = (
    *("client", "hmac.new", "createhmac", "jwt.sign", "jwt.verify", "jwt.encode", "jwt.decode", "fernet"),
    *("algoliasearch", "setapikey", "hmac.digest", "createcipheriv", "createdecipheriv", "secretkeyspec"),
    *("jws.sign", "jws.verify", "signedtoken", "azurekeycredential", "tokencredential", "hmacsha256"),
    *("signer", "serializer", "basicauth", "httpbasicauth", "tokenauth", "hmac_sha256", "setsigningkey"),
)
_QUOTE = r"\\?[\"'`]"
_NAMED = "|".join(name.replace(".", r"\.") for name in sorted(NAMES, reverse=True))
_CALLED = "|".join(call.replace(".", r"\.") for call in sorted(CALLS, reverse=True))
_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"

ROWS = (
    (
        "secret",
        NAMES,
        rf"(?i:({_NAMED}))(?:{_QUOTE})?\]?[ \t]{{0,4}}(?::|={{1,2}}>?)[ \t]{{0,4}}(?:{_QUOTE})?"
        r"([A-Za-z0-9_-]{20}[A-Za-z0-9_+/=.~-]{0,236}|1/[0-9]{13,20}:[0-9a-f]{32})",
        "TOTP_SEED=" + _HEX32,
        "given",
        "given_to_name",
    ),
    (
        "secret",
        CALLS,
        rf"(?i:{_CALLED})\("
        rf"(?:[^()\"'`\n]{{0,80}}|{_QUOTE}[^\"'`\\\n]{{0,60}}{_QUOTE}[ \t]{{0,4}},[ \t]{{0,4}})"
        rf"{_QUOTE}([A-Za-z0-9_-]{{20}}[^\s\"'`\\]{{0,236}}){_QUOTE}",
        'jwt.sign(claims, "' + "8wEBd4Un4CGLJG8po2geCk2hcvEl" + '")',
        "call",
        "given_to_call",
    ),
)
