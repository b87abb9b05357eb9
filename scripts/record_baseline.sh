#!/usr/bin/env bash
# Records a baseline: `fabricbench record_baseline` does it.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
become_command record_baseline "$@"
