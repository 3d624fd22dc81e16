"""Things of which one mostly takes one at a time, by what they are for: a table.

Two names of one row are alternatives; two names that share no row are not, however alike the sentences are in
which they stand ("ESLint for the frontend", "Prettier for the frontend"). Of names that are not here nothing
is known.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

from backstory.distil.terms import telling

_ROWS = {
    "database": "postgres postgresql mysql mariadb sqlite oracle mongodb mongo dynamodb cassandra "
    "cockroachdb couchdb duckdb firestore neo4j clickhouse bigquery snowflake database",
    "cache": "redis memcached valkey varnish dragonfly memory",
    "queue": "redis rabbitmq kafka nats sqs pulsar celery sidekiq rq goodjob resque bullmq temporal postgres "
    "postgresql activemq zeromq kinesis pubsub dramatiq huey",
    "holding": "s3 r2 gcs minio disk redis postgres postgresql mysql sqlite memory database cookies vault "
    "env localstorage files mongodb dynamodb memcached filesystem",
    "search": "elasticsearch opensearch meilisearch typesense solr algolia lucene postgres sqlite",
    "metrics": "datadog prometheus graphite influxdb newrelic cloudwatch statsd",
    "errors": "sentry rollbar bugsnag airbrake honeybadger datadog",
    "logs": "loki elk splunk graylog datadog papertrail cloudwatch",
    "ci": "jenkins,circleci,travis,gitlab ci,github actions,buildkite,drone,"
    "teamcity,azure pipelines,woodpecker",
    "provisioning": "terraform pulumi ansible chef puppet cloudformation saltstack opentofu",
    "hosting": "heroku fly hetzner aws gcp azure vercel netlify render railway digitalocean cloudflare",
    "orchestration": "kubernetes k8s nomad swarm ecs docker-compose",
    "containers": "docker podman containerd",
    "image": "alpine,debian,ubuntu,distroless,debian slim,fedora,scratch,rocky",
    "proxy": "nginx caddy traefik haproxy apache envoy",
    "language": "python go rust java kotlin typescript javascript ruby php elixir scala swift c# c++ node",
    "web framework": "flask fastapi django starlette rails sinatra express nestjs fastify koa gin spring "
    "laravel phoenix litestar",
    "ui framework": "react vue angular svelte solid preact ember htmx",
    "meta framework": "next.js nextjs nuxt remix sveltekit astro gatsby",
    "state": "redux zustand mobx recoil pinia vuex jotai",
    "styles": "bootstrap tailwind bulma sass less css",
    "orm": "sqlalchemy tortoise peewee prisma typeorm sequelize drizzle hibernate sqlmodel",
    "bundler": "webpack vite esbuild rollup parcel turbopack rspack",
    "packages": "npm yarn pnpm bun",
    "python packages": "pip poetry uv pipenv pip-tools conda pdm hatch",
    "formatter": "black ruff prettier yapf autopep8 gofmt clang-format biome dprint",
    "linter": "ruff flake8 pylint eslint tslint biome golangci-lint oxlint",
    "types": "mypy pyright pyre ty",
    "unit tests": "pytest unittest nose jest vitest mocha jasmine junit ava",
    "browser tests": "selenium playwright cypress puppeteer webdriverio",
    "api": "rest graphql grpc soap trpc",
    "client": "axios fetch requests httpx aiohttp curl urllib got ky",
    "token": "jwt paseto sessions cookies macaroons",
    "signature": "hs256 rs256 es256 eddsa hmac ed25519",
    "password": "bcrypt argon2 argon2id scrypt pbkdf2 md5 sha1 sha256",
    "identity": "auth0 keycloak okta cognito clerk",
    "format": "json yaml toml xml csv protobuf avro msgpack parquet ini",
    "picture": "png jpeg webp avif svg gif",
    "compression": "gzip brotli zstd lz4",
    "mail": "mailgun ses sendgrid postmark mailchimp smtp",
    "payment": "stripe adyen paypal braintree mollie",
    "push": "firebase onesignal pusher apns",
    "flags": "launchdarkly unleash flagsmith growthbook",
    "dates": "moment date-fns dayjs luxon",
    "docs": "sphinx mkdocs docusaurus jekyll hugo vitepress",
    "validation": "pydantic zod joi marshmallow yup cerberus",
    "license": "MIT BSD BSD-2-Clause BSD-3-Clause Apache Apache-2.0 GPL GPLv2 GPLv3 AGPL AGPLv3 LGPL "
    "MPL MPL-2.0 ISC",
    "secrets": "vault env sops doppler",
    "indentation": "tabs spaces",
    "time zone": "utc,gmt,cet,local time",
    "side": "server browser client edge",
    "versions": "git mercurial subversion",
    "ids": "uuid uuidv4 uuidv7 ulid integers snowflake nanoid",
}
#: One has several of these beside each other, whatever is said of them.
_BESIDE_EACH_OTHER = frozenset(
    telling(
        """linux macos windows ios android chrome firefox safari staging production prod dev test local
        english german french spanish desktop mobile"""
    )
)


def _table() -> Mapping[frozenset[str], frozenset[str]]:
    found: dict[frozenset[str], set[str]] = defaultdict(set)
    for kind, names in _ROWS.items():
        for name in names.split("," if "," in names else " "):
            found[frozenset(telling(name))].add(kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


_KINDS = _table()
_LONGEST_NAME = 2


@lru_cache(8_192)
def kinds(words: frozenset[str]) -> frozenset[str]:
    """What the named things among a few telling words are for; empty if none is known."""
    parts = (
        frozenset(part) for size in range(1, _LONGEST_NAME + 1) for part in combinations(sorted(words), size)
    )
    return frozenset().union(*(_KINDS.get(part, frozenset()) for part in parts))


def is_known(words: frozenset[str]) -> bool:
    """Whether these words are the name of one thing that is in the table."""
    return words in _KINDS


def side_by_side(words: frozenset[str]) -> bool:
    """Whether something is meant of which one has several: platforms, environments, languages."""
    return not words.isdisjoint(_BESIDE_EACH_OTHER)
