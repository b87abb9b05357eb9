"""What launchers do wrong, which is no fault of the programs."""

import re


def launcher_blames_wrongly(stdout, stderr):
    """Whether mpirun says that a rank ended without MPI_Finalize although the program came to its end. That of Open MPI 4.1
    may, where it learns of the end of a rank before it has read the rank's last message: on busy machines, and rarely."""
    return "exiting improperly" in stderr and re.search(r"(?m)^# \S+ test concluded: ", stdout) is not None
