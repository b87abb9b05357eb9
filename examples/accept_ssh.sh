#!/usr/bin/env bash
# Accepts or drains machines that only ssh connects: no scheduler, no shared file system but for the programs, which lie in
# the same folder on all of them.
#   examples/accept_ssh.sh HOSTFILE [OPTION OF accept.sh]...
#   examples/accept_ssh.sh hosts --time 20m --prometheus /var/lib/node_exporter/acceptance.prom
#   examples/accept_ssh.sh hosts --nagios --time 10m --output /var/tmp/accept-"$(date +%s)"      a check of Nagios or Icinga
set -euo pipefail

readonly kHere=${BASH_SOURCE[0]%/*}

hostfile=${1:?give a file with a host a line, such as: node[01-16]}
shift

# ssh must ask nothing, and give up soon where a host is down.
export OMPI_MCA_plm_rsh_args="-o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=accept-new"
# mpirun reaches each host from here; otherwise Open MPI logs in from host to host, which takes keys on all of them.
export OMPI_MCA_plm_rsh_no_tree_spawn=1

exec "$kHere/../scripts/accept.sh" --hostfile "$hostfile" "$@"
