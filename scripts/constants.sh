# shellcheck shell=bash
# shellcheck disable=SC2034  # read by the scripts that source this one
# Written by describe_records (`make records`) from the programs' own constants.
readonly kOk=0
readonly kFailed=1
readonly kUsage=2
readonly kMissing=3
readonly kTimeout=4
readonly kWrongData=5
readonly kTooSlow=6
readonly kNotJudged=7
readonly kSchemaVersion=1
readonly kTolerance=0.05
readonly kPercentOfPort=90
readonly kMostGbPerSecond=1000000
readonly kRankLimit_s=300
readonly kHostName='^([A-Za-z0-9._][A-Za-z0-9._-]*@)?[A-Za-z0-9._:%][A-Za-z0-9._:%-]*$'
readonly kReadingStatuses=(ok slow failed timeout wrong not_tried)
