"""What developers ask of coding sessions in their own words, and what they ask of other projects.

Two small projects, and some questions to the real sessions of the coding set. Everything was written before
any of it was searched. `TRAILS` and the first half of the questions to the coding set are development, the
floor was fitted on them; `CLINIC` and the second half are held out. A session is (prompt, steps, last words),
a step (what, of what, output). `asked` are questions with a piece of text that a right answer has; `foreign`
are questions of developers that belong to other projects and libraries.
"""

from dataclasses import dataclass

Step = tuple[str, str, str]
Worked = tuple[str, tuple[Step, ...], str]


@dataclass(frozen=True, slots=True)
class Developers:
    """A project's sessions, and what is asked of it: what it knows, and what it cannot."""

    sessions: tuple[Worked, ...]
    asked: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...]


TRAILS = Developers(
    sessions=(
        (
            "The trail page needs an interactive map. Pick something and wire it up.",
            (
                ("runs", "npm install maplibre-gl", "added 41 packages in 6s"),
                ("edits", "web/src/TrailMap.tsx", ""),
            ),
            "We decided to use MapLibre GL over Leaflet because vector tiles rotate and stay sharp on phones, and it needs no token.",
        ),
        (
            "Recorded tracks must reach the statistics service asynchronously.",
            (
                ("runs", "go get github.com/nats-io/nats.go", "go: added github.com/nats-io/nats.go v1.36.0"),
                ("edits", "tracks/publish.go", ""),
            ),
            "I chose NATS JetStream instead of Kafka: one binary, and our load is forty messages a second at most.",
        ),
        (
            "The average speed endpoint returns 500 for some hikes.",
            (
                (
                    "fails",
                    "pytest tests/test_speed.py",
                    "E   ZeroDivisionError: float division by zero\nstats/speed.py:31: ZeroDivisionError",
                ),
                ("edits", "stats/speed.py", ""),
                ("runs", "pytest tests/test_speed.py", "9 passed in 0.41s"),
            ),
            "A track with a single point has no duration. moving_average() returns None for it now, and the API omits the field.",
        ),
        (
            "Push the release branch, the lint hook is broken on my machine.",
            (
                (
                    "fails",
                    "git push origin release/3.2",
                    "husky - pre-push hook exited with code 127 (npx: command not found)",
                ),
                ("runs", "git push --no-verify origin release/3.2", "release/3.2 -> release/3.2"),
            ),
            "Pushed with --no-verify since husky could not find npx in the GUI client's PATH. Please fix ~/.huskyrc later.",
        ),
        (
            "Write the blog post about baking on the trail, with the recipe from the notes.",
            (("edits", "content/posts/campfire-bread.md", ""),),
            "The post describes a no-knead loaf at 78 % hydration, baked forty minutes in a Dutch oven over embers.",
        ),
        (
            "Elevation profiles differ from what Garmin shows.",
            (
                ("edits", "elevation/smooth.py", ""),
                ("runs", "python tools/compare_garmin.py", "mean error 4.1 m"),
            ),
            "Raw barometer samples jitter, so ascent was summed from noise. A Savitzky-Golay filter with window 21 brings it within 2 percent.",
        ),
        (
            "Users lose their drafts when the phone goes offline in the valley.",
            (("edits", "web/src/offline/outbox.ts", ""), ("runs", "npx vitest run outbox", "14 passed")),
            "Drafts go to IndexedDB first and a service worker replays them when the connection returns. Conflicts: the newest edit wins.",
        ),
        (
            "Our Postgres bill doubled. Where does the storage go?",
            (
                ("runs", "psql -c '\\dt+'", "track_points | 412 GB"),
                ("edits", "db/migrations/0042_partition_track_points.sql", ""),
            ),
            "track_points is partitioned by month now and partitions older than two years move to Parquet on S3.",
        ),
        (
            "CI takes 38 minutes. Bring it under ten.",
            (("edits", ".github/workflows/ci.yml", ""), ("runs", "gh run watch", "completed in 8m52s")),
            "The job is split into four shards, Playwright browsers are cached, and the Android build runs only when mobile/ changes.",
        ),
        (
            "From now on always write dates as ISO 8601 in logs and never in local time.",
            (("edits", "common/logging.go", ""),),
            "Understood. The logger formats RFC 3339 in UTC everywhere.",
        ),
        (
            "Push notifications do not arrive on Android 14.",
            (
                (
                    "fails",
                    "./gradlew connectedAndroidTest",
                    "java.lang.SecurityException: POST_NOTIFICATIONS permission denied",
                ),
                ("edits", "mobile/app/src/main/AndroidManifest.xml", ""),
                ("runs", "./gradlew connectedAndroidTest", "BUILD SUCCESSFUL in 3m 2s"),
            ),
            "Since API 33 the permission must be asked for at run time; we ask after the first saved hike.",
        ),
        (
            "Choose how people sign in. No passwords if we can avoid them.",
            (
                ("edits", "auth/webauthn.py", ""),
                ("runs", "pip install webauthn", "Successfully installed webauthn-2.2.0"),
            ),
            "Passkeys are the default, with a magic link by e-mail as the way back in. We rejected SMS codes because they cost eight cents each.",
        ),
        (
            "The weather forecast on the start page is sometimes from yesterday.",
            (("edits", "weather/cache.py", ""),),
            "The cache key lacked the model run, so CloudFront served the old forecast. The key contains the run's hour now and the TTL is 20 minutes.",
        ),
        (
            "Importing GPX files of 200 MB kills the worker.",
            (
                ("fails", "python -m importer big.gpx", "MemoryError"),
                ("edits", "importer/gpx.py", ""),
                ("runs", "python -m importer big.gpx", "1,911,204 points in 41 s, peak 96 MB"),
            ),
            "ElementTree read the whole document; iterparse with clear() streams it. The limit for uploads is 250 MB now.",
        ),
        (
            "Translate the app. Which tool do the translators get?",
            (
                ("runs", "npm install i18next react-i18next", "added 9 packages"),
                ("edits", "web/src/i18n.ts", ""),
            ),
            "Strings live in JSON files per language with i18next; translators work in Weblate, which opens a merge request each night.",
        ),
        (
            "The staging server ran out of disk again.",
            (
                ("runs", "du -xsh /var/lib/docker", "187G"),
                ("runs", "docker system prune -af", "Total reclaimed space: 161GB"),
                ("edits", "ansible/roles/docker/files/prune.timer", ""),
            ),
            "Old image layers filled it. A systemd timer prunes weekly what is older than ten days.",
        ),
        (
            "Remember: the demo for the alpine club is on the fourth, nobody deploys that day.",
            (),
            "Noted. Open: freeze main on the third, prepare the Zermatt data set, ask Lena for the projector.",
        ),
        (
            "Rename the column `lenght` everywhere, it hurts.",
            (
                ("runs", "rg -l lenght", "db/schema.sql\napi/serializers.py\nweb/src/types.ts"),
                ("edits", "api/serializers.py", ""),
                ("runs", "make test", "612 passed"),
            ),
            "Renamed to length_m. The old JSON field stays as an alias until mobile 5.0, because app versions in the store still read it.",
        ),
    ),
    asked=(
        ("which map library do we use and why", "MapLibre"),
        ("why not leaflet", "MapLibre"),
        ("which message broker did we pick", "NATS"),
        ("what throughput do we expect on the event bus", "forty messages"),
        ("what caused the zero division", "ZeroDivisionError"),
        ("what happens with a hike that has only one coordinate", "single point"),
        ("did we skip commit hooks anywhere", "--no-verify"),
        ("why was the hook bypassed", "husky"),
        ("how wet is the dough in the post", "78 % hydration"),
        ("how long does the loaf bake", "forty minutes"),
        ("why did the altitude gain disagree with the watch", "Savitzky"),
        ("how do we smooth noisy sensor readings", "Savitzky"),
        ("what happens to unsaved edits without network", "IndexedDB"),
        ("who wins when two devices changed the same draft", "newest edit"),
        ("which table eats all the space in the database", "track_points"),
        ("where do we archive old position data", "Parquet"),
        ("what made the pipeline faster", "shards"),
        ("when is the mobile build skipped", "mobile/"),
        ("which time format do we log in", "3339"),
        ("what was wrong with notifications on newer phones", "POST_NOTIFICATIONS"),
        ("when do we request permission from the user", "first saved hike"),
        ("how do users log in", "Passkeys"),
        ("why no text message codes", "eight cents"),
        ("what do people do who lost their passkey", "magic link"),
        ("why was the forecast stale", "CloudFront"),
        ("how long is the weather cached", "20 minutes"),
        ("out of memory while reading a large upload", "iterparse"),
        ("maximum size of an uploaded track", "250 MB"),
        ("how does localization work", "i18next"),
        ("where do translators edit the texts", "Weblate"),
        ("what filled up the disk on staging", "image layers"),
        ("how are unused containers images cleaned up", "prune"),
        ("when may nobody release", "fourth"),
        ("what is left to prepare for the presentation", "Zermatt"),
        ("why do we still keep the misspelled field", "alias"),
        ("what is that column called now", "length_m"),
    ),
    foreign=(
        "how do we shard the Mongo cluster",
        "which Vue composable handles the drag and drop upload",
        "why did the Rust borrow checker reject the arena allocator",
        "what is the retry policy of the Temporal workflow",
        "how was the Kerberos ticket renewal automated",
        "which GPU driver version breaks the training run",
        "how do we version the protobuf schemas of the billing service",
        "why did the Elasticsearch reindex take a weekend",
        "what did we decide about tabs versus spaces in the Lua scripts",
        "how do I mock the Salesforce client in unit tests",
        "which Helm chart installs the vault operator",
        "why does the Qt dialog flicker on Wayland",
        "how is the fraud score computed",
        "what is the maximum length of a tweet in our composer",
        "how did we fix the race in the trading engine's order book",
        "which font does the PDF receipt embed",
        "where is the tax rounding for Swiss francs implemented",
        "how do we load test the websocket gateway",
        "why do we pin numpy below 2",
        "what is the convention for naming Kotlin coroutines scopes",
        "which serializer did we choose for the game save files",
        "how do we blue green deploy the lambda functions",
        "why was the Jenkins agent replaced",
        "what does the SAML assertion have to contain",
        "how many partitions does the clickstream topic have",
        "which regular expression validates IBAN numbers",
        "why did the kernel module panic on ARM",
        "how is the tenant id propagated in the ORM",
        "what was the outcome of the Svelte versus React comparison",
        "how do we encrypt columns with patient names",
        "where do we configure the dead letter queue in RabbitMQ",
        "which Excel formula broke the quarterly report",
        "how do we roll back a failed Flyway script",
        "why does the compiler plugin generate duplicate getters",
        "what is our policy on semantic versioning of the SDK",
        "how are the captcha keys stored",
    ),
)

CLINIC = Developers(
    sessions=(
        (
            "Which ORM for the appointment service? I want types and no magic.",
            (
                ("runs", "npm i drizzle-orm postgres", "added 3 packages"),
                ("edits", "server/db/schema.ts", ""),
            ),
            "Went with Drizzle rather than Prisma: queries stay plain SQL, no engine binary, and cold starts on Fly are 300 ms shorter.",
        ),
        (
            "Reminders go out twice to some patients.",
            (
                ("runs", "fly logs -a reminders", "worker 1 sent #8812\nworker 2 sent #8812"),
                ("edits", "server/jobs/remind.ts", ""),
            ),
            "Two machines picked the same row. SELECT ... FOR UPDATE SKIP LOCKED claims a job exactly once now.",
        ),
        (
            "npm run build crashes in CI but not here.",
            (
                (
                    "fails",
                    "npm run build",
                    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
                ),
                ("runs", "NODE_OPTIONS=--max-old-space-size=4096 npm run build", "built in 51.2s"),
                ("edits", ".gitlab-ci.yml", ""),
            ),
            "The source maps of the chart bundle need more than 2 GB. NODE_OPTIONS raises the heap to 4096 MB in .gitlab-ci.yml.",
        ),
        (
            "The receptionist sees appointments an hour off since Sunday.",
            (("edits", "server/calendar/slots.ts", ""), ("runs", "npx vitest slots", "Tests 22 passed")),
            "Slots were stored with a fixed +01:00 offset; daylight saving moved them. They are kept as local time plus Europe/Vienna now, by Temporal.ZonedDateTime.",
        ),
        (
            "Never log names or birth dates of patients. Not even in debug.",
            (("edits", "server/log.ts", ""),),
            "pino redacts patient.* and anything that looks like a social security number.",
        ),
        (
            "Add an undo for cancelled appointments.",
            (
                ("edits", "server/appointments/cancel.ts", ""),
                ("edits", "web/components/UndoToast.svelte", ""),
            ),
            "Cancelling only sets cancelled_at; a toast offers to take it back for ten seconds, and the nightly job frees the slot for good.",
        ),
        (
            "Safari shows a blank calendar.",
            (
                (
                    "runs",
                    "npx playwright test --project=webkit",
                    "TypeError: undefined is not an object (evaluating 'Intl.DurationFormat')",
                ),
                ("edits", "web/lib/format.ts", ""),
                ("runs", "npx playwright test --project=webkit", "31 passed"),
            ),
            "Intl.DurationFormat is missing before Safari 18.4. A small formatter of ours replaces it; no polyfill, that would add 60 kB.",
        ),
        (
            "We need backups that somebody has actually restored.",
            (
                ("edits", "ops/backup.sh", ""),
                ("runs", "ops/restore-drill.sh", "restored 48,112 rows in 3m40s"),
            ),
            "pgBackRest ships WAL to Hetzner storage every five minutes, and each Monday a drill restores into a throwaway machine.",
        ),
        (
            "Decide how the tablet in the waiting room talks to the server.",
            (("edits", "server/queue/stream.ts", ""),),
            "Server-sent events, not websockets: the tablet only listens, and the hospital's proxy cuts upgraded connections after a minute.",
        ),
        (
            "Doctors complain that typing in the diagnosis field lags.",
            (
                ("runs", "npx vite-bundle-visualizer", "icd10.json 14.2 MB"),
                ("edits", "web/components/Diagnosis.svelte", ""),
                ("edits", "server/icd/search.ts", ""),
            ),
            "The whole ICD-10 catalogue was filtered in the browser at every key. A trigram index on the server answers in 8 ms, debounced by 150 ms.",
        ),
        (
            "Insurance claims are rejected with code 4711.",
            (
                (
                    "fails",
                    "node tools/validate-claim.js sample.xml",
                    "cvc-datatype-valid.1.2.1: '12,50' is not a valid value for 'decimal'",
                ),
                ("edits", "server/claims/xml.ts", ""),
                ("runs", "node tools/validate-claim.js sample.xml", "valid"),
            ),
            "Amounts were printed with the German comma. toFixed(2) writes them now, whatever the locale.",
        ),
        (
            "I like tests named after what the user sees, not after functions. Keep it that way.",
            (),
            "Will do: `books the last free slot`, not `bookSlot()`.",
        ),
        (
            "Replace nodemailer's SMTP, half of our mail lands in spam.",
            (
                ("edits", "server/mail/send.ts", ""),
                ("runs", "dig TXT _dmarc.praxis.example", "v=DMARC1; p=quarantine"),
            ),
            "Mail goes through Postmark with DKIM and a DMARC policy of quarantine. Their sandbox token is used outside production.",
        ),
        (
            "Dependabot wants Svelte 5. Do it?",
            (
                ("fails", "npx svelte-check", "Error: `createEventDispatcher` is deprecated; 61 errors"),
                ("runs", "git checkout package.json package-lock.json", "Updated 2 paths from the index"),
            ),
            "Not yet: the date picker that we depend on breaks with runes. Postponed until its version 3; stay on Svelte 4.2.",
        ),
        (
            "The X-ray viewer needs to open DICOM files.",
            (
                ("runs", "npm i @cornerstonejs/core @cornerstonejs/dicom-image-loader", "added 27 packages"),
                ("edits", "web/routes/images/+page.svelte", ""),
            ),
            "Cornerstone3D decodes DICOM in web workers; files are fetched in ranges so that a 600 MB study opens in two seconds.",
        ),
        (
            "An auditor wants to know who looked at a record.",
            (("edits", "server/audit.ts", ""), ("edits", "db/0019_audit.sql", "")),
            "Every read of a patient writes to an append-only table whose rows are chained by SHA-256; a trigger forbids updates. Kept for ten years.",
        ),
        (
            "fly deploy hangs at 'waiting for machine to become healthy'.",
            (
                (
                    "fails",
                    "fly deploy",
                    "Error: timeout reached waiting for health checks to pass for machine 148e",
                ),
                ("edits", "fly.toml", ""),
                ("runs", "fly deploy", "v113 deployed successfully"),
            ),
            "The app listened on 127.0.0.1. It binds to 0.0.0.0:8080 now and the grace period of the check is 20 s.",
        ),
        (
            "After the holidays: swap the label printer driver, renew the wildcard certificate, call the lab about HL7.",
            (),
            "Noted as open steps: label printer driver, wildcard certificate (expires 14 January), HL7 interface with the lab.",
        ),
    ),
    asked=(
        ("which database layer did we choose", "Drizzle"),
        ("what speaks against prisma", "Drizzle"),
        ("why did people get the same message two times", "SKIP LOCKED"),
        ("how do workers avoid taking the same job", "SKIP LOCKED"),
        ("why did the bundle run out of memory on the build server", "heap"),
        ("how much memory does node get in the pipeline", "4096"),
        ("what was the bug with summer time", "+01:00"),
        ("how do we store appointment times", "ZonedDateTime"),
        ("what must not show up in log files", "patient"),
        ("how do we mask personal data", "redacts"),
        ("can a cancellation be reverted", "cancelled_at"),
        ("how long can I take back a cancellation", "ten seconds"),
        ("why was the page empty on iPhones and Macs", "DurationFormat"),
        ("did we add a polyfill", "polyfill"),
        ("how often are backups tested", "Monday"),
        ("where is the write ahead log shipped to", "Hetzner"),
        ("why no websockets for the waiting room screen", "Server-sent"),
        ("how does the tablet get updates", "Server-sent"),
        ("what made the input slow for physicians", "ICD-10"),
        ("how fast is the diagnosis lookup now", "8 ms"),
        ("reason for the rejected bills", "comma"),
        ("wrong decimal separator", "12,50"),
        ("how should I name test cases", "tests named"),
        ("who delivers our e-mails", "Postmark"),
        ("what did we do against landing in the junk folder", "DKIM"),
        ("why are we still on the old version of svelte", "runes"),
        ("when can we upgrade the frontend framework", "version 3"),
        ("how do we display medical images", "Cornerstone3D"),
        ("how come big scans open so quickly", "ranges"),
        ("how is access to medical files recorded", "append-only"),
        ("can someone tamper with the access history", "SHA-256"),
        ("how many years do we keep the trail", "ten years"),
        ("why did the rollout get stuck", "127.0.0.1"),
        ("which address does the server bind to", "0.0.0.0"),
        ("what is due after christmas", "label printer"),
        ("when does our tls cert run out", "14 January"),
    ),
    foreign=(
        "which physics engine does the platformer use",
        "how do we compress textures for the console build",
        "why did the Spark job spill to disk",
        "what is the schema of the ad impressions table",
        "how does the Ruby gem publish its changelog",
        "which Terraform provider manages the DNS zones",
        "why was Gradle replaced by Bazel",
        "how do we throttle the crawler for robots.txt",
        "what broke the Solidity contract upgrade",
        "how are the satellite tiles reprojected",
        "which CAN bus message carries the wheel speed",
        "why does the Flutter list stutter on old phones",
        "how do we calibrate the stereo camera",
        "what did we decide about GraphQL federation",
        "how is the recommendation feed ranked",
        "which Ansible role hardens sshd",
        "why did the Cassandra compaction fall behind",
        "how do we handle chargebacks from the card processor",
        "what is the license of the chess engine",
        "how do I regenerate the OpenAPI client for Swift",
        "which hyperparameters did the sweep choose",
        "why was the monorepo split",
        "how does the lexer treat nested comments",
        "what is the sampling rate of the vibration sensor",
        "how do we price the enterprise plan",
        "which linker flag strips the debug symbols",
        "why did the MQTT broker drop retained messages",
        "how is the leaderboard reset every season",
        "what was the reason to drop Internet Explorer support in the CMS",
        "how do we fuzz the JPEG decoder",
        "which column of the warehouse holds the gross margin",
        "how do we deduplicate leads from the CRM",
        "why does the shader compile twice",
        "what is the seat limit of the on-premise license",
        "how are the subtitles synchronised with the video",
        "where is the retry budget of the gRPC client set",
    ),
)

# Questions to the coding set, with the session that was read to write each: development, and held out.
OF_SESSIONS: tuple[tuple[str, str], ...] = (
    ("why do two file names with different capitals confuse the watcher", "session-051"),
    ("how do messages without a time get one", "session-078"),
    ("which web address did the fetch tool leave out", "session-090"),
    ("what makes the secret scan so much faster", "session-120"),
    ("how do we silence repeated messages about a missing folder", "session-039"),
    ("why did a file name with a dot find nothing", "session-123"),
    ("what happens when someone names an unknown agent to continue in", "session-123"),
    ("what name does a transcript get when it begins with a canned sentence", "session-003"),
    ("how do relative paths after changing the directory resolve", "session-060"),
    ("where do we count what the assistant wrote", "session-096"),
    ("which key opens the payment page", "session-093"),
    ("why did opening a missing database create it", "session-036"),
)
OF_SESSIONS_HELD_OUT: tuple[tuple[str, str], ...] = (
    ("are errors of the tracing exporter shown anywhere", "session-012"),
    ("why was the edit not attributed to the agent", "session-018"),
    ("does the progress display show too many dots", "session-069"),
    ("why is the summary after updating several agents hard to read", "session-075"),
    ("is the provider stored by id or by display name in the numbers", "session-042"),
    ("which combination of options is refused when picking one session", "session-108"),
    ("how often is the logger allocated", "session-117"),
    ("default address of the collector", "session-117"),
    ("what did we add to see when an agent starts and stops", "session-114"),
    ("how do raw dumps get pretty printed one record per file", "session-000"),
    ("which merge conflicts did we have to resolve", "session-012"),
    ("what does the statistics file contain", "session-042"),
)
