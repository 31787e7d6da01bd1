"""supervisord, with an exit status that tells a dead engine from a stop.

supervisord itself ends with 0 either way, and `restart: on-failure` or a person would
take that for a stop.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from supervisor import supervisord

from bundle.errors import ExitCode
from entrypoint.quit_on_fatal import DEAD

CONF = Path(__file__).with_name("supervisord.conf")


def main(run_dir: Path) -> int:
    """Run supervisord until it is stopped or the engine is given up."""
    (run_dir / DEAD).unlink(missing_ok=True)
    supervisord.main(["--nodaemon", "--configuration", str(CONF)])
    return ExitCode.COULD_NOT_RUN if (run_dir / DEAD).exists() else ExitCode.GOOD


if __name__ == "__main__":
    sys.exit(main(Path(os.environ["SUPERVISE_RUN_DIR"])))
