#!/usr/bin/env bash
# Installs missing packages that fabricbench needs to be built.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly kServicePolicy=/usr/sbin/policy-rc.d

usage() {
    cat <<'EOT'
usage: scripts/install_deps.sh [--with-reports] [--with-tests] [--with-launchers] [--dry-run]

Installs missing packages with apt-get (Debian, Ubuntu) or dnf (Fedora, RHEL and relatives).
It needs root or sudo, unless nothing is missing.

  --with-reports  also install packages for reports (fabricbench report)
  --with-tests    also install packages for reports, the tests and linters
  --with-launchers
                  also install Slurm, sshd and MPICH's launcher, which only the long tests use (Debian, Ubuntu); their
                  services are not started, now or later
  --dry-run       print the commands and change nothing
  --help          print this text

Exit status: 0 nothing is missing now, 1 the package manager failed, 2 usage, 3 something is missing
and cannot be installed.
EOT
}

# Each requirement, its purpose, how it is found, and its package.
# The check is for the thing itself instead of its package, so that an MPI from a module or a cmake from /opt counts.
#   command NAME     found on the PATH
#   daemon NAME      the same, or where the system keeps programs of root
#   header FILE      found by the C++ compiler
#   library FILE     known to the C++ compiler
#   static NAME      found on the PATH, statically linked
#   fuzzer NAME      a compiler that has libFuzzer
#   module NAMES     all imported by the python3 on the PATH, or by the system's, which packages install into
# The package - means that it is not used there: the guests of tests/rdma use a kernel from Debian's packages, and the nodes
# of tests/cluster/lab.sh Debian's Slurm.
dependency_table() {
    cat <<'EOT'
# for   kind     name                apt                  dnf
build   command  c++                 build-essential      gcc-c++
build   command  make                build-essential      make
build   command  cmake               cmake                cmake
build   command  ninja               ninja-build          ninja-build
build   command  pkg-config          pkg-config           pkgconf-pkg-config
build   command  mpicxx              libopenmpi-dev       openmpi-devel
build   command  mpirun              openmpi-bin          openmpi
build   header   CLI/CLI.hpp         libcli11-dev         cli11-devel
build   header   fmt/format.h        libfmt-dev           fmt-devel
build   header   nlohmann/json.hpp   nlohmann-json3-dev   json-devel
build   header   simdjson.h          libsimdjson-dev      simdjson-devel
build   header   hwloc.h             libhwloc-dev         hwloc-devel
build   header   infiniband/verbs.h  libibverbs-dev       rdma-core-devel
build   header   rdma/rdma_cma.h     librdmacm-dev        rdma-core-devel
test    header   gtest/gtest.h       libgtest-dev         gtest-devel
test    header   gmock/gmock.h       libgmock-dev         gmock-devel
test    command  python3             python3              python3
test    module   jsonschema          python3-jsonschema   python3-jsonschema
report  module   jinja2,plotly       python3-jinja2       python3-jinja2
report  module   plotly,jinja2       python3-plotly       python3-plotly
test    module   selenium            python3-selenium     python3-selenium
test    command  chromedriver        chromium-driver      chromedriver
test    command  chromium            chromium             chromium
test    library  libasan.so          build-essential      libasan
test    library  libubsan.so         build-essential      libubsan
test    command  find                findutils            findutils
test    command  parallel            parallel             parallel
test    command  valgrind            valgrind             valgrind
test    command  ip                  iproute2             iproute
test    command  qemu-system-x86_64  qemu-system-x86      -
test    static   busybox             busybox-static       -
test    command  ibv_rc_pingpong     ibverbs-utils        -
test    command  clang-format        clang-format         clang-tools-extra
test    command  clang-tidy          clang-tidy           clang-tools-extra
test    command  clang++             clang                clang
test    fuzzer   clang++             libclang-rt-dev      compiler-rt
test    command  shellcheck          shellcheck           ShellCheck
launch  daemon   munged              munge                -
launch  daemon   slurmctld           slurmctld            -
launch  daemon   slurmd              slurmd               -
launch  command  sbatch              slurm-client         -
launch  daemon   sshd                openssh-server       -
launch  command  ssh                 openssh-client       -
launch  command  hydra_pmi_proxy     mpich                -
EOT
}

# is_there KIND NAME
is_there() {
    case $1 in
        command) command -v "$2" ;;
        daemon) command -v "$2" "/usr/sbin/$2" ;;
        header) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$2" | c++ -E -x c++ - ;;
        # The compiler prints a full path for a library that it has, and the bare name otherwise.
        library) [[ $(c++ -print-file-name="$2") == /* ]] ;;
        fuzzer) has_fuzzer "$2" ;;
        static) command -v "$2" && ! grep -q /lib64/ld-linux "$(command -v "$2")" ;;
        module) python3 -c "import $2" || /usr/bin/python3 -c "import $2" ;;
    esac >/dev/null 2>&1
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
        missing_names+=("$name")
        [[ " ${missing_packages[*]} " == *" $package "* ]] || missing_packages+=("$package")
    done <<<"$(dependency_table | grep -v '^#')"
}

package_manager() {
    local candidate
    for candidate in apt-get dnf; do
        if command -v "$candidate" >/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo none
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
            -h | --help) usage && exit 0 ;;
            *) unknown_option "$option" ;;
        esac
    done
    manager=$(package_manager)
    use_mpi
    find_missing "$purposes" "$manager"
    if [[ ${#missing_names[@]} -eq 0 ]]; then
        say "nothing to install"
    else
        install_missing "$purposes" "$manager" "$@"
    fi
}

main "$@"
