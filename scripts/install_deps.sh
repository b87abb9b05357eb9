#!/usr/bin/env bash
# Installs missing packages that fabricbench needs to be built.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/dependencies.sh
source "$(dirname "${BASH_SOURCE[0]}")/dependencies.sh"

readonly kServicePolicy=/usr/sbin/policy-rc.d

usage() {
    cat <<EOT
usage: $own_call [OPTION]...

Installs missing packages with apt-get (Debian, Ubuntu) or dnf (Fedora, RHEL and
relatives). It needs root or sudo, unless nothing is missing.

  --with-reports  also install packages for reports (fabricbench report)
  --with-tests    also install packages for reports, the tests and linters
  --with-launchers
                  also install Slurm, sshd, MPICH's launcher, debootstrap and
                  rpmbuild, which only the long tests use (Debian, Ubuntu);
                  services are not started, now or later
  --dry-run       print the commands and change nothing
  --help          print this text

Exit status: 0 nothing is missing now, 1 the package manager failed, 2 usage, 3
something is missing and cannot be installed.
EOT
}

# Sets missing_names and missing_packages; PURPOSES is a word list: "build", perhaps with "report", "test" and "launch".
find_missing() {
    local purposes=$1 manager=$2 purpose kind name apt dnf package
    missing_names=() missing_packages=()
    while read -r purpose kind name apt dnf; do
        [[ " $purposes " == *" $purpose "* ]] || continue
        package=$apt
        [[ $manager != dnf ]] || package=$dnf
        [[ $package != - ]] || continue
        # Ubuntu has Chromium only as a snap; without it the tests in a browser are skipped.
        ! { [[ $package == chromium* ]] && grep -qs '^ID=ubuntu' /etc/os-release; } || continue
        is_there "$kind" "$name" && continue
        [[ " ${missing_names[*]} " == *" $name "* ]] || missing_names+=("$name")
        [[ " ${missing_packages[*]} " == *" $package "* ]] || missing_packages+=("$package")
    done <<<"$(dependency_table | grep -v '^#')"
}

# Sets as_root to the words that make a command run as root.
become_root() {
    local ask
    ask="ask an administrator to run '$(quoted "$0" "$@")'"
    as_root=()
    if is_root; then
        return
    fi
    command -v sudo >/dev/null ||
        die "$kMissing" "missing: ${missing_packages[*]}; installing them needs root and there is no sudo; $ask"
    as_root=(sudo)
    # Asks for the password if needed.
    [[ $dry_run == yes ]] || sudo true ||
        die "$kMissing" "missing: ${missing_packages[*]}; installing them needs root and sudo refused; $ask"
}

# Runs the command as root, or only prints it with --dry-run.
root_run() {
    if [[ $dry_run == yes ]]; then
        echo "would run: $(quoted "${as_root[@]}" "$@")"
    else
        say "running: $(quoted "${as_root[@]}" "$@")"
        "${as_root[@]}" "$@" </dev/null
    fi
}

apt_knows_all() {
    local package unknown=()
    for package in "${missing_packages[@]}"; do
        apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || unknown+=("$package")
    done
    unknown_packages=${unknown[*]}
    [[ -z $unknown_packages ]]
}

# service_of PACKAGE: prints the service of a package that only tests use.
service_of() {
    case $1 in
        munge | slurmctld | slurmd) echo "$1" ;;
        openssh-server) echo ssh ;;
    esac
}

# Sets services, those of the missing packages, and keeps them from being started: Debian asks policy-rc.d.
hold_services() {
    local package
    services=()
    for package in "${missing_packages[@]}"; do
        # shellcheck disable=SC2207  # one word or none
        services+=($(service_of "$package"))
    done
    [[ ${#services[@]} -gt 0 && ! -e $kServicePolicy ]] || return 0
    trap 'root_run rm -f "$kServicePolicy"' EXIT
    root_run sh -c "printf '#!/bin/sh\\nexit 101\\n' >$kServicePolicy && chmod 755 $kServicePolicy"
}

# Nor are they started when the system is.
disable_services() {
    [[ ${#services[@]} -gt 0 ]] && command -v systemctl >/dev/null || return 0
    root_run systemctl --quiet disable "${services[@]}" || warn "could not disable ${services[*]}; see the message above"
}

install_with_apt() {
    local services hint="on Ubuntu, enable 'universe' (add-apt-repository universe)"
    # A third-party source that is down must not prevent installing from the others.
    # Error-Mode: by default apt-get reports success if no source can be reached.
    if ! root_run apt-get update -qq -o Acquire::Retries=3 -o APT::Update::Error-Mode=any; then
        apt_knows_all ||
            die "$kFailed" "'apt-get update' failed, and no package list here has: $unknown_packages;" \
                "see its message above, check the network and /etc/apt, and run this again"
        warn "'apt-get update' failed; continuing with the existing package lists"
    elif [[ $dry_run == no ]] && ! apt_knows_all; then
        die "$kMissing" "no apt source has: $unknown_packages; $hint, or install them by hand"
    fi
    hold_services
    # A machine that has just started may be upgrading itself: wait for its lock, with a limit.
    root_run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "${missing_packages[@]}" ||
        die "$kFailed" "'apt-get install' failed; see its message above"
    disable_services
}

install_with_dnf() {
    local hint="see its message above"
    grep -qs '^ID=.*fedora' /etc/os-release ||
        hint+="; on RHEL and relatives, enable CRB ('dnf config-manager --set-enabled crb') and EPEL ('dnf install epel-release')"
    root_run dnf install -y --setopt=install_weak_deps=False "${missing_packages[@]}" ||
        die "$kFailed" "'dnf install' failed; $hint"
}

# A second python3 or compiler, first on the PATH, does not see what the package manager installs.
check_all_found() {
    hash -r
    use_mpi
    find_missing "$1" "$2"
    [[ ${#missing_names[@]} -eq 0 ]] ||
        die "$kMissing" "installed, but still not found: ${missing_names[*]};" \
            "check which c++ and python3 come first in PATH=$PATH"
}

install_missing() {
    local purposes=$1 manager=$2
    shift 2
    [[ $manager != none ]] ||
        die "$kMissing" "not found: ${missing_names[*]}; this system has neither apt-get nor dnf, install them by hand"
    say "not found: ${missing_names[*]}"
    become_root "$@"
    case $manager in
        apt-get) install_with_apt ;;
        dnf) install_with_dnf ;;
    esac
    [[ $dry_run == yes ]] || check_all_found "$purposes" "$manager"
}

main() {
    local purposes=build manager option
    dry_run=no
    for option in "$@"; do
        case $option in
            --with-reports) purposes+=" report" ;;
            --with-tests) purposes+=" report test" ;;
            --with-launchers) purposes+=" launch" ;;
            --dry-run) dry_run=yes ;;
            -h | --help) usage; exit 0 ;;
            *) unknown_option "$option" ;;
        esac
    done
    manager=$(package_manager)
    use_mpi
    find_missing "$purposes" "$manager"
    if [[ ${#missing_names[@]} -eq 0 ]]; then
        say "nothing to install"
    elif [[ ${missing_names[*]} == help2man ]] && ! is_root; then
        say "help2man is not there: the build leaves out man pages"  # which are no reason to ask for root
    else
        install_missing "$purposes" "$manager" "$@"
    fi
}

main "$@"
