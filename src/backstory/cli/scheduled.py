"""What schedules run that were installed before `scheduled_import` had its name; crontabs still name this."""

import sys

from backstory.cli.scheduled_import import main

if __name__ == "__main__":
    sys.exit(main())
