#!/usr/bin/env bash
# Measures one pair of hosts in one job with a time limit: the command `fabricbench check_node_pair`, whose --dry-run prints
# the job, for who wants to start it otherwise. sweep_pairs.sh calls this for each pair of a round.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

become_command check_node_pair "$@"
