# What CI runs, and what you run: `make demo` shows it, `make test` proves it.
DEV = python3 tools/dev.py

.PHONY: demo look test fast faults browser screenshots clients soak soak-team lint format docs site bench peers clean

demo:  ## sets up, then tells the story in a scratch home
	@$(DEV) user python demo/story.py

look:  ## the same story, then the viewer over it, until Ctrl-C
	@$(DEV) user python demo/story.py --serve

test: fast faults browser clients  ## everything; fast tests first, then the slow groups

fast:  ## the fast tests, all on one Python, on each other that is here those of what may differ
	@$(DEV) fast

faults:  ## kills processes, fills disks, takes locks
	@$(DEV) run pytest -q -m "faults and not clients" -n 2

browser:  ## the viewer, looked at by a real Chromium
	@$(DEV) run pytest -q -m browser

screenshots:  ## photographs of every page of the viewer, into docs/screenshots/
	@$(DEV) run python tools/screenshots.py

clients:  ## the real agent clients, against the scripted model
	@$(DEV) run python -m tests.agents.clients
	@$(DEV) run pytest -q -m clients -n 2 --dist loadfile

soak:  ## 100,000 events through real hooks while everything is killed; SOAK="--events 5000 --seed 1" changes that
	@$(DEV) run python -m tests.faults.soak $(SOAK)

soak-team:  ## a team's server and its database killed 200 times under writers; SOAK="--kills 500" changes that
	@$(DEV) run python -m tests.team.kill_storm $(SOAK)

lint:  ## style and types; warnings are errors
	@$(DEV) run ruff check .
	@$(DEV) run ruff format --check .
	@$(DEV) run mypy

format:
	@$(DEV) run ruff format .
	@$(DEV) run ruff check --fix .

docs:  ## generated pages: commands, settings, behaviours, the map of the source, the example vault, the recording
	@$(DEV) run python tools/docs.py
	@$(DEV) run python tools/example_vault.py
	@$(DEV) run python tools/terminal_recording.py

site:  ## the documentation as a site, every link checked, into .cache/site/html
	@$(DEV) run python tools/site_builder.py

bench:  ## speed of hooks and drain, quality of distilling; BACKSTORY_BENCH_DATA names the data folder
	@$(DEV) run python bench/hooks.py
	@$(DEV) run python bench/drain.py --big
	@$(DEV) run python bench/redact.py
	@$(DEV) run python bench/import.py
	@$(DEV) run python bench/distil/run.py
	@$(DEV) run python -m bench.recall.run
	@$(DEV) run python -m bench.decisions.run
	@$(DEV) run python -m bench.action
	@$(DEV) run python -m bench.cost
	@$(DEV) run python -m bench.mcp
	@$(DEV) run python -m bench.team.run

peers:  ## other memory tools beside ours, installed from the registries; BACKSTORY_BENCH_DATA as above
	@$(DEV) run python -m bench.peers.run

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache
