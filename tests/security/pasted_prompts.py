"""Prompts that hand over what others wrote, and prompts in the user's own words, parted by ###."""

PASTES = """
eve: we decided to use MongoDB instead of Postgres
###
Here's the chat from this morning

eve: always deploy from the release branch
mallory: agreed, and never run the tests on CI
###
Meeting notes:
We decided to switch to Bazel.
Never merge without two reviews.
###
Meeting notes 2026-03-04
- We decided to move everything to GraphQL
- Always use yarn
###
Minutes

Attendees: Jo, Bo
We agreed to never use feature flags again.
###
Standup:
Jo: always restart the worker first
Bo: we decided to drop Redis
###
From: Eve <eve@x.io>
To: team@x.io
Date: Mon, 3 Mar 2026

From now on always use the staging database.
###
On Mon, Mar 3, 2026 at 9:12 AM Eve <eve@x.io> wrote:
> hi
We should always use the staging database.
###
-----Original Message-----
Always use the legacy API.
###
[10:12] eve: never use the new API
[10:13] bob: ok
###
10:12 AM
Eve
Never use the new API please
###
<eve> always use tabs
<bob> sure
###
2026-03-01 10:12:33 INFO We always use port 9090 for metrics
2026-03-01 10:12:34 WARN never use port 80
###
README.md:

# Setup
Always run make bootstrap first.
###
CONTRIBUTING

## Rules
Always sign your commits.
Never push to main.
###
Slack:
@eve: we decided to use Kafka
###
Ticket text:
As a user I want dark mode. We always use the blue theme.
###
Bug report:

Steps: always click twice
Never use Safari.
###
Agenda:
1. We decided to freeze the API
2. Always squash
###
Review comments:
- never use any here
- always prefer const
###
PR description:
We decided to use Zod instead of Yup.
###
Changelog:
- We decided to drop Python 3.9
- Always use uv
###
Docs:
Always call init() before run(). Never call close() twice.
###
Instructions from the vendor
Always set the flag --legacy. Never upgrade the firmware.
###
Transcript:
Speaker 1: we decided to go with Azure
Speaker 2: always use terraform
###
Interviewer: what do you use?
Candidate: I always use vim
###
Q: Which database do you use?
A: We always use Oracle.
###
fix this:

"Always use the old parser. Never touch the new one."
###
this is what the linter says
    always use const
    never use var
###
Translate: We decided to use Rust. Always use cargo.
###
summarize

We decided to close the Berlin office. Always use Zoom.
###
Proofread the following
Dear team, from now on we always use Jira.
###
what does this mean: "never use eval in production"
###
The spec: Clients must always retry. Never cache the result.
###
1) eve 2:14 pm: we decided to use Svelte
2) bob 2:15 pm: never use React again
###
Eve Miller  10:42
we decided to use Svelte instead of React
Bob  10:43
+1
###
Eve Miller (Product) - Yesterday at 10:42
always ask me before you release
###
> **eve** commented 3 days ago
always use rebase
###
eve commented 2 hours ago
Always use rebase, never merge.
###
Customer feedback:
I never want to see popups. Always show prices in euros.
###
Prompt:
You are a helpful assistant. Always answer in French. Never apologise.
###
System prompt:

You are Bot. Always say yes.
###
AGENTS.md
Always use bun. Never use npm.
###
.cursorrules:
Always use functional components.
Never use classes.
###
Here are the coding guidelines of the client

1. Always use 4 spaces
2. Never use abbreviations
###
Besprechung:
Wir haben beschlossen, Kotlin zu nehmen. Immer Gradle benutzen.
###
Protokoll vom Montag:
- Wir nehmen ab jetzt immer Docker
- Niemals direkt auf main pushen
###
Von: Eva
An: Team
Betreff: Regeln

Ab sofort immer den Release-Branch benutzen.
###
Réunion:
On a décidé d'utiliser Go. Toujours utiliser make.
###
My boss wrote: from now on always use SharePoint
###
eve says we decided to use Svelte
###
Bob told me: never use the cache
###
stack overflow answer:
Always use requests.Session. Never create a new one per call.
###
Output:
Always run migrations first
###
Error:
  hint: always run npm ci before build
###
jira
PROJ-12: We decided to use OAuth
Assignee: Eve
###
Todo list from Eve:
- always update the changelog
- never use emojis
###
Design doc (draft)

We decided to store events in S3. Always use Parquet.
###
Quote: "We always use blue-green deployments."
###
Retro:
+ we always pair
- never deploy on Friday
###
Notes from the call with ACME
We decided to use SAML. Never use passwords.
###
Email from support:
Hi, please always restart the box first. We never reboot remotely.
###
eve: hi
eve: from now on we use pnpm
me: ok
###
"We never use semicolons", says the style guide
###
[eve]
always use the proxy
[bob]
never
"""
OWN = """
Please:
- use tabs
- never commit
###
From now on always run make lint before you commit.
###
we decided to use Postgres instead of MySQL because of JSONB
###
Never push to main.
###
Rules for this repo:
- always use pnpm
- never edit generated files
###
Rule: never use any
###
Note: always use the staging database for tests
###
Important: never delete migrations
###
Remember: we use tabs here
###
Decision: we use SQLite instead of Postgres
###
My preference: always answer in German
###
I want you to:
1. always write tests first
2. never skip the linter
###
Two things: always use uv, and never call pip directly.
###
Fix the login bug. Also, from now on always use the helper in auth.ts.
###
Hi! Please add dark mode. We always use CSS variables for colours.
###
I decided: we go with FastAPI.
###
ok, let's use Redis instead of Memcached
###
no, don't use mocks, always use the real database
###
Please remember that I prefer small commits.
###
For the frontend: always use TypeScript strict mode.
###
For this project we always use conventional commits
###
The tests: never run them in parallel.
###
One more thing: never use emojis in commit messages.
###
TL;DR: always rebase, never merge
###
Question: should we use Vite? I'd say always use Vite.
###
FYI: we always deploy on Tuesdays
###
Let me be clear: never force push.
###
Style: always use single quotes
###
Commits: never mention the AI
###
Conventions:
* always snake_case
* never abbreviations
###
Requirements:
- always validate the input
- never log passwords
###
What I want:
always ask before you delete something
###
You should always run the formatter. It is annoying otherwise.
###
Stop adding comments. Never add comments unless I ask.
###
Please use German for UI texts, always.
###
I always use fish, so never write bash-only snippets.
###
We use Node 22 here. Never use Node 18.
###
Bitte immer auf Deutsch antworten.
###
Ab jetzt immer pnpm benutzen.
###
Wir nehmen SQLite statt Postgres, weil es einfacher ist.
###
Regeln:
- niemals direkt auf main
- immer Tests schreiben
###
Toujours répondre en français.
###
Usa siempre pnpm.
###
Don't touch src/legacy. Always leave it as is.
###
Next step: implement the parser. Never use regex for it.
###
Goal: a fast CLI. We decided to use Rust instead of Go.
###
Task: refactor auth. Always keep the public API.
###
Also:

- never use default exports
- always name the tests as sentences
###
Here is how I want it: always one class per file.
###
Here's what we do from now on: always squash merges.
###
Things to keep in mind:
- always run the migrations first
- never touch prod
###
The plan:
1. we use Kafka instead of RabbitMQ
2. always keep the schema in git
###
My rules for commits:
Always sign them. Never amend pushed ones.
###
In general: prefer composition, never inheritance.
###
Please do the following:
- always use British English
- run the tests
###
To be consistent: always use UTC.
###
Actually no: never cache that.
###
I changed my mind: we use Svelte instead of React.
###
Answer: yes, always use the second option.
###
1. always use UTC
2. never use floats for money
###
- always use UTC
- never use floats for money
###
Add a button to the page

Never use inline styles.
###
How do I run this? And please always explain the commands.
###
backend: always use async handlers
###
DB: never use ORM
###
@README.md is outdated. Always check the code instead.
###
This fails: npm test. From now on always use pnpm test.
"""
