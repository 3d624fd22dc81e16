"""`python -m backstory` is the command `backstory`."""

from backstory.cli import main

if __name__ == "__main__":
    main()
