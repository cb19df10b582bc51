"""``python -m elbmf`` does what the command ``elbmf`` does."""

import sys

from elbmf.cli import main

if __name__ == "__main__":
    sys.exit(main())
