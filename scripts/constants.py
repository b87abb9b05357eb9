"""Exit statuses of the programs and scripts (docs/output.md), and limits of records. None of them changes once released."""

OK = 0
FAILED = 1
USAGE = 2
MISSING = 3
TIMEOUT = 4
WRONG_DATA = 5
TOO_SLOW = 6
NOT_JUDGED = 7
SCHEMA_VERSION = 1  # the last one that is read
MOST_GB_PER_SECOND = 1000000  # no link is faster
