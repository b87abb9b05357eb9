# shellcheck shell=bash
# Bare Debian and Ubuntu systems, made by debootstrap, for the scripts beside this one, which source it.
# Every mount and process of a trial lives in namespaces of its own, which the kernel takes down with the
# trial, however it ends: nothing is left to unmount when its files are removed.

readonly kSkipped=77
readonly kMarker=.fabricbench_bare_machine
readonly kUbuntuMirror=http://archive.ubuntu.com/ubuntu

# Not local to any function: clean_up reads them.
dir=/tmp/fabricbench-bare keep=no running="" trial=""

say() { printf '\n== %s\n' "$*"; }

die() {
    local status=$1
    shift
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit "$status"
}

skip() {
    echo "skipped: $*"
    exit "$kSkipped"
}

# set_limit SECONDS: sets limit_s, whose value until then is the example.
set_limit() {
    [[ $1 =~ ^[1-9][0-9]*$ ]] || die 2 "'$1' is not a number of seconds; write one such as $limit_s"
    limit_s=$1
}

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

is_ubuntu() { [[ $1 == jammy || $1 == noble ]]; }

# mirror_of SUITE: prints the repository that this host itself installs from, or Ubuntu's own.
mirror_of() {
    local host
    # shellcheck disable=SC2016  # apt expands these
    host=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$1" -v codename="$(host_codename)" \
            '($2 == release || (release != "jammy" && release != "noble" && $2 == codename)) && $3 == "main" && !seen++ { print $1 }')
    if [[ -n $host ]]; then
        echo "${host%/}"
    elif is_ubuntu "$1"; then
        echo "$kUbuntuMirror"
    fi
}

# has_packages SUITE: whether its repository answers.
has_packages() {
    local mirror
    mirror=$(mirror_of "$1")
    [[ -n $mirror ]] && curl --silent --fail --location --max-time 60 --output /dev/null "$mirror/dists/$1/Release"
}

# Sets bootstrap: the options and the script of debootstrap for a suite. An older debootstrap lacks the names of newer suites, which it
# makes as it makes the ones before. Without Ubuntu's keyring, which Debian 12 lacks, signatures are not checked.
debootstrap_words() {
    local suite=$1 keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
    bootstrap=(debootstrap --variant=minbase "--include=ca-certificates,git")
    if is_ubuntu "$suite"; then
        bootstrap+=("--components=main,universe")
        if [[ -e $keyring ]]; then bootstrap+=("--keyring=$keyring"); else bootstrap+=(--no-check-gpg); fi
    fi
    bootstrap+=("$suite" "$dir/base-$suite" "$(mirror_of "$suite")")
    if [[ -e /usr/share/debootstrap/scripts/$suite ]]; then return; fi
    if is_ubuntu "$suite"; then bootstrap+=(gutsy); else bootstrap+=(sid); fi
}

# make_base SUITE: a bare system in DIR/base-SUITE, unless it is there.
make_base() {
    local suite=$1 bootstrap
    [[ ! -e $dir/base-$suite.complete ]] || return 0
    command -v debootstrap >/dev/null ||
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap ||
        die 1 "debootstrap is missing and could not be installed; see the message above"
    [[ -n $(mirror_of "$suite") ]] || die 1 "this host's apt has no '$suite main' repository; run apt-get update and try again"
    debootstrap_words "$suite"
    say "a bare $suite in $dir/base-$suite"
    remove_tree "$dir/base-$suite"
    in_namespaces 1200 "${bootstrap[@]}" >"$dir/debootstrap-$suite.log" 2>&1 ||
        die 1 "debootstrap of $suite failed; its last lines: $(tail -n 3 "$dir/debootstrap-$suite.log")"
    touch "$dir/base-$suite.complete"
}

# copy_apt_settings ROOT SUITE: sources, keys and network settings; not the hooks, which call programs that a bare system
# lacks. Of another suite than the host's, debootstrap has written the source.
copy_apt_settings() {
    local root=$1 suite=$2 path paths=(/etc/apt/{auth.conf,auth.conf.d} /usr/local/share/ca-certificates)
    if [[ $suite == "$(host_codename)" ]]; then
        : >"$root/etc/apt/sources.list"
        paths+=(/etc/apt/{sources.list,sources.list.d,trusted.gpg.d,keyrings} /usr/share/keyrings)
    fi
    for path in "${paths[@]}"; do
        [[ ! -e $path ]] || cp -aT "$path" "$root$path"
    done
    apt-config dump Acquire | grep -v '^Acquire::IndexTargets' >"$root/etc/apt/apt.conf.d/00host"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# make_trial ROOT SUITE: a fresh copy of the bare system.
make_trial() {
    remove_tree "$1"
    cp -a "$dir/base-$2" "$1"
    copy_apt_settings "$1" "$2"
}

# run_trial NAME SECONDS WORD...: runs this script again, in namespaces, with --inside and the words. Reads trial.
run_trial() {
    local name=$1 limit_s=$2 status=0
    shift 2
    in_namespaces "$limit_s" "$0" --inside "$trial" "$@" || status=$?
    [[ $status -ne 137 ]] || die 1 "$name was ended after $limit_s s; raise --limit if that is too short"
    [[ $status -eq 0 ]] || die 1 "$name failed with status $status; see above"
    [[ $keep == yes ]] || remove_tree "$trial"
    trial=""
    say "$name: all as expected"
}

# require_root: and says what is done however the script ends.
require_root() {
    [[ $(id -u) -eq 0 ]] || skip "making a bare system needs root"
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    claim_directory
}

# ---- inside the namespaces ----

mount_system() {
    local root=$1
    # `ip netns exec` wants "/" to be a mount point.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    [[ ! -d /usr/local/share/ca-certificates ]] || chroot "$root" update-ca-certificates >/dev/null
}

# expect STATUS USER COMMAND: in a login shell of that user, with nothing of our environment. Reads root.
expect() {
    local wanted=$1 user=$2 command=$3 status=0
    say "as $user: $command"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb chroot "$root" su - "$user" -c "$command" || status=$?
    [[ $status -eq $wanted ]] || die 1 "'$command' as $user ended with status $status; expected $wanted"
}
