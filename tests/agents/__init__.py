"""Real agents, a scripted model, no network.

These tests install the pinned client of each agent from npm and let it work: it talks to a model that says
what the test wrote, inside a network namespace that has nothing but loopback. What the *next* session's model
was sent is what a test asserts on: a brief that never reached a request helped nobody.

- `clients`   which clients, which versions, and how they come into the cache
- `loopback`  a network namespace with only `lo`, and the sockets models listen on inside it
- `enter`     runs one command in there, with broken disks if the test asks for them
- `unforkable`  runs one command whose forks fail
- `memory`    Backstory as the agent's user has it: its home, its command line, its processes
- `model/`    the scripted model: what it says (`script`), how it says it (one wire module per protocol)
- `repository`  the project that they work in
- `headless`  what drivers of agents have in common: one prompt, to its end
- `drivers`   all seven by name
- `twofold`   three runs that each suite tells, and the same sessions as live capture and as history tell them
- `<agent>/`  a driver that reads like the story of a session, and the scenarios
- `test_seven`  one task that goes through all of them
"""
