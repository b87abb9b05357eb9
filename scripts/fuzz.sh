#!/usr/bin/env bash
# Gives the readers of everything that comes from outside random input (tests/fuzz), each for the same time.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly kBuild=build-fuzz
readonly kReaders=tests/fuzz/readers.h
readonly kCorpora=tests/fuzz/corpus
# An input that takes longer is a finding.
readonly kSlow_s=10
readonly kLongest_bytes=65536

usage() {
    cat <<EOT
usage: scripts/fuzz.sh [--time TIME] [--keep] [READER]...

Builds the fuzzer with clang in $kBuild/, and gives each reader random input,
which grows from the files in $kCorpora/READER. A crash, a finding of a
sanitizer, an input that takes $kSlow_s s, and an exception that is no error
message are findings; the input is then kept as $kBuild/READER-*. Inputs that
reached something new are kept in $kBuild/corpus/READER, where the next
run goes on.

  READER       $(in_columns 15 "one of $(readers | xargs); default: all")
  --time TIME  for each reader, such as 20s or 10m (default)
  --keep       at the end, copy to $kCorpora what reaches something that
               no file there does
  --help       print this text

Exit status: 0 nothing was found, 1 something was, 2 usage, 3 clang or its
libFuzzer is missing.
EOT
}

readers() { sed -n 's/^ *{"\([a-z]*\)", read_.*/\1/p' "$kReaders"; }

build() {
    has_fuzzer clang++ ||
        die "$kMissing" "there is no clang++ with libFuzzer; run scripts/install_deps.sh --with-tests"
    use_mpi
    cmake --preset fuzz >/dev/null
    cmake --build --preset fuzz
}

# run_fuzzer READER OPTION_OR_CORPUS...
run_fuzzer() {
    "$kBuild/tests/fuzz/fuzz" --reader="$1" -timeout="$kSlow_s" -max_len="$kLongest_bytes" \
        -artifact_prefix="$kBuild/$1-" -verbosity=0 -print_funcs=0 "${@:2}"
}

# fuzz READER SECONDS: fails if the fuzzer has found something. What it then has of new input is kept all the same.
fuzz() {
    local grown=$kBuild/corpus/$1 status=0
    mkdir -p "$grown"
    say "$1"
    run_fuzzer "$1" -max_total_time="$2" -print_final_stats=1 "$grown" "$kCorpora/$1" || status=$?
    [[ $keep == no ]] || run_fuzzer "$1" -merge=1 "$kCorpora/$1" "$grown"
    return "$status"
}

require_reader() {
    readers | grep -qxF -- "$1" || die "$kUsage" "'$1' is no reader; write one of: $(readers | xargs)"
}

main() {
    local seconds=600 keep=no chosen=() failed=() reader
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --time) seconds=$(seconds_of --time "${2-}") || exit; shift ;;
            --keep) keep=yes ;;
            -h | --help) usage; exit 0 ;;
            -*) unknown_option "$1" ;;
            *) require_reader "$1" && chosen+=("$1") ;;
        esac
        shift
    done
    [[ ${#chosen[@]} -gt 0 ]] || mapfile -t chosen < <(readers)
    build
    for reader in "${chosen[@]}"; do
        fuzz "$reader" "$seconds" || failed+=("$reader")
    done
    [[ ${#failed[@]} -eq 0 ]] || die "$kFailed" "found something in: ${failed[*]}; the inputs are $kBuild/READER-*"
    say "nothing was found in ${#chosen[@]} readers, $seconds s each"
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
main "$@"
