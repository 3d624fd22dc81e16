"""The viewer as people see it: a real Chromium looks at a real server, over a home that real sessions filled."""
