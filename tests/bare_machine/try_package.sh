#!/usr/bin/env bash
# Installs the .deb on a bare system of this host's own release, without a compiler, and runs programs there.
set -euo pipefail

# shellcheck source=tests/bare_machine/bare_system.sh
source "$(dirname "${BASH_SOURCE[0]}")/bare_system.sh"

usage() {
    cat <<EOT
usage: sudo tests/bare_machine/try_package.sh [--dir DIR] [--limit SECONDS] [--keep] BUILD

Makes the package of the build folder BUILD (cpack -G DEB), and installs it on a bare system of this host's release.

  --dir DIR         below /tmp; keeps the bare system, so that the next trial is fast (default /tmp/fabricbench-bare)
  --limit SECONDS   for the system (default 1800)
  --keep            keep the system that was tried, in DIR/trial-package
  --help            print this text

Exit status: 0 all as expected, 1 something was not, 2 usage, 77 skipped: not root, or no Debian.
EOT
}

inside() {
    local root=$1
    mount_system "$root"
    chroot "$root" apt-get update -qq
    expect 0 root "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./fabricbench.deb >/dev/null"
    expect 0 root "! command -v c++ && ! command -v cc"
    expect 0 root "! dpkg-query -W -f '\${Depends}' fabricbench | grep -E 'libfmt|libsimdjson'"
    expect 0 root "! ldd /usr/libexec/fabricbench/* 2>&1 | grep 'not found'"
    expect 0 root "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
mpirun -np 2 fb_all_reduce_perf -b 8 -e 1M -n 10 --json run.jsonl"
    expect 0 root "fabricbench table run.jsonl"
    expect 0 root "fb_list_hosts -H 'node[1-3]'"
    expect 0 root "/usr/share/fabricbench/scripts/sweep_pairs.sh --help >/dev/null"
    expect 0 root "DEBIAN_FRONTEND=noninteractive apt-get remove -y -qq fabricbench && ! ls /usr/libexec/fabricbench"
}

main() {
    if [[ ${1-} == --inside ]]; then
        inside "$2"
        return
    fi
    local limit_s=1800 build="" packages
    while (($# > 0)); do
        case $1 in
            --dir) dir=${2:?--dir needs a directory} && shift ;;
            --limit) set_limit "${2-}" && shift ;;
            --keep) keep=yes ;;
            -h | --help) usage && exit 0 ;;
            -*) die 2 "'$1' is not an option; run '$0 --help' for the list" ;;
            *) build=$1 ;;
        esac
        shift
    done
    [[ -e $build/CPackConfig.cmake ]] || die 2 "'$build' is no build folder; give one such as build"
    command -v dpkg-shlibdeps >/dev/null || skip "a .deb is made on Debian and Ubuntu; there is no dpkg-shlibdeps here"
    require_root
    make_base "$(host_codename)"
    trial=$dir/trial-package
    make_trial "$trial" "$(host_codename)"
    packages=$(mktemp -d "$dir/packages.XXXXXX")
    (cd "$build" && cpack -G DEB -B "$packages") || die 1 "cpack could not make a .deb; see its message above"
    cp "$packages"/fabricbench_*.deb "$trial/root/fabricbench.deb"
    remove_tree "$packages"
    run_trial "the package" "$limit_s"
}

main "$@"
