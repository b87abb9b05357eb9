#!/usr/bin/env bash
# Set-up and every test. Continuous integration calls exactly this.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Each suite is a ctest label. A suite that ran nothing is a failure, not a silence.
readonly kSuites=(unit mpi cli nccl cluster)
# The bound on one test, where the test itself does not set a shorter one.
readonly kTestTimeout_s=300

usage() {
    cat <<EOT
usage: scripts/test.sh [--preset release|debug] [--without SUITE]... [--lint]

Installs what is missing (scripts/install_deps.sh --with-tests), builds, and runs every test.
Suites: ${kSuites[*]}. Some tests need root and are skipped, with the reason, where it is missing.

  --preset release   optimised build in build/ (default)
  --preset debug     address and undefined-behaviour sanitizers, in build-debug/
  --without SUITE    leave a suite out; otherwise a suite that ran no test is a failure
  --lint             run clang-format, clang-tidy and shellcheck instead of the tests
  --help             print this text

Exit status: 0 all passed, 1 a test or a check failed, 2 usage, 3 something needed is missing.
EOT
}

# Passes ctest's output on as it comes, except for its closing lines, which go to FILE.
hold_closing_lines() {
    sed -u -e '/^[0-9]\{1,3\}% tests passed/,$ {' -e "w $1" -e 'd' -e '}'
}

# The rest of ctest's closing lines, then its count as the very last one.
print_closing_lines() {
    tail -n +2 "$1"
    echo
    head -n 1 "$1"
}

# Runs every test but those of the suites in without, whatever its label.
run_ctest() {
    local build=$1 selection=()
    if [[ ${#without[@]} -gt 0 ]]; then
        selection=(--label-exclude "^($(IFS='|' && echo "${without[*]}"))\$")
    fi
    ctest --test-dir "$build" "${selection[@]}" --no-tests=error --output-on-failure --no-label-summary \
        --timeout "$kTestTimeout_s" -j "$(nproc)" \
        --test-output-size-passed 65536 --output-junit "$build/Testing/junit.xml" </dev/null
}

# run_suites BUILD_DIRECTORY SUITE...
run_suites() {
    local build=$PWD/$1 closing status=0
    shift
    closing=$build/Testing/closing_lines.txt
    mkdir -p "$build/Testing"
    rm -f "$closing" "$build/Testing/junit.xml"

    run_ctest "$build" | hold_closing_lines "$closing" || status=$kFailed

    ctest --test-dir "$build" --show-only=json-v1 |
        scripts/summarize_tests.py "$build/Testing/junit.xml" "$@" || status=$kFailed
    if [[ -s $closing ]]; then
        print_closing_lines "$closing"
    fi
    [[ $status -eq 0 ]] || die "$status" "a test failed, or a suite ran none; see above"
}

# Our own C++ files, for clang-format.
cpp_files() {
    local directory
    for directory in src tests bench; do
        [[ ! -d $directory ]] ||
            find "$directory" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.cu' \) -print0
    done
}

# The files under src/ that this configuration compiles: the others have no compile command.
compiled_files() {
    sed -n "s|^ *\"file\": \"\($PWD/src/.*\.cpp\)\",\{0,1\}\$|\1|p" build/compile_commands.json | sort -u
}

shell_files() {
    find . -type d \( -name .git -o -path './build*' \) -prune -o -type f \( -name '*.sh' -o -path ./.ci/run \) -print0
}

lint_format() {
    cpp_files | xargs -0 -r clang-format --dry-run --Werror ||
        die "$kFailed" "clang-format would change the files above; run 'make format' with $(clang-format --version)"
}

lint_tidy() {
    cmake --preset tidy
    [[ -n $(compiled_files) ]] || die "$kFailed" "build/compile_commands.json names no file under src/; check CMakeLists.txt"
    # GCC's own warning options are unknown to clang.
    compiled_files | tr '\n' '\0' | xargs -0 -n 1 -P "$(nproc)" \
        clang-tidy -p build --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option ||
        die "$kFailed" "clang-tidy objects to the places above; correct them, or say NOLINT with the reason"
}

lint_shell() {
    shell_files | xargs -0 shellcheck --external-sources ||
        die "$kFailed" "shellcheck objects to the places above"
}

lint() {
    say "shellcheck"
    lint_shell
    say "clang-format"
    lint_format
    say "clang-tidy"
    lint_tidy
    say "lint found nothing"
}

# The suite nccl takes CUDA's and NCCL's headers. A build without them says why in a file.
without_what_is_not_built() {
    local why=$PWD/$1/why_no_nccl.txt suite
    shift
    for suite in "$@"; do
        if [[ $suite == nccl && -s $why ]]; then
            warn "the suite nccl is left out: $(<"$why")"
        else
            echo "$suite"
        fi
    done
}

# Prints the suites that are not in the word list given.
suites_without() {
    local suite
    for suite in "${kSuites[@]}"; do
        [[ " $* " == *" $suite "* ]] || echo "$suite"
    done
}

require_suite() {
    [[ " ${kSuites[*]} " == *" ${1-} "* && -n ${1-} ]] ||
        die "$kUsage" "'${1-}' is not a suite; write one of: ${kSuites[*]}"
}

set_preset() {
    case ${1-} in
        # Both write to build/; ci is release with the tests.
        release) preset=ci build=build ;;
        debug) preset=debug build=build-debug ;;
        *) die "$kUsage" "'${1-}' is not a preset that runs tests; write release or debug" ;;
    esac
}

main() {
    local mode=test without=() suites preset build
    set_preset release
    while (($# > 0)); do
        case $1 in
            --preset) set_preset "${2-}" && shift ;;
            --without) require_suite "${2-}" && without+=("$2") && shift ;;
            --lint) mode=lint ;;
            -h | --help) usage && exit 0 ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done
    mapfile -t suites < <(suites_without "${without[@]}")
    [[ ${#suites[@]} -gt 0 ]] || die "$kUsage" "every suite is left out; drop one --without"

    scripts/install_deps.sh --with-tests
    use_mpi
    require_writable "$build"
    if [[ $mode == lint ]]; then
        lint
    else
        configure_and_build "$preset"
        mapfile -t suites < <(without_what_is_not_built "$build" "${suites[@]}")
        run_suites "$build" "${suites[@]}"
    fi
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
main "$@"
