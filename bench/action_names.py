"""Decisions and rules for `bench/action.py` that a prompt reaches by a name, or by what they forbid.

`ASKED` names for each prompt the notes that it must get; `BESIDE` are prompts of the trade that come near one
of them and should get nothing. What reaches a note alone was developed on these. `HELD_…` are another
project's, written after that by the same hand, and only measured.
"""

NOTES = (
    ("nats", "decision", "Use NATS instead of Kafka for events"),
    ("stripe", "decision", "Use Stripe instead of PayPal"),
    ("main", "preference", "Never push to main directly"),
    ("utc", "preference", "Store all timestamps in UTC, never in local time"),
    ("migrations", "preference", "Never edit files in migrations/"),
    ("poetry", "decision", "Use uv rather than Poetry for dependencies"),
    ("mongo", "decision", "We moved from MongoDB to Postgres"),
    ("sentry", "decision", "Errors are reported to Sentry"),
    ("redux", "decision", "State lives in Zustand, Redux was too much ceremony"),
    ("auth", "decision", "Keycloak is the identity provider"),
    ("vendor", "preference", "Do not touch anything below third_party/ or vendor/"),
    ("secrets", "preference", "Never commit secrets, they belong into the vault"),
    ("friday", "preference", "Don't deploy on Fridays"),
    ("moment", "decision", "date-fns instead of Moment.js"),
    ("nil", "lesson", "`go test ./...` failed: \"panic: runtime error: invalid memory address or nil pointer "
     "dereference\" → fixed by editing book/store.go"),
    ("map", "lesson", "`npm test` failed: \"TypeError: Cannot read properties of undefined (reading 'map')\" "
     "→ fixed by editing src/List.tsx"),
)  # fmt: skip

ASKED = (
    ("Use Kafka for the events pipeline please", {"nats"}),
    ("Add a Kafka consumer for the payment events", {"nats"}),
    ("which subject do we publish to NATS on?", {"nats"}),
    ("Switch payment provider to PayPal", {"stripe"}),
    ("Integrate PayPal checkout", {"stripe"}),
    ("push this to main", {"main"}),
    ("commit everything and push it to main", {"main"}),
    ("Save the timestamp of the order in local time", {"utc"}),
    ("Fix migrations/0042_orders.py", {"migrations"}),
    ("add a column in app/migrations/0043_add.py", {"migrations"}),
    ("install requests with poetry", {"poetry"}),
    ("write a MongoDB query for the open orders", {"mongo"}),
    ("the Sentry DSN is missing in staging", {"sentry"}),
    ("set up a Redux store for the cart", {"redux"}),
    ("add a realm to Keycloak", {"auth"}),
    ("patch vendor/lib/parser.c so that it compiles", {"vendor"}),
    ("commit the secrets file too", {"secrets"}),
    ("deploy this on Friday evening", {"friday"}),
    ("could Kafka streams do the aggregation?", {"nats"}),
    ("customers ask for paypal, how much work is it?", {"stripe"}),
    ("merge my branch and push main", {"main"}),
    ("render createdAt in local time and store it like that", {"utc"}),
    ("squash the files in db/migrations/ into one", {"migrations"}),
    ("pyproject has a poetry section, is that right?", {"poetry"}),
    ("mongodb keeps crashing in docker", {"mongo"}),
    ("why do I see this exception twice in sentry", {"sentry"}),
    ("replace zustand by context", {"redux"}),
    ("keycloak login loops", {"auth"}),
    ("reformat third_party/json/json.hpp", {"vendor"}),
    ("parse the date with moment.js", {"moment"}),
)

BESIDE = (
    "Use a memory pool for the address book",
    "write a map function that reads properties",
    "run the local tests one more time",
    "the main reason for the push notification is marketing",
    "Edit the file header of every module",
    "rename the events table",
    "Add a payment form with validation",
    "which state is the order in?",
    "write a migration guide",
    "Pointers to good books on Go please",
    "Make the main menu sticky",
    "show the time of the order",
    "use the store's opening hours",
    "Update dependencies",
    "add an identity column",
    "report errors in the form below the field",
    "print the memory address of the buffer",
    "undefined variables should be an error in strict mode",
    "push the button to the right in the main layout",
    "never mind, use the other approach",
    "add a time zone selector to the profile",
    "put the vendor's name on the invoice",
    "stripe the rows of the table",
    "one moment please, let me think",
    "write poetry about the release",
    "schedule a meeting on Friday",
    "the secret of a good commit message",
    "explain pointers in C",
)

HELD_NOTES = (
    ("grpc", "decision", "Services talk gRPC, REST only at the edge"),
    ("pulsar", "decision", "We went with RabbitMQ over Pulsar because nobody could operate BookKeeper"),
    ("terraform", "decision", "Infrastructure is described in Pulumi, we dropped Terraform"),
    ("cypress", "decision", "Replace Cypress with Playwright for the browser tests"),
    ("mailgun", "decision", "Mail goes out through Postmark, not Mailgun"),
    ("generated", "preference", "Don't edit generated/ by hand, change the schema"),
    ("amend", "preference", "Never amend published commits"),
    ("print", "preference", "Do not print to stdout in libraries, log instead"),
    ("branch", "preference", "Never force push, open a new pull request"),
    ("weekend", "fact", "Never restart the scheduler at night, it loses its jobs"),
    ("chart", "decision", "Charts are drawn with Vega, Highcharts is too expensive"),
    ("acme", "decision", "Use Fleetbase instead of Onfleet for deliveries"),
)

HELD_ASKED = (
    ("generate the grpc stubs", {"grpc"}),
    ("set up a Pulsar topic for invoices", {"pulsar"}),
    ("rabbitmq refuses connections since the upgrade", {"pulsar"}),
    ("write a terraform module for the bucket", {"terraform"}),
    ("add a cypress test for the login", {"cypress"}),
    ("playwright hangs on CI", {"cypress"}),
    ("Mailgun key for staging?", {"mailgun"}),
    ("fix the typo in api/generated/client.ts", {"generated"}),
    ("amend the commits and push", {"amend"}),
    ("print the result to stdout", {"print"}),
    ("force push the branch", {"branch"}),
    ("restart the scheduler now", {"weekend"}),
    ("draw a highcharts pie of the sales", {"chart"}),
    ("call the Onfleet API when an order is packed", {"acme"}),
    ("how do we sign Fleetbase requests?", {"acme"}),
    ("publish the event with a message broker", {"pulsar"}),
)

HELD_BESIDE = (
    "take the rest of the list",
    "put the edge cases into a table test",
    "draw the owner's attention to the warning",
    "the generated password is too short",
    "push harder on performance",
    "the printer service needs a library",
    "open the pull request template",
    "a force-directed layout would be nice",
    "restart the dev server when a file changes",
    "describe the infrastructure in the README",
    "mail the report every Monday",
    "which browser versions do we support?",
    "replace the tests of the parser",
    "publish a new version to PyPI",
    "deliver the file as a download",
    "schedule the backup for the night",
)

# Decisions that hold somewhere: `PLACED_…` are a reviewer's, developed on; `HELD_PLACED_…` only measured.
PLACED_NOTES = (
    ("sqlite", "decision", "Use SQLite instead of Postgres in the unit tests"),
    ("kustomize", "decision", "Use Kustomize instead of Helm for the preview clusters"),
    ("fetch", "decision", "Use fetch instead of axios in the service worker"),
    ("datadog", "decision", "We decided against Datadog for the hobby plan"),
)

PLACED_ASKED = (
    ("run the unit tests against Postgres", {"sqlite"}),
    ("use Helm for the preview clusters", {"kustomize"}),
    ("use axios in the service worker", {"fetch"}),
    ("add Datadog to the hobby plan", {"datadog"}),
)

PLACED_ELSEWHERE = (
    "add an index to the Postgres orders table",
    "upgrade Postgres to 17",
    "why is Postgres slow on the report query",
    "bump the Helm chart of production to 1.4",
    "the axios interceptor drops the token on the login page",
    "the Datadog agent on production stopped",
)

HELD_PLACED_NOTES = (
    ("podman", "decision", "Podman rather than Docker on the build machines"),
    ("celery", "decision", "For the nightly exports we use Temporal instead of Celery"),
    ("webpack", "decision", "The admin panel is bundled with Vite, not Webpack"),
    ("mapbox", "decision", "Replaced Mapbox with Leaflet in the courier app"),
    ("auth0", "decision", "No Auth0 for internal tools, Keycloak will do"),
    ("sendgrid", "decision", "Use Mailgun over Sendgrid when mailing invoices"),
    ("elastic", "decision", "Meilisearch instead of Elasticsearch for product search"),
    ("k6", "decision", "We dropped JMeter for load tests in favour of Gatling"),
)

HELD_PLACED_ASKED = (
    ("install podman on the build machine", {"podman"}),
    ("run the nightly export in celery", {"celery"}),
    ("add a webpack plugin to the admin panel", {"webpack"}),
    ("the courier app needs mapbox tiles", {"mapbox"}),
    ("put the internal tools behind Auth0", {"auth0"}),
    ("send the invoices through Sendgrid", {"sendgrid"}),
    ("index products in Elasticsearch", {"elastic"}),
    ("write a JMeter plan for the checkout", {"k6"}),
)

HELD_PLACED_ELSEWHERE = (
    "podman on my laptop has no network",
    "retry the celery task that resizes avatars",
    "webpack fails on the landing page",
    "show the mapbox logo on the store finder",
    "customers cannot log in with Auth0",
    "the Sendgrid newsletter template is broken",
    "Elasticsearch runs out of disk with our logs",
    "docker compose does not start the worker",
)
