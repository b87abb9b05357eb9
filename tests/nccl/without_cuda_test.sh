#!/usr/bin/env bash
# Without CUDA at build time everything else still builds, and asking for NCCL says what to install.
# usage: without_cuda_test.sh SOURCE_FOLDER COMPILER_LAUNCHER
set -euo pipefail

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

fail() {
    echo "without_cuda_test: $*" >&2
    exit 1
}

cmake -S "$1" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DFABRICBENCH_CUDA=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$2" >"$build/configure.log" || fail "does not configure: $(cat "$build/configure.log")"
grep -q 'Without CUDA: FABRICBENCH_CUDA is OFF' "$build/configure.log" || fail "the configuration does not say why"
cmake --build "$build" --parallel 2 --target all_reduce_perf >"$build/build.log" || fail "does not build: $(tail "$build/build.log")"

"$build/all_reduce_perf" -b 8 -e 8 -n 1 </dev/null >"$build/table" || fail "does not run: $(cat "$build/table")"
grep -q '^# Backend: mpi, because' "$build/table" || fail "does not measure MPI: $(cat "$build/table")"
status=0
"$build/all_reduce_perf" --backend nccl </dev/null 2>"$build/stderr" || status=$?
[[ $status -eq 3 ]] || fail "--backend nccl ends with $status instead of 3"
grep -q 'built without CUDA and NCCL; install the CUDA toolkit' "$build/stderr" || fail "says only: $(cat "$build/stderr")"
