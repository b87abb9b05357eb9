#!/usr/bin/env bash
# Tries what a newcomer tries, on a bare Debian (or Ubuntu) of this host's own release, made by debootstrap.
set -euo pipefail

# shellcheck source=tests/bare_machine/bare_system.sh
source "$(dirname "${BASH_SOURCE[0]}")/bare_system.sh"

readonly kScenarios=(root sudo)

usage() {
    cat <<EOT
usage: sudo tests/bare_machine/try_bare_debian.sh [--dir DIR] [--scenario root|sudo]... [--limit SECONDS] [--keep]

Clones this checkout's HEAD into a bare system and runs there:
  root   quickstart.sh as a user who has no sudo (must be refused with status 3), as root, again as that user,
         then test.sh as root
  sudo   quickstart.sh as a user who has sudo

  --dir DIR         below /tmp; keeps the bare system, so that the next trial is fast (default /tmp/fabricbench-bare)
  --scenario NAME   only this one; may be repeated
  --limit SECONDS   for each scenario (default 3600)
  --keep            keep the systems that were tried, in DIR/trial-NAME
  --help            print this text

Exit status: 0 all as expected, 1 something was not, 2 usage, 77 skipped: not root.
EOT
}

# try_scenario NAME: with the checkout in the homes of root and of a user.
try_scenario() {
    local name=$1
    trial=$dir/trial-$name
    make_trial "$trial" "$(host_codename)"
    chroot "$trial" useradd --create-home --shell /bin/bash newcomer
    git clone --quiet --no-hardlinks "$repository" "$trial/root/fabricbench"
    git clone --quiet --no-hardlinks "$repository" "$trial/home/newcomer/fabricbench"
    chroot "$trial" chown -R newcomer: /home/newcomer
    run_trial "scenario $name" "$limit_s" "$name"
}

# try_it STATUS USER COMMAND: in the user's checkout.
try_it() { expect "$1" "$2" "cd fabricbench && $3"; }

inside() {
    local root=$1 scenario=$2
    mount_system "$root"
    case $scenario in
        root)
            try_it 3 newcomer scripts/quickstart.sh
            try_it 0 root "scripts/install_deps.sh --dry-run"
            try_it 0 root scripts/quickstart.sh
            try_it 0 newcomer scripts/quickstart.sh
            try_it 0 root scripts/test.sh
            ;;
        sudo)
            chroot "$root" sh -c 'apt-get update && apt-get install -y --no-install-recommends sudo' >/dev/null
            echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/newcomer"
            try_it 0 newcomer scripts/quickstart.sh
            ;;
    esac
}

main() {
    if [[ ${1-} == --inside ]]; then
        inside "$2" "$3"
        return
    fi
    local limit_s=3600 scenarios=() repository scenario
    while (($# > 0)); do
        case $1 in
            --dir) dir=${2:?--dir needs a directory} && shift ;;
            --scenario)
                [[ -n ${2-} && " ${kScenarios[*]} " == *" $2 "* ]] ||
                    die 2 "'${2-}' is not a scenario; write one of: ${kScenarios[*]}"
                scenarios+=("$2")
                shift
                ;;
            --limit) set_limit "${2-}" && shift ;;
            --keep) keep=yes ;;
            -h | --help) usage && exit 0 ;;
            *) die 2 "'$1' is not an option; run '$0 --help' for the list" ;;
        esac
        shift
    done
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    git -C "$repository" rev-parse --quiet --verify HEAD >/dev/null ||
        die 1 "'$repository' has no git commit to try; commit first"

    require_root
    make_base "$(host_codename)"
    [[ ${#scenarios[@]} -gt 0 ]] || scenarios=("${kScenarios[@]}")
    for scenario in "${scenarios[@]}"; do
        try_scenario "$scenario"
    done
}

main "$@"
