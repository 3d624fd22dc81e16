"""Tokens that a service marks with a prefix or a shape of its own: rows of patterns.py, as tuples.

Most start with a prefix: one list says which, and both the anchors and the pattern are made of it. The
prefixes are facts about public formats. Nothing is imported here: the hook loads this file.
"""

_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"
_B = "[A-Za-z0-9_-]"

# Of tokens that start a run of letters, digits, _ and -; what follows must look drawn by a machine.
_PREFIXES = """
    shpat_ shpss_ shpca_ shppa_ shptka_ shprka_ lin_api_ lin_oauth_ figd_ figu_ dckr_pat_ dckr_oat_ sbp_
    sb_secret_ nfp_ nfc_ nfo_ rubygems_ gsk_ r8_ glsa_ glc_ pscale_tkn_ pscale_pw_ pscale_oauth_
    pscale_otkn_ sntrys_ sntryu_ sntrya_ NRAK- NRII- NRJS- NRRA- NRIQ- PMAK- pplx- tskey- sq0csp-
    sq0atp- sq0idp- ATATT ATCTT ATBB ATTA AGE-SECRET-KEY-1 glrtr- glwt- GR1348941 whsec_ doo_v1_ dor_v1_
    HRKU- vcp_ vck_ vci_ vca_ vcr_ crsr_ dtn_ mdb_sa_sk_ gta_
    vercel_blob_rw_ fo1_ fm1a_ fm1r_ fm2_ cfut_ cfat_ cfk_ napi_ api_org_
    xai- tgp_v1_ csk- nvapi- lsv2_pt_ lsv2_sk_ pcsk_ tvly- jina_ wandb_v1_ ntn_ CLOJARS_ oy2 da2- AKCp
    cmVmdGtuOj CFPAT- duffel_live_ duffel_test_ EZAK EZTK fio-u- FLWSECK- FLWSECK_TEST- s-s4t2ud-
    access-production- access-sandbox- access-development- pnu_ pnb_ rdme_ tk-us- tk-eu- shippo_live_
    shippo_test_ squ_ sqp_ sqa_ sgp_ sgd_ slk_ tss_ tfp_ CCIPAT_ CCIPRJ_ bkua_ bkct_ bkaj_ nyk_v0_
    persona_production_ persona_sandbox_ rzp_live_ rzp_test_ tr_prod_ tr_dev_ tr_stg_ signkey-prod-
    signkey-test- phx_ phs_ phr_ hcaik_ hcbik_ hcamk_ xaat- xapt- dbtc_ dbtu_ nbp_ ucat_ tsec_ alcht_
    sm_pat_ sm_aat_ ddp_ ddo_ ddw_ pat-na1- pat-na2- pat-eu1- pat-ap1- p8e- xkeysib- xsmtpsib- LTAI AKID
    y0_ AQVN IGQV ABSK ABIA ACCA bedrock-api-key- IQoJb3JpZ2lu FwoGZXIvYXdz APA91b dG9rOj eyJrIjoi
    ops_eyJ xprv dkea sup_sk_ e2b_ cal_live_ polar_oat_ polar_pat_ plane_api_ rpa_ ctx7sk- ctx7sk_
    bb_live_ ory_pat_ ory_at_ ory_rt_ ory_st_ apify_api_ lip_ lmb_ lma_ waka_ zpka_ unkey_ vtwn_ rootly_
    samsara_api_ pina_ pdl_live_ pdl_sdbx_ cfsk_ma_ CCDB1_ dvc_server_ dvc_mobile_ dnkey- APP_USR- Mid-server-
    lmnr_ ion_ cflt KEY01 isat_ JDC_ AKLT wrkatu wrkaus nsec1 gsk- dpop_ fsk_ AQAAABAAAA
    BBDC- testsk_ figdr_ NRAA- s-s4t2af- sgamp_ AGE-SECRET-KEY-PQ-1 DO00
"""
# Those that names in code start with as well.
_WORD_PREFIXES = """
    test_ live_ key_ key- api- API- sdk- mob- secret_ secret- token_ token- tok_ apikey_ apikey-
    api_key_ access_token_ pat_ sess- sk_ pk_ re_ md- fw_ rnd_ retool_ hcp_ fc- pa- pul- ico- EXO EAA
    ak_ cio dose K00 aio_ db- fk- BSA
"""
# Services name a token `ory_pat_…`, `apify_api_…`: the kind stands between the service's name and what was drawn.  # noqa: E501
KINDS = tuple(
    f"{kind}_"
    for kind in [
        "pat",
        "api",
        "apikey",
        "key",
        "sk",
        "secret",
        "token",
        "live",
        "oat",
        "uat",
        "sat",
        "tkn",
        "access",
        "refresh",
    ]
)
PREFIXES, WORD_PREFIXES = tuple(_PREFIXES.split()), tuple(_WORD_PREFIXES.split())
_HEADS = "|".join(sorted(PREFIXES, reverse=True))  # the longer of two goes first; none holds a special sign
_WORD_HEADS = "|".join(sorted(WORD_PREFIXES, reverse=True))

# -----BEGIN … PRIVATE KEY in base64, by what stands before PRIVATE; and keys that have lost their header.
_WRAPPED = (
    "LS0tLS1CRUdJTiB(?:SU0EgUFJJVk|QUklWQ|PUEVOU1NI|FQyBQUk|FTkNSWV|EU0EgUFJJ|QR1AgUFJJ)"
    "|b3BlbnNzaC1rZXktdjEAAAAA"
    "|MII[A-Za-z0-9+/]{1,8}IBADANBgkqhkiG9w0BAQEFAASC|MII[A-Z][A-Za-z0-9+/]{2}IBAAKC|M(?:H[cQ]|I[GI])CAQEEI"
    "|MIGHAgEAMBMGByqGSM49|MC4CAQAwBQYDK2VwBCIEI|RWRTY0Iy"
)

ROWS = (
    (
        "private-key",
        ("LS0tLS1CRUdJTiB", "b3BlbnNzaC1rZXktdjE", "MII", "MHc", "MHQ", "MIG", "MC4", "RWRTY0Iy"),
        rf"(?={_B}{{20}})(?:{_WRAPPED})[A-Za-z0-9+/]{{12,}}+={{0,2}}(?:(?:[\"'+,>|-]|\s|\\[nr]){{1,40}}+[A-Za-z0-9+/]{{40,}}+={{0,2}})*+"
        rf"(?:(?:(?:\n|\\[nr])[ >+-]{{0,3}}){{1,20}}+[A-Za-z0-9+/]{{1,39}}(?:={{1,2}}|(?=[\s>+-]*+\Z)))?",
        "LS0tLS1CRUdJTiBSU0Eg" + "UFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVB",
        "start",
        "wrapped_key",
    ),
    (
        "service-token",
        PREFIXES,
        rf"(?:{_HEADS}){_B}{{8,255}}",
        "shp" + "at_" + _HEX32,
        "start",
        "head_token",
    ),
    (
        "service-token",
        KINDS,
        rf"(?:{'|'.join(KINDS)})[A-Za-z0-9]{{20,255}}(?![A-Za-z0-9_])",
        "acme_pat_" + "Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1GsXk3v",
        "head",
        "kind_token",
    ),
    (
        "service-token",
        WORD_PREFIXES,
        rf"({_WORD_HEADS}){_B}{{8,255}}",
        "ke" + "y-" + _HEX32,
        "digit",
        "word_token",
    ),
    (
        "service-token",
        (
            *(
                "hvs.",
                "hvb.",
                "hvr.",
                "dp.pt.",
                "dp.st.",
                "dp.ct.",
                "dp.sa.",
                "atlasv1.",
                "sha256~",
                "oauth~",
            ),
            *(".prd.", ".dev.", ".stg.", ".prod.", ".ci.", "amzn.mws.", "cs.v1.", "Atzr|", "Atza|"),
            *("mlsn.", "WPL_AP0.", "WPL_AP1.", "hcp.", "na1.", "AQ."),
        ),
        rf"(?:hv[sbr]\.|dp\.(?:[psc]t|sa)\.(?:(?:prd|dev|stg|prod|ci)\.)?|atlasv1\.|(?:sha256|oauth)~|amzn\.mws\."
        rf"|amzn1\.oa2-cs\.v1\.|Atz[ra]\||mlsn\.|WPL_AP[01]\.|hcp\.|na1\.|AQ\.(?={_B}{{40}})){_B}{{20,2000}}",
        "hv" + "s.CAESIJ7Qk2Lz9WvNt4RpYc8Hd5Jf1GsXk3vQ9mTz7",
        "foot",
        "random_token",
    ),
    (
        "service-token",
        (
            "NRAL",
            "_mmk",
            "AZDO",
            "AzFu",
            "AzSe",
            "AzCa",
            "ACDb",
            *(f"-us{n}" for n in range(1, 10)),
            *(f"us{n}" for n in range(10, 40)),
        ),
        r"(?:[0-9a-f]{36,40}NRAL|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|[A-Za-z0-9]{72,80}AZDO[A-Za-z0-9]{4}"
        r"|[A-Za-z0-9_-]{33,76}A(?:zFu|zSe|zCa|CDb)[A-Za-z0-9_-]{6}={0,2}"
        r"|[0-9a-f]{32}-us(?:[1-9]|[1-3][0-9]))(?![A-Za-z0-9_-])",
        _HEX32 + "-us" + "12",
        "whole",
        "fixed_head",
    ),
    # A service's name, and far more letters and digits than an id has: services that nobody has listed yet.
    (
        "service-token",
        ("w" * 43,),
        r"[a-z](?=[A-Za-z0-9_-]{42})(?!k-|ypi-)[a-z0-9]{1,15}[_-](?:[a-z0-9]{2,12}[_-]){0,2}([A-Za-z0-9]{32,80})(?![A-Za-z0-9_+/=-])",
        "newservice" + "_Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1GsXk3vQ9mT",
        "shapes",
        "prefixed_token",
    ),
    (
        "service-token",
        ("w" * 22 + "." + "w" * 24 + "." + "w" * 20,),
        rf"[ps]at\.{_B}{{22}}\.[0-9a-f]{{24}}\.[A-Za-z0-9]{{20}}(?![A-Za-z0-9])",
        "pa" + "t.Xk3vQ9mTz7LpRw2YbNc8Hd.3f9a1c7be04d58269b1e7c20." + "Jf1GsXk3vQ9mTz7LpRw2",
        "words",
        "fixed",
    ),
    (
        "azure-key",
        ("JQQJ99",),
        r"[A-Za-z0-9]{40,80}JQQJ99[A-Za-z0-9]{2,44}(?![A-Za-z0-9])",
        "8wEBd4Un4CGLJG8po2geCk2hcvElXk3vQ9mTz7LpRw2YbNc8Hd5J" + "JQQJ99BKACAAx7Qk",
        "lengthy",
        "fixed",
    ),
    (
        "service-token",
        ("A" * 20,),
        r"A{20,24}(?!A)[A-Za-z0-9%]{60,160}(?![A-Za-z0-9+/=])",
        "A" * 22
        + "MLheAAAAAAA0%2BuSeid%2BULvsea4JtiGRiSDSJSI%3D"
        + "EUifiRBkKG5E2XzMDjRfl76ZC9Ub0wnz4XsNiRVBChTYbJcE3F",
        "head",
        "twitter_token",
    ),
    (
        "service-token",
        ("0" * 15,),
        r"[0-9]{15,20}-[A-Za-z0-9]{40}(?![A-Za-z0-9_-])",
        "938475610293847561" + "-Xk3vQ9mTz7LpRw2YbNc8Hd5Jf1GsXk3vQ9mTz7Lp",
        "start",
        "head_token",
    ),
    (
        "service-token",
        ("A3-",),
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Za-z0-9])",
        "A3" + "-ASWWYB-798JRY-LJVD4-23DC2-86TVM-H43EB",
        "start",
        "fixed_head",
    ),
    (
        "service-token",
        (
            "w" * 17 + "." + "w" * 64,
            "w" * 6 + "." + "w" * 24 + "." + "w" * 64,
            "w" * 6 + "." + "w" * 8 + "." + "w" * 64,
            "ww." + "w" * 30 + "." + "w" * 60,
            "ww." + "w" * 60,
            "www." + "w" * 60,
            "w." + "w" * 60,
            "w" * 8 + "." + "w" * 8 + "." + "w" * 43,
        ),
        rf"(?:pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}"
        rf"|dt0[a-z][0-9]{{2}}\.[A-Z2-7]{{8}}(?:[A-Z2-7]{{16}})?\.[A-Z2-7]{{64}}|t1\.(?:{_B}{{60,}}+(?:[.]{_B}{{60,}}+)?|{_B}{{30,59}}[.]{_B}{{60,}}+)"
        rf"|snyk_[a-z]{{3}}\.[0-9a-f]{{8}}\.{_B}{{43,}}+|mfa\.{_B}{{60,}}+|v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}|sl\.(?:[A-Za-z]\.)?{_B}{{60,}}+)(?![A-Za-z0-9])",
        "pat" + "Xk3vQ9mTz7LpRw." + _HEX32 + _HEX32,
        "shapes",
        "fixed",
    ),
    # Of no prefix, but of one length and alphabet: sending keys of mail services, keys of wallets in base58.
    (
        "service-token",
        ("w" * 50,),
        r"(?:[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}|(?:5[HJK]|[KL][1-5][1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{49})"
        r"(?![A-Za-z0-9_+/=-])",
        _HEX32 + "-3f9a1c7b-" + "9b1e7c20",
        "shapes",
        "sized_token",
    ),
    (
        "google-oauth",
        ("w  " + "w" * 43, "w    " + "w" * 43),
        rf"1(?://|\\/\\/)0{_B}{{42,255}}",
        "1/" + "/0gXk3vQ9mTz7LpRw2YbNc8Hd5Jf1GsXk3vQ9mTz7Lp-RtYk2Jf83hGq01LpZx7Vb",
        "shapes",
    ),
    (
        "azure-key",
        ("q~",),
        r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
        "jYa8Q" + "~009liqK1tGEjqEFVgIFnr5fQxETr8FSMeY",
        "tilde",
        "fixed",
    ),
    (
        "service-token",
        ("webhook.office.com", "make.com", "ifttt.com", "infura.io", "alchemy.com"),
        r"(?:webhook\.office\.com\\?/webhookb2\\?/|hook\.[a-z0-9.]{1,12}make\.com\\?/"
        r"|ifttt\.com\\?/trigger\\?/[\w-]{1,60}\\?/(?:json\\?/)?with\\?/key\\?/|infura\.io\\?/(?:ws\\?/)?v3\\?/"
        r"|alchemy\.com\\?/v2\\?/)(?=[A-Za-z0-9_-]{20})([A-Za-z0-9@_-]{20,255}(?:\\?/[A-Za-z0-9_-]{8,64}){0,4})",
        "https://mainnet.infura.io/v3" + "/" + _HEX32,
        "address",
        "value",
    ),
    (
        "password-hash",
        ("$apr1$", "$2a$", "$2b$", "$2y$", "$1$", "$6$", "$argon2", "$production$"),
        r"\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|\$(?:apr1|[16])\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,40}\$"
        r"(?:[./A-Za-z0-9]{1,40}\$)?[./A-Za-z0-9]{20,99}|\$argon2(?:id?|d)\$[^\s\"':]{40,255}"
        r"|access_token\$production\$[a-z0-9]{16}\$[0-9a-f]{32}",
        "jane:" + "$apr1" + "$Yum98h0E$6VbGIuyGArCdrW2KczmRTK",
        "dollar",
        "whole",
    ),
)
