"""Words of the trade: sorts of things that developers choose among, what a sort is called, and what it has.

No text's vector knows that NATS is a message broker or that a rollout is a deployment; a developer does. Two
ask here: whether a decision takes another one's place (two names of one sort are alternatives,
`distil/alternatives.py`), and search (a question for a sort finds what has one of its names,
`search/meant.py`). Written by hand, from knowledge of the trade.
"""

from typing import NamedTuple


class Sort(NamedTuple):
    """Things of which one mostly takes one at a time: what the sort is called, and their names.

    What is of several sorts (Postgres keeps data, and queues too) is above all of the first.
    """

    called: tuple[str, ...]
    names: tuple[str, ...]


def _sort(called: str, names: str) -> Sort:
    """Parts are divided by commas; names, if they have none, by spaces."""
    parts = names.split(",") if "," in names else names.split()
    return Sort(tuple(part.strip() for part in called.split(",") if part), tuple(map(str.strip, parts)))


SORTS = {
    "database": _sort(
        "database, db, data store, datastore, sql database",
        "postgres postgresql mysql mariadb sqlite oracle mongodb mongo dynamodb cassandra cockroachdb "
        "couchdb duckdb firestore neo4j clickhouse bigquery snowflake database",
    ),
    "cache": _sort("cache, caching", "redis memcached valkey varnish dragonfly memory"),
    "queue": _sort(
        "queue, broker, message broker, message queue, message bus, event bus, event stream, job queue, "
        "task queue, background jobs, pubsub, pub sub",
        "redis rabbitmq kafka nats sqs pulsar celery sidekiq rq goodjob resque bullmq temporal postgres "
        "postgresql activemq zeromq kinesis pubsub dramatiq huey",
    ),
    "holding": _sort(
        "",
        "s3 r2 gcs minio disk redis postgres postgresql mysql sqlite memory database cookies vault env "
        "localstorage files mongodb dynamodb memcached filesystem",
    ),
    "objects": _sort("object store, object storage, blob storage, bucket", "s3 r2 gcs minio"),
    "search": _sort(
        "search engine, search index, text search",
        "elasticsearch opensearch meilisearch typesense solr algolia lucene postgres sqlite",
    ),
    "metrics": _sort(
        "metrics, monitoring, dashboard, observability, telemetry",
        "datadog prometheus graphite influxdb newrelic cloudwatch statsd",
    ),
    "tracing": _sort("tracing, distributed tracing", "jaeger zipkin opentelemetry otel tempo honeycomb"),
    "errors": _sort(
        "error tracker, error tracking, error reporting, crash reporting",
        "sentry rollbar bugsnag airbrake honeybadger datadog",
    ),
    "logs": _sort(
        "log aggregation, log storage, log search",
        "loki elk splunk graylog datadog papertrail cloudwatch",
    ),
    "ci": _sort(
        "ci, ci system, ci server, build server, build pipeline, continuous integration",
        "jenkins,circleci,travis,gitlab ci,github actions,buildkite,drone,teamcity,azure pipelines,"
        "woodpecker",
    ),
    "provisioning": _sort(
        "provisioning, infrastructure, configuration management",
        "terraform pulumi ansible chef puppet cloudformation saltstack opentofu",
    ),
    "hosting": _sort(
        "hosting, cloud, cloud provider, hosting provider",
        "heroku fly fly.io hetzner aws gcp azure vercel netlify render railway digitalocean cloudflare",
    ),
    "orchestration": _sort(
        "orchestration, orchestrator, container orchestration, cluster",
        "kubernetes k8s nomad swarm ecs docker-compose",
    ),
    "containers": _sort("container, container runtime, container engine", "docker podman containerd"),
    "image": _sort("base image", "alpine,debian,ubuntu,distroless,debian slim,fedora,scratch,rocky"),
    "proxy": _sort(
        "proxy, reverse proxy, load balancer, web server, ingress", "nginx caddy traefik haproxy apache envoy"
    ),
    "language": _sort(
        "programming language, language",
        "python go rust java kotlin typescript javascript ruby php elixir scala swift c# c++ node",
    ),
    "web framework": _sort(
        "web framework, backend framework, server framework",
        "flask fastapi django starlette rails sinatra express nestjs fastify koa gin spring laravel phoenix "
        "litestar",
    ),
    "ui framework": _sort(
        "ui framework, frontend framework, ui library",
        "react vue angular svelte solid preact ember htmx",
    ),
    "meta framework": _sort("", "next.js nextjs nuxt remix sveltekit astro gatsby"),
    "mobile framework": _sort(
        "mobile framework", "flutter,react native,swiftui,jetpack compose,ionic,capacitor"
    ),
    "state": _sort("state management, state store", "redux zustand mobx recoil pinia vuex jotai"),
    "styles": _sort("css framework, styling, stylesheet", "bootstrap tailwind bulma sass less css"),
    "maps": _sort("map library, maps library, web map", "leaflet maplibre mapbox openlayers"),
    "charts": _sort("chart library, charting, charts", "d3 chartjs echarts highcharts recharts plotly vega"),
    "orm": _sort(
        "orm, object mapper, database layer",
        "sqlalchemy tortoise peewee prisma typeorm sequelize drizzle hibernate sqlmodel",
    ),
    "migrations": _sort("migration tool, schema migration", "alembic flyway liquibase dbmate goose"),
    "bundler": _sort(
        "bundler, module bundler, build tool", "webpack vite esbuild rollup parcel turbopack rspack"
    ),
    "packages": _sort("package manager", "npm yarn pnpm bun"),
    "python packages": _sort(
        "package manager, dependency manager", "pip poetry uv pipenv pip-tools conda pdm hatch"
    ),
    "linter": _sort(
        "linter, linting, static analysis",
        "ruff flake8 pylint eslint tslint biome golangci-lint oxlint",
    ),
    "formatter": _sort(
        "formatter, code formatter, code style, formatting",
        "black ruff prettier yapf autopep8 gofmt clang-format biome dprint",
    ),
    "types": _sort("type checker, type checking", "mypy pyright pyre ty"),
    "unit tests": _sort(
        "test runner, test framework, testing framework",
        "pytest unittest nose jest vitest mocha jasmine junit ava",
    ),
    "browser tests": _sort(
        "browser test, end-to-end test, e2e, e2e test, ui test",
        "selenium playwright cypress puppeteer webdriverio",
    ),
    "load tests": _sort("load test, load testing, stress test", "k6 locust jmeter gatling wrk vegeta"),
    "api": _sort("api style, api protocol", "rest graphql grpc soap trpc"),
    "live": _sort("realtime, live updates", "websocket websockets sse polling webrtc"),
    "client": _sort("http client, http library", "axios fetch requests httpx aiohttp curl urllib got ky"),
    "token": _sort("session token, auth token, token format", "jwt paseto sessions cookies macaroons"),
    "signature": _sort("signature, signing, signing algorithm", "hs256 rs256 es256 eddsa hmac ed25519"),
    "password": _sort(
        "password hash, password hashing, hash algorithm, hashing",
        "bcrypt argon2 argon2id scrypt pbkdf2 md5 sha1 sha256",
    ),
    "identity": _sort("identity provider, sso, single sign-on", "auth0 keycloak okta cognito clerk"),
    "format": _sort(
        "format, file format, config format, serialization, serialisation",
        "json yaml toml xml csv protobuf avro msgpack parquet ini",
    ),
    "markup": _sort("markup, markup language", "markdown restructuredtext asciidoc latex textile"),
    "picture": _sort("image format, picture format", "png jpeg webp avif svg gif"),
    "compression": _sort("compression, compressor", "gzip brotli zstd lz4"),
    "mail": _sort(
        "mail provider, email provider, email service, mailer",
        "mailgun ses sendgrid postmark mailchimp smtp",
    ),
    "payment": _sort(
        "payment provider, payment service, card processor, psp", "stripe adyen paypal braintree mollie"
    ),
    "push": _sort("push notification, push service", "firebase onesignal pusher apns"),
    "flags": _sort(
        "feature flag, feature toggle, feature switch", "launchdarkly unleash flagsmith growthbook"
    ),
    "analytics": _sort("analytics, usage tracking", "posthog mixpanel amplitude matomo plausible"),
    "dates": _sort("date library", "moment date-fns dayjs luxon"),
    "translations": _sort(
        "i18n, localization, localisation, internationalization, internationalisation, translation",
        "i18next gettext weblate crowdin lokalise fluent formatjs babel",
    ),
    "docs": _sort("docs site, documentation tool", "sphinx mkdocs docusaurus jekyll hugo vitepress"),
    "validation": _sort(
        "validation, schema validation, validator", "pydantic zod joi marshmallow yup cerberus"
    ),
    "license": _sort(
        "license, licence",
        "MIT BSD BSD-2-Clause BSD-3-Clause Apache Apache-2.0 GPL GPLv2 GPLv3 AGPL AGPLv3 LGPL MPL "
        "MPL-2.0 ISC",
    ),
    "secrets": _sort("secret store, secret manager, secrets manager", "vault env sops doppler"),
    "indentation": _sort("indentation", "tabs spaces"),
    "time zone": _sort("time zone, timezone", "utc,gmt,cet,local time"),
    "side": _sort("", "server browser client edge"),
    "versions": _sort("version control", "git mercurial subversion"),
    "forge": _sort("code hosting, forge", "github gitlab bitbucket gitea codeberg forgejo"),
    "tickets": _sort("issue tracker, bug tracker, ticket system", "jira linear youtrack redmine bugzilla"),
    "ids": _sort("id format, identifier, primary key", "uuid uuidv4 uuidv7 ulid integers snowflake nanoid"),
}

#: What people speak; one writes for others in several of these.
TONGUES = (
    "English", "German", "French", "Spanish", "Italian", "Dutch", "Portuguese", "Polish", "Russian",
    "Japanese", "Chinese", "Englisch", "Deutsch",
)  # fmt: skip

#: Names that are everyday words, too: what has them need not be of that sort.
EVERYDAY = frozenset(
    {
        "alpine", "apache", "ava", "babel", "black", "browser", "bun", "chef", "clerk", "client", "cookies",
        "css", "curl", "database", "disk", "drizzle", "drone", "edge", "elk", "ember", "env", "express",
        "fetch", "files", "filesystem", "fluent", "fly", "gin", "go", "goose", "got", "hatch",
        "honeycomb", "hugo", "ini", "integers", "joi", "less", "linear", "loki", "memory", "moment",
        "node", "nose", "oracle", "parcel", "phoenix", "pip", "polling", "postmark", "puppet",
        "rails", "railway", "redux", "remix", "render", "requests", "rest", "rocky", "scratch", "server",
        "ses", "sessions", "snowflake", "soap", "solid", "spaces", "spring", "swarm", "swift", "tabs",
        "tempo", "temporal", "tortoise", "ty", "unleash", "uv", "vault",
    }
)  # fmt: skip
