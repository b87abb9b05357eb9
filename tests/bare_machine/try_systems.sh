#!/usr/bin/env bash
# Builds the suite and runs some programs on bare systems of other releases, with Open MPI and with MPICH.
set -euo pipefail

# shellcheck source=tests/bare_machine/bare_system.sh
source "$(dirname "${BASH_SOURCE[0]}")/bare_system.sh"

readonly kSuites=(bookworm trixie jammy noble)
readonly kMpis=(openmpi mpich)

usage() {
    cat <<EOT
usage: sudo tests/bare_machine/try_systems.sh [--dir DIR] [--limit SECONDS] [--build-type TYPE] [--keep] [SUITE...]

Clones this checkout's HEAD into a bare system of each SUITE (default: ${kSuites[*]}), and there, with the packages of
scripts/install_deps.sh, builds with Open MPI and with MPICH, installs, and runs some programs.

  --dir DIR         below /tmp; keeps the bare systems, so that the next trial is fast (default /tmp/fabricbench-bare)
  --limit SECONDS   for each suite (default 14400)
  --build-type TYPE
                    CMake's (default Release); None compiles in half the time
  --keep            keep the systems that were tried, in DIR/trial-SUITE
  --help            print this text

Exit status: 0 all as expected, 1 something was not, 2 usage, 77 skipped: not root, or a suite's packages cannot be had.
EOT
}

# try_mpi SUITE MPI: builds, installs and runs. All ranks are on this host, however few processors it has.
try_mpi() {
    local suite=$1 mpi=$2 variables launch="mpirun.$2 -np 2"
    variables="OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1"
    variables+=" PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"
    # MPICH of Ubuntu 24.04 was built for PMIx, which its own mpirun lacks (Launchpad bug 2072338): every rank is alone.
    [[ $suite-$mpi != noble-mpich ]] || launch="mpirun.openmpi -np 2"
    launch="env $variables $launch"
    # In one folder: what has nothing to do with MPI is compiled once.
    expect 0 root "cd fabricbench && rm -f build/CMakeCache.txt && cmake --preset release -DCMAKE_BUILD_TYPE=$build_type \
-DMPI_CXX_COMPILER=mpicxx.$mpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.$mpi && cmake --build build"
    expect 0 root "cmake --install fabricbench/build --prefix /opt/$mpi >/dev/null && ls /opt/$mpi/bin"
    [[ $suite-$mpi != noble-mpich ]] ||
        expect 3 root "mpirun.mpich -np 2 /opt/$mpi/bin/fb_all_reduce_perf -b 8 -e 64K -n 10"
    expect 0 root "$launch /opt/$mpi/bin/fb_all_reduce_perf -b 8 -e 64K -n 10 --json $mpi.jsonl"
    expect 0 root "$launch /opt/$mpi/bin/fb_send_recv_lat -b 8 -e 8 -n 10"
    expect 0 root "$launch /opt/$mpi/bin/fb_tcp_bw -b 64K -e 64K -n 5"
    expect 0 root "/opt/$mpi/bin/fabricbench table $mpi.jsonl"
    expect 0 root "/opt/$mpi/bin/fb_list_hosts -H 'node[1-3]'"
    # No RDMA device, or another one that this host has and the system sees.
    expect 0 root "$launch /opt/$mpi/bin/fb_rdma_write_bw -n 5 || test \$? -eq 3"
}

inside() {
    local root=$1 suite=$2 build_type=$3 mpi
    mount_system "$root"
    chroot "$root" apt-get update -qq
    expect 0 root "fabricbench/scripts/install_deps.sh >/dev/null"
    expect 0 root "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mpich libmpich-dev >/dev/null"
    # shellcheck disable=SC2016  # dpkg-query expands these
    say "$suite: $(chroot "$root" dpkg-query -W -f '${Package} ${Version}, ' g++ cmake libopenmpi-dev libmpich-dev libfmt-dev)"
    for mpi in "${kMpis[@]}"; do
        try_mpi "$suite" "$mpi"
    done
    expect 0 root "cd fabricbench/build && cpack -G DEB && ls packages/*.deb"
}

main() {
    if [[ ${1-} == --inside ]]; then
        inside "$2" "$3" "$4"
        return
    fi
    local limit_s=14400 build_type=Release suites=() suite repository
    while (($# > 0)); do
        case $1 in
            --dir) dir=${2:?--dir needs a directory} && shift ;;
            --limit) set_limit "${2-}" && shift ;;
            --build-type) build_type=${2:?--build-type needs a type, such as Release} && shift ;;
            --keep) keep=yes ;;
            -h | --help) usage && exit 0 ;;
            *)
                [[ " ${kSuites[*]} " == *" $1 "* ]] || die 2 "'$1' is not a suite; write one of: ${kSuites[*]}"
                suites+=("$1")
                ;;
        esac
        shift
    done
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    require_root
    [[ ${#suites[@]} -gt 0 ]] || suites=("${kSuites[@]}")
    for suite in "${suites[@]}"; do
        has_packages "$suite" || skip "the packages of $suite cannot be had here"
        make_base "$suite"
        trial=$dir/trial-$suite
        make_trial "$trial" "$suite"
        git clone --quiet --no-hardlinks "$repository" "$trial/root/fabricbench"
        run_trial "$suite" "$limit_s" "$suite" "$build_type"
    done
}

main "$@"
