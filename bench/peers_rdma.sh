#!/usr/bin/env bash
# Compares our RDMA programs with perftest's and qperf's, in a guest whose kernel has soft-RoCE (tests/rdma/guest/run),
# or over a device of this host: bench/peers_rdma.sh --device mlx5_0:3:10.0.0.1 [OPTIONS OF peers.sh] [COMPARISON...],
# which are rdma_bandwidth and rdma_latency; bench/README.md has the details.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

readonly kGuestDevice=rxe0:1:10.79.0.1
readonly kGuestLimit_s=3000

main() {
    local device='' run=()
    if [[ ${1-} == --device ]]; then
        device=${2:?'--device wants DEVICE:GID_INDEX:ADDRESS'}
        shift 2
    else
        device=$kGuestDevice
        run=("$root/tests/rdma/guest/run" --timeout "$kGuestLimit_s" --)
        export OMPI_MCA_mpi_yield_when_idle=1
    fi
    use_mpi
    export PYTHONDONTWRITEBYTECODE=1
    [[ " $* " == *" rdma_"* ]] || set -- "$@" rdma_bandwidth rdma_latency
    "${run[@]}" "$root/bench/peers.py" --rdma "$device" "$@"
}

main "$@"
