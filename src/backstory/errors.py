"""What can go wrong, as few typed errors; each message ends in what to do next.

What exit codes mean stands in one place: `EXIT_CODES` in cli/main.py.

BackstoryError
├── UsageError            the call is wrong                      exit 1
├── SourceMissing         something named is not there           exit 2
├── DependencyMissing     a part that this needs is not here     exit 3
└── Failed                it was tried and did not work          exit 4
    ├── StoreUnusable     the database cannot be opened or written
    │   └── StoreBusy     somebody else is writing to it, for longer than one wants to wait
    └── NewerSchema       the database was written by a newer Backstory
"""


class BackstoryError(Exception):
    """Base of all errors that the edges print as one line."""

    exit_code = 4


class UsageError(BackstoryError):
    """The command was called in a way that makes no sense."""

    exit_code = 1


class SourceMissing(BackstoryError):
    """A file, folder, session or id that was named does not exist."""

    exit_code = 2


class DependencyMissing(BackstoryError):
    """Something that this needs is not installed on this machine."""

    exit_code = 3


class Failed(BackstoryError):
    """It was tried and did not work."""


class StoreUnusable(Failed):
    """The database cannot be opened, read or written."""


class StoreBusy(StoreUnusable):
    """Somebody else has been writing to the database for longer than one wants to wait."""


class NewerSchema(StoreUnusable):
    """The database was written by a newer Backstory and is left untouched."""
