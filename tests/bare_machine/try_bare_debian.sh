#!/usr/bin/env bash
# Tries what a newcomer tries, on a bare Debian (or Ubuntu) of this host's own release, made by debootstrap.
# Every mount and process of a trial lives in namespaces of its own, which the kernel takes down with the
# trial, however it ends: nothing is left to unmount when its files are removed.
set -euo pipefail

readonly kSkipped=77
readonly kMarker=.fabricbench_bare_machine
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

say() { printf '\n== %s\n' "$*"; }

die() {
    local status=$1
    shift
    printf 'try_bare_debian.sh: %s\n' "$*" >&2
    exit "$status"
}

# ---- the host's side ----

# in_namespaces SECONDS COMMAND...: in the background, so that an interrupt is seen at once.
in_namespaces() {
    local limit_s=$1
    shift
    timeout --signal=KILL "$limit_s" unshare --mount --pid --fork --kill-child "$@" </dev/null &
    running=$!
    wait "$running" || return
    running=""
}

# However this script ends, nothing it started goes on and no tried system stays behind.
clean_up() {
    # timeout leads a process group of its own; the first process of a PID namespace takes the rest with it.
    [[ -z $running ]] || kill -KILL -- "-$running" 2>/dev/null || true
    [[ -z $trial || $keep == yes ]] || remove_tree "$trial"
}

# remove_tree DIRECTORY: only when nothing is mounted in it.
remove_tree() {
    if awk -v tree="$1" '$2 == tree || index($2, tree "/") == 1 { found = 1 } END { exit !found }' /proc/self/mounts; then
        die 1 "'$1' still has mounts in it (see 'findmnt'); unmount them, then remove it by hand"
    fi
    rm -rf --one-file-system "$1"
}

# The directory is ours if we marked it; anything else is left alone.
claim_directory() {
    dir=$(realpath -m "$dir")
    [[ $dir == /tmp/* ]] || die 2 "--dir '$dir' is not below /tmp; write a directory such as /tmp/fabricbench-bare"
    if [[ -e $dir && ! -e $dir/$kMarker && -n $(ls -A "$dir") ]]; then
        die 2 "--dir '$dir' holds something else; name a new or an empty directory"
    fi
    mkdir -p "$dir"
    touch "$dir/$kMarker"
}

host_codename() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

# The repository that this host itself installs from.
host_mirror() {
    # shellcheck disable=SC2016  # apt expands these
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$1" '$2 == release && $3 == "main" && !seen++ { print $1 }'
}

make_base() {
    local codename mirror
    [[ ! -e $dir/base.complete ]] || return 0
    command -v debootstrap >/dev/null ||
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap ||
        die 1 "debootstrap is missing and could not be installed; see the message above"
    codename=$(host_codename)
    mirror=$(host_mirror "$codename")
    [[ -n $mirror ]] || die 1 "this host's apt has no '$codename main' repository; run apt-get update and try again"

    say "a bare $codename in $dir/base"
    remove_tree "$dir/base"
    in_namespaces 1200 debootstrap --variant=minbase --include=ca-certificates,git \
        "$codename" "$dir/base" "$mirror" >"$dir/debootstrap.log" 2>&1 ||
        die 1 "debootstrap failed; its last lines: $(tail -n 3 "$dir/debootstrap.log")"
    touch "$dir/base.complete"
}

# Sources, keys and network settings; not the hooks, which call programs that a bare system lacks.
copy_apt_settings() {
    local root=$1 path
    : >"$root/etc/apt/sources.list"
    for path in /etc/apt/{sources.list,sources.list.d,trusted.gpg.d,keyrings,auth.conf,auth.conf.d} /usr/share/keyrings \
        /usr/local/share/ca-certificates; do
        [[ ! -e $path ]] || cp -aT "$path" "$root$path"
    done
    apt-config dump Acquire | grep -v '^Acquire::IndexTargets' >"$root/etc/apt/apt.conf.d/00host"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# make_trial ROOT: a fresh copy with the checkout in the homes of root and of a user.
make_trial() {
    local root=$1
    remove_tree "$root"
    cp -a "$dir/base" "$root"
    copy_apt_settings "$root"
    chroot "$root" useradd --create-home --shell /bin/bash newcomer
    git clone --quiet --no-hardlinks "$repository" "$root/root/fabricbench"
    git clone --quiet --no-hardlinks "$repository" "$root/home/newcomer/fabricbench"
    chroot "$root" chown -R newcomer: /home/newcomer
}

try_scenario() {
    local name=$1 status=0
    trial=$dir/trial-$name
    make_trial "$trial"
    in_namespaces "$limit_s" "$0" --inside "$trial" "$name" || status=$?
    [[ $status -ne 137 ]] || die 1 "scenario $name was ended after $limit_s s; raise --limit if that is too short"
    [[ $status -eq 0 ]] || die 1 "scenario $name failed with status $status; see above"
    [[ $keep == yes ]] || remove_tree "$trial"
    trial=""
    say "scenario $name: all as expected"
}

# ---- inside the namespaces ----

mount_system() {
    local root=$1
    # `ip netns exec` wants "/" to be a mount point.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
}

# expect STATUS USER COMMAND: in a login shell of that user, in its checkout, with nothing of our environment.
expect() {
    local wanted=$1 user=$2 command=$3 status=0
    say "as $user: $command"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
        chroot "$root" su - "$user" -c "cd fabricbench && $command" || status=$?
    [[ $status -eq $wanted ]] || die 1 "'$command' as $user ended with status $status; expected $wanted"
}

inside() {
    local root=$1 scenario=$2
    mount_system "$root"
    [[ ! -d /usr/local/share/ca-certificates ]] || chroot "$root" update-ca-certificates >/dev/null
    case $scenario in
        root)
            expect 3 newcomer scripts/quickstart.sh
            expect 0 root "scripts/install_deps.sh --dry-run"
            expect 0 root scripts/quickstart.sh
            expect 0 newcomer scripts/quickstart.sh
            expect 0 root scripts/test.sh
            ;;
        sudo)
            chroot "$root" sh -c 'apt-get update && apt-get install -y --no-install-recommends sudo' >/dev/null
            echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/newcomer"
            expect 0 newcomer scripts/quickstart.sh
            ;;
    esac
}

main() {
    if [[ ${1-} == --inside ]]; then
        inside "$2" "$3"
        return
    fi
    local limit_s=3600 scenarios=() repository scenario
    # Not local: clean_up reads them when main is gone.
    dir=/tmp/fabricbench-bare keep=no running="" trial=""
    while (($# > 0)); do
        case $1 in
            --dir) dir=${2:?--dir needs a directory} && shift ;;
            --scenario)
                [[ -n ${2-} && " ${kScenarios[*]} " == *" $2 "* ]] ||
                    die 2 "'${2-}' is not a scenario; write one of: ${kScenarios[*]}"
                scenarios+=("$2")
                shift
                ;;
            --limit)
                [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die 2 "'${2-}' is not a number of seconds; write one such as 3600"
                limit_s=$2
                shift
                ;;
            --keep) keep=yes ;;
            -h | --help) usage && exit 0 ;;
            *) die 2 "'$1' is not an option; run '$0 --help' for the list" ;;
        esac
        shift
    done
    [[ $(id -u) -eq 0 ]] || { echo "skipped: making a bare system needs root" && exit "$kSkipped"; }
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    git -C "$repository" rev-parse --quiet --verify HEAD >/dev/null ||
        die 1 "'$repository' has no git commit to try; commit first"

    trap clean_up EXIT
    trap 'exit 130' INT TERM
    claim_directory
    make_base
    [[ ${#scenarios[@]} -gt 0 ]] || scenarios=("${kScenarios[@]}")
    for scenario in "${scenarios[@]}"; do
        try_scenario "$scenario"
    done
}

main "$@"
