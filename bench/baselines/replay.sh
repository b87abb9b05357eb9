#!/usr/bin/env bash
# Verdicts beside a baseline on real links: runs that are as fast as it, and runs over a link that is 5 % slower.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/hosts.sh
source "$root/scripts/hosts.sh"

usage() {
    cat <<'EOF'
usage: bench/baselines/replay.sh PROGRAMS [PAIRS [LAUNCHES]]

Makes two hosts of network namespaces with a link of 50 Mbit/s, records LAUNCHES launches of all_reduce_perf (default: 20), and
then judges PAIRS pairs (default: 50) of an equal run and one over a link of 47.5 Mbit/s. A run is three launches, held against
the baseline by fabricbench compare. The link is slow, so that what else this machine does matters little. PROGRAMS is the
folder of the programs. Needs root, and 5 minutes for every 100 launches.

Prints how many rows and runs were called slower though nothing was, and how many of the slow rows were found of those that
could have shown 5 %. Exit status: 0, 6 where a share misses its promise (2 % of rows, 5 % of runs, 95 %,
90 % of launches inside the interval), 77 without the means to make hosts.
EOF
}

readonly kUsual=50mbit
readonly kSlower=47500kbit

# launch OPTION...: one launch on all hosts
launch() {
    (run_on_hosts 1 "$programs/all_reduce_perf" -b 512K -e 1M -f 2 --placement out -n 6 -w 1 "$@" >"$work/out" 2>&1) ||
        { cat "$work/out" >&2 && exit 1; }
}

# judge RATE NAME: three launches over a link of that rate. The verdict is 0, 6 or 7, which is what is counted.
judge() {
    local number status=0 files=()
    shape_host "${hosts[0]}" "$1"
    for number in 1 2 3; do
        files+=("$work/$2.$number.jsonl")
        launch --json "${files[-1]}"
    done
    "$programs/fabricbench" compare "$work/baseline.jsonl" "${files[@]}" --json "$work/$2.jsonl" >"$work/out" 2>&1 || status=$?
    case $status in
        0 | 6 | 7) ;;
        *) cat "$work/out" >&2 && exit 1 ;;
    esac
}

count() {
    python3 - "$work" "$pairs" <<'EOF'
import json, sys
from math import comb

work, pairs = sys.argv[1], int(sys.argv[2])


def lines_of(name, kind):
    with open(f"{work}/{name}.jsonl", encoding="utf-8") as lines:
        return [line for line in map(json.loads, lines) if line["kind"] == kind]


def rows_of(kind, number):
    return lines_of(f"{kind}{number}", "row_comparison")


def times_of(number, size):
    """Of the three launches of an equal run."""
    return [row["out_of_place"]["time_us_median"] for launch in (1, 2, 3)
            for row in lines_of(f"equal{number}.{launch}", "row") if row["size_bytes"] == size]


def beyond(misses, trials, share):
    """The probability of so many misses or more, if each has that share."""
    return sum(comb(trials, k) * share**k * (1 - share)**(trials - k) for k in range(misses, trials + 1))


equal = [rows_of("equal", number) for number in range(pairs)]
slower = [row for number in range(pairs) for row in rows_of("slower", number)]
flat = [row for rows in equal for row in rows]
able = [row for row in slower if row["least_slowdown_percent"] is not None and row["least_slowdown_percent"] <= 5]
false_rows = sum(row["verdict"] == "slower" for row in flat)
false_runs = sum(any(row["verdict"] == "slower" for row in rows) for rows in equal)
missed = sum(row["verdict"] != "slower" for row in able)
inside = [row["usual_us_low"] <= time <= row["usual_us_high"] for number, rows in enumerate(equal) for row in rows
          for time in times_of(number, row["size_bytes"])]
ratios = sorted(row["ratio"] for row in slower)
print(f"equal runs: {false_rows} of {len(flat)} rows and {false_runs} of {pairs} runs called slower; "
      f"{sum(inside)} of {len(inside)} times of single launches inside the baseline's interval")
print(f"runs over the slower link: rows take {ratios[len(ratios) // 2]:.3f} times as long; {len(able)} of {len(slower)} rows "
      f"could show 5 %, and {len(able) - missed} of these were found")
chance = 0.01  # a promise is missed where so many misses have less than this probability
missed_promise = (beyond(false_rows, len(flat), 0.02) < chance or beyond(false_runs, pairs, 0.05) < chance or
                  beyond(missed, len(able), 0.05) < chance or beyond(inside.count(False), len(inside), 0.1) < chance or
                  not able)
sys.exit(6 if missed_promise else 0)
EOF
}

case ${1:-} in
    '' | -h | --help) usage && exit $((${#1} == 0 ? 2 : 0)) ;;
esac
programs=$1 pairs=${2:-50} launches=${3:-20}
work=$(mktemp -d)
trap 'remove_hosts; rm -rf "$work"' EXIT
make_hosts 2
shape_host "${hosts[0]}" "$kUsual"
for ((number = 0; number < launches; ++number)); do launch --record "$work/baseline.jsonl"; done
for ((number = 0; number < pairs; ++number)); do
    judge "$kUsual" "equal$number"
    judge "$kSlower" "slower$number"
done
count
