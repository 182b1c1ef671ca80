"""``python -m quoth`` is the command line."""

from quoth.interfaces.cli.app import main

if __name__ == "__main__":
    main()
