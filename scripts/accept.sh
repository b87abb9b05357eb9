#!/usr/bin/env bash
# Accepts or drains hosts: the command `fabricbench accept`.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

become_command accept "$@"
