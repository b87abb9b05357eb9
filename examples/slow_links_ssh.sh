#!/usr/bin/env bash
# Finds slow hosts, NICs and links among machines that only ssh connects: no scheduler, no shared file system but for the
# programs, which lie in the same folder on all of them.
#   examples/slow_links_ssh.sh HOSTFILE [OPTION OF sweep_pairs.sh]...
set -euo pipefail

readonly kHere=${BASH_SOURCE[0]%/*}

hostfile=${1:?give a file with a host a line, such as: node[01-16]}
shift

# ssh must ask nothing, and give up soon where a host is down.
export OMPI_MCA_plm_rsh_args="-o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=accept-new"
# mpirun reaches each host from here; otherwise Open MPI logs in from host to host, which takes keys on all of them.
export OMPI_MCA_plm_rsh_no_tree_spawn=1

exec "$kHere/../scripts/sweep_pairs.sh" --hostfile "$hostfile" --find "$@"
