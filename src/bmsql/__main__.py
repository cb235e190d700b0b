"""`python -m bmsql` is the `bmsql` command."""

from bmsql.cli import main

if __name__ == "__main__":
    main()
