"""Written by describe_records (`make records`) from the programs' own constants."""

OK = 0
FAILED = 1
USAGE = 2
MISSING = 3
TIMEOUT = 4
WRONG_DATA = 5
TOO_SLOW = 6
NOT_JUDGED = 7
SCHEMA_VERSION = 1
TOLERANCE = 0.05
PERCENT_OF_PORT = 90
MOST_GB_PER_SECOND = 1000000
RANK_LIMIT_S = 300
HOST_NAME = '^([A-Za-z0-9._][A-Za-z0-9._-]*@)?[A-Za-z0-9._:%][A-Za-z0-9._:%-]*$'
READING_STATUSES = ("ok", "slow", "failed", "timeout", "wrong", "not_tried")
