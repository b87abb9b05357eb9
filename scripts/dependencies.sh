# shellcheck shell=bash
# What the suite needs from the system, and its packages: `source` this after lib.sh.

# Each requirement, its purpose, how it is found, and its package.
# The check is for the thing itself instead of its package, so that an MPI from a module or a cmake from /opt counts.
#   command NAME     found on the PATH
#   daemon NAME      the same, or where the system keeps programs of root
#   header FILE      found by the C++ compiler
#   library FILE     known to the C++ compiler
#   file NAME        exists
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
build   command  file                file                 file
build   command  help2man            help2man             help2man
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
test    module   pandas              python3-pandas       python3-pandas
test    module   yaml                python3-yaml         python3-pyyaml
test    module   prometheus_client   python3-prometheus-client  python3-prometheus_client
test    command  jq                  jq                   jq
test    command  gnuplot             gnuplot-nox          gnuplot
report  module   jinja2,plotly       python3-jinja2       python3-jinja2
report  module   jinja2,plotly       python3-plotly       python3-plotly
report  module   matplotlib          python3-matplotlib   python3-matplotlib
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
test    command  groff               groff-base           groff-base
test    command  zsh                 zsh                  zsh
test    command  fish                fish                 fish
test    file     /usr/share/lmod/lmod/init/bash  lmod     Lmod
launch  daemon   munged              munge                -
launch  daemon   slurmctld           slurmctld            -
launch  daemon   slurmd              slurmd               -
launch  command  sbatch              slurm-client         -
launch  daemon   sshd                openssh-server       -
launch  command  ssh                 openssh-client       -
launch  command  hydra_pmi_proxy     mpich                -
launch  command  debootstrap         debootstrap          -
launch  command  curl                curl                 curl
launch  command  rpmbuild            rpm                  rpm-build
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
        file) [[ -e $2 ]] ;;
        fuzzer) has_fuzzer "$2" ;;
        static) command -v "$2" && ! grep -q /lib64/ld-linux "$(command -v "$2")" ;;
        module) python3 -c "import $2" || /usr/bin/python3 -c "import $2" ;;
    esac >/dev/null 2>&1
}

# Prints apt-get, dnf or none.
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

# package_of KIND NAME: prints the package that has it, or the packages of several modules; nothing if the table or the
# package manager has none.
package_of() {
    local manager kind name apt dnf package packages=()
    manager=$(package_manager)
    while read -r _ kind name apt dnf; do
        [[ $kind == "$1" && $name == "$2" ]] || continue
        package=$apt
        [[ $manager != dnf ]] || package=$dnf
        [[ $manager == none || $package == - ]] || packages+=("$package")
    done <<<"$(dependency_table | grep -v '^#')"
    [[ ${#packages[@]} -eq 0 ]] || echo "${packages[*]}"
}
