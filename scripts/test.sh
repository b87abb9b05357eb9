#!/usr/bin/env bash
# Set-up and the tests, as in continuous integration.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Each suite is a ctest label. A suite without a test is a failure.
readonly kSuites=(unit mpi cli nccl cluster rdma faults packaging)
# Suites under the sanitizers by default. Hosts and guests share the processors, which sanitizers slow down too much.
readonly kSanitizedSuites=(unit mpi cli nccl)
# And under the thread sanitizer, which slows programs down tenfold: MPI jobs would end at their time limits.
readonly kThreadSuites=(unit mpi)
# The label of tests that run only with --all.
readonly kExtended=extended
# The label of tests that --all leaves out, because tests with the label above contain them.
readonly kExcerpt=excerpt
# With --all, for each reader of what comes from outside.
readonly kFuzzTime=20s
# The time limit of a test without a shorter one of its own.
readonly kTestTimeout_s=300
# Most tests start MPI jobs, which wait half of the time, and count as two.
readonly kTestsPerProcessor=3
# The commits that --lint checks if everything is on the server already.
readonly kCommitsOfAWork=50

usage() {
    cat <<EOT
usage: scripts/test.sh [--all] [--preset release|debug|threads]
                       [--only SUITE]... [--without SUITE]...
       scripts/test.sh [--all] [--preset release|debug|threads]
                       TEST_OR_FOLDER...
       scripts/test.sh --lint|--analyze

Installs missing packages (scripts/install_deps.sh --with-tests, and
--with-launchers for --all), builds, and runs the tests; see docs/testing.md.
Suites: ${kSuites[*]}.
Tests that need root are skipped without it, with the reason.

  TEST_OR_FOLDER     build and run only these tests: a folder of src/ or tests/,
                     a file in it, or the beginning of a test's name, such as
                     src/common/core, tests/cli/golden_test.py or cli.golden
  --all              add the long tests; without TEST_OR_FOLDER and --preset
                     also the programs under the sanitizers, and clang-tidy over
                     all files
  --preset release   optimised build in build/ (default)
  --preset debug     address and undefined-behaviour sanitizers, in build-debug/
  --preset threads   thread sanitizer, in build-threads/
  --only SUITE       run only this suite; may be repeated
  --without SUITE    leave this suite out; may be repeated
  --lint             run clang-format, shellcheck, ruff where it is installed
                     and, over changed files, clang-tidy instead of the tests
  --analyze          run clang's static analyzer instead of the tests; takes a
                     quarter of an hour
  --help             print this text

Exit status: 0 all passed, 1 a test or a check failed, 2 usage, 3 something
needed is missing.
EOT
}

# Passes ctest's output on, except for its closing lines, which go to FILE.
hold_closing_lines() {
    sed -u -e '/^[0-9]\{1,3\}% tests passed/,$ {' -e "w $1" -e 'd' -e '}'
}

# The rest of ctest's closing lines, then its count as the very last one.
print_closing_lines() {
    tail -n +2 "$1"
    echo
    head -n 1 "$1"
}

# A regular expression for the labels given.
one_of() { (IFS='|' && echo "^($*)\$"); }

# choose OPTION REGEX: sets choice to ctest's options for these tests, without the excluded labels.
choose() {
    choice=("$1" "$2")
    if [[ ${#left_out[@]} -gt 0 ]]; then
        choice+=(--label-exclude "$(one_of "${left_out[@]}")")
    fi
}

run_ctest() {
    ctest --test-dir "$1" "${choice[@]}" --no-tests=error --output-on-failure --no-label-summary \
        --timeout "$kTestTimeout_s" -j "$((kTestsPerProcessor * $(nproc)))" \
        --test-output-size-passed 65536 --output-junit "$1/Testing/junit.xml" </dev/null
}

# run_suites BUILD_DIRECTORY [SUITE...]: runs the choice, and requires tests of each suite. Sets outcome on failure, and
# returns in any case.
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
    if [[ $status -ne 0 ]]; then
        warn "a test failed, or a suite ran none; see above"
        outcome=$status
    fi
}

# Prints the lines of BUILD/tests.txt that WORD names: prefix of the tests' names, folder of their files, targets.
lines_for() {
    awk -v word="$2" '
        function begins(text, with) { return substr(text, 1, length(with)) == with }
        begins($2 "/", word "/") || begins($2 "/", "tests/" word "/") || begins(word, $2 "/") ||
                begins(word, $1 ".") || begins($1, word) {
            print
        }
    ' "$1/tests.txt"
}

# Sets pattern, a regular expression of tests' names, and targets for the words in named.
find_named() {
    local given word lines prefix targets_of whole=() beginnings=()
    targets=()
    for given in "${named[@]}"; do
        word=${given#"$PWD"/}
        word=${word%/}
        lines=$(lines_for "$build" "$word")
        [[ -n $word && -n $lines ]] ||
            die "$kUsage" "'$given' is not a test, nor a folder or file with tests; see the first two columns of" \
                "$PWD/$build/tests.txt"
        while read -r prefix _ targets_of; do
            read -ra targets_of <<<"$targets_of"
            targets+=("${targets_of[@]}")
            # A longer word than the prefix is the beginning of one test's name.
            [[ $word == "$prefix".* ]] && beginnings+=("$word") || whole+=("$prefix")
        done <<<"$lines"
    done
    mapfile -t targets < <(printf '%s\n' "${targets[@]}" | sort -u)
    pattern="^($(any_of "${whole[@]}"))(\\.|\$)|^($(any_of "${beginnings[@]}"))"
}

# any_of TEXT...: a regular expression for any of the texts; without texts it matches nothing.
any_of() {
    if [[ $# -eq 0 ]]; then
        echo "no such test"
    else
        printf '%s\n' "$@" | sort -u | sed 's/[^[:alnum:]_/-]/\\&/g' | paste -s -d '|'
    fi
}

# Our own C++ files, for clang-format.
cpp_files() {
    local directory
    for directory in src tests bench; do
        [[ ! -d $directory ]] ||
            find "$directory" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.cu' \) -print0
    done
}

# The files of src/ that build/ compiles, and those of the unity build, each of which includes a dozen.
compiled_files() {
    sed -n -e "s|^ *\"file\": \"\($PWD/src/.*\.cpp\)\",\{0,1\}\$|\1|p" \
        -e "s|^ *\"file\": \"\($PWD/build/src/.*\.cxx\)\",\{0,1\}\$|\1|p" build/compile_commands.json | sort -u
}

# Our files that differ from the server's, or else from some commits ago.
changed_files() {
    local base
    base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || true)
    if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
        base=$(git rev-list --max-count="$kCommitsOfAWork" HEAD | tail -n 1)
    fi
    git diff --name-only --diff-filter=d "$base" -- src
    git ls-files --others --exclude-standard -- src
}

# The .cpp files of src/ to check for changed files; a header is checked with the file of its name, or one that includes
# it.
sources_of_change() {
    local file
    while read -r file; do
        case $file in
            *.cpp) echo "$file" ;;
            *.h) if [[ -e ${file%.h}.cpp ]]; then
                echo "${file%.h}.cpp"
            else
                grep -rl --include='*.cpp' "\"${file#src/}\"" src | head -n 1 || true
            fi ;;
        esac
    done < <(changed_files) | sort -u | sed "s|^|$PWD/|"
}

shell_files() {
    find . -type d \( -name .git -o -path './build*' \) -prune -o -type f \( -name '*.sh' -o -name '*.bash' -o -path ./.ci/run \) -print0
}

lint_format() {
    cpp_files | xargs -0 -r clang-format --dry-run --Werror ||
        die "$kFailed" "clang-format would change the files above; run 'make format' with $(clang-format --version)"
}

# run_clang_tidy BUILD_DIRECTORY [OPTION...]: over the files on standard input.
run_clang_tidy() {
    local build=$1
    shift
    # GCC's own warning options are unknown to clang.
    tr '\n' '\0' | xargs -0 -r -n 1 -P "$(nproc)" \
        clang-tidy -p "$build" --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option "$@" ||
        die "$kFailed" "clang-tidy objects to the places above; correct them, or say NOLINT with the reason"
}

lint_tidy_changes() {
    git rev-parse --git-dir >/dev/null || die "$kMissing" "git finds the changes, and this is not a clone; use --all"
    cmake --preset ci -B build-tidy -DCMAKE_UNITY_BUILD=OFF >/dev/null
    # Files that are not built here, such as another processor's, have no command.
    comm -12 <(sources_of_change) <(sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' build-tidy/compile_commands.json | sort -u) |
        run_clang_tidy build-tidy --checks='-clang-analyzer-*'
}

# A unity build includes a dozen of our files in one, so that it reads headers only once for them.
lint_tidy_all() {
    cmake --preset ci
    [[ -n $(compiled_files) ]] || die "$kFailed" "build/compile_commands.json names no file under src/; check CMakeLists.txt"
    compiled_files | run_clang_tidy build --checks='-bugprone-suspicious-include,-clang-analyzer-*'
}

# clang's analyzer checks only the given file, not its includes.
analyze() {
    cmake --preset ci -DCMAKE_UNITY_BUILD=OFF
    compiled_files | run_clang_tidy build --checks='-*,clang-analyzer-*,-clang-analyzer-optin.mpi*,-clang-analyzer-optin.performance.Padding'
    say "the analyzer found nothing"
}

lint_shell() {
    shell_files | xargs -0 shellcheck --external-sources ||
        die "$kFailed" "shellcheck objects to the places above"
}

# Distributions do not have ruff; whoever has it checks the Python too.
lint_python() {
    if ! command -v ruff >/dev/null; then
        warn "there is no ruff ('pip install ruff'), so the Python is not checked"
        return
    fi
    ruff check --quiet || die "$kFailed" "ruff objects to the places above"
}

lint() {
    say "shellcheck"
    lint_shell
    say "ruff"
    lint_python
    say "clang-format"
    lint_format
    say "clang-tidy, over changed files"
    lint_tidy_changes
    say "lint found nothing"
}

# Some suites need optional parts, such as CUDA's headers. A build without a suite gives the reason in a file.
without_what_is_not_built() {
    local build=$PWD/$1 why suite
    shift
    for suite in "$@"; do
        why=$build/why_no_$suite.txt
        if [[ -s $why ]]; then
            warn "the suite $suite is left out: $(<"$why")"
        else
            echo "$suite"
        fi
    done
}

# Prints the suites that only and without leave.
chosen_suites() {
    local suite
    for suite in "${suites_of_preset[@]}"; do
        [[ ${#only[@]} -eq 0 || " ${only[*]} " == *" $suite "* ]] || continue
        [[ " ${without[*]} " == *" $suite "* ]] || echo "$suite"
    done
}

require_suite() {
    [[ " ${kSuites[*]} " == *" ${1-} "* && -n ${1-} ]] ||
        die "$kUsage" "'${1-}' is not a suite; write one of: ${kSuites[*]}"
}

set_preset() {
    case ${1-} in
        # Both write to build/; ci is release with the tests.
        release) preset=ci build=build suites_of_preset=("${kSuites[@]}") ;;
        debug) preset=debug build=build-debug suites_of_preset=("${kSanitizedSuites[@]}") ;;
        threads) preset=threads build=build-threads suites_of_preset=("${kThreadSuites[@]}") ;;
        *) die "$kUsage" "'${1-}' is not a preset that runs tests; write release, debug or threads" ;;
    esac
}

# Builds and runs the tests named by the words in named.
test_named() {
    local pattern targets choice
    cmake --preset "$preset" >/dev/null
    find_named
    cmake --build --preset "$preset" --target "${targets[@]}"
    # Only now: the tests in a GoogleTest program are known when it is built.
    choose --tests-regex "$pattern"
    ctest --test-dir "$PWD/$build" "${choice[@]}" --show-only | grep -q '^Total Tests: [1-9]' ||
        die "$kUsage" "'${named[*]}' names no default test; add --all for long ones"
    run_suites "$build"
}

# Builds everything, and runs the chosen suites.
test_suites() {
    local suites choice
    mapfile -t suites < <(chosen_suites)
    [[ ${#suites[@]} -gt 0 ]] ||
        die "$kUsage" "no suite is left; this preset has ${suites_of_preset[*]}: change --only, --without or --preset"
    configure_and_build "$preset"
    mapfile -t suites < <(without_what_is_not_built "$build" "${suites[@]}")
    [[ ${#suites[@]} -gt 0 ]] || return 0  # the reasons were printed
    choose --label-regex "$(one_of "${suites[@]}")"
    run_suites "$build" "${suites[@]}"
}

test_all() {
    test_suites
    say "these ran in addition to the default:"
    ctest --test-dir "$PWD/$build" --show-only --label-regex "^$kExtended\$" | sed -n 's/^ *Test *#[0-9]*: /    /p'
    if [[ ${#only[@]} -eq 0 ]]; then
        say "random input for $kFuzzTime"
        scripts/fuzz.sh --time "$kFuzzTime" || outcome=$?
    fi
    set_preset debug
    if [[ -n $(chosen_suites) ]]; then
        say "and now everything under the sanitizers"
        test_suites
    fi
    set_preset threads
    if [[ -n $(chosen_suites) ]]; then
        say "and what has threads under the thread sanitizer"
        test_suites
    fi
    if [[ ${#only[@]} -eq 0 ]]; then
        say "and clang-tidy over all files"
        lint_tidy_all
    fi
}

# Sets mode from the options.
choose_mode() {
    if [[ ${#named[@]} -gt 0 ]]; then
        [[ $mode == test_suites && ${#only[@]} -eq 0 && ${#without[@]} -eq 0 ]] ||
            die "$kUsage" "'${named[*]}' names tests, which allows only --all and --preset; drop the other options"
        mode=test_named
    elif [[ $all == yes && $mode == test_suites && $preset == ci ]]; then
        mode=test_all
    fi
}

install_packages() {
    local options=(--with-tests)
    # Only suites with hosts use them.
    if [[ $all == yes && $mode == test_all ]]; then options+=(--with-launchers); fi
    scripts/install_deps.sh "${options[@]}"
}

main() {
    local outcome=0 mode=test_suites all=no only=() without=() left_out=("$kExtended") named=() preset build suites_of_preset
    set_preset release
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --all) all=yes left_out=("$kExcerpt") ;;
            --preset) set_preset "${2-}" && shift ;;
            --only) require_suite "${2-}" && only+=("$2") && shift ;;
            --without) require_suite "${2-}" && without+=("$2") && shift ;;
            --lint) mode=lint ;;
            --analyze) mode=analyze ;;
            -h | --help) usage; exit 0 ;;
            -*) unknown_option "$1" ;;
            *) named+=("$1") ;;
        esac
        shift
    done
    choose_mode

    install_packages
    use_mpi
    require_writable "$build"
    "$mode"
    return "$outcome"
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
main "$@"
