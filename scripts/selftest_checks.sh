# shellcheck shell=bash
# The checks of selftest.sh: `source` this after hosts.sh. Each runs in a shell of its own, makes its hosts, and leaves the
# line's columns in $line and its outcome in $outcome, by judge.
# shellcheck disable=SC2034,SC2154  # variables of hosts.sh and selftest.sh

# Far below what two processors move: the links take the time, and not this machine.
readonly kSlowPairKbit=25000 kWireKbit=50000
readonly kDelay_ms=100
readonly kClockPpm=20000 kClockAhead_s=36000
readonly kOperation_ms=500
readonly kLargeQueue=8m # bytes, more than a socket's buffers: nothing is lost, so nothing is sent twice

# payload_share: of the bytes that a shaping queue counts, those of messages. It counts frames without Ethernet's check sum,
# and segments that leave as one by their number.
payload_share() {
    local mtu timestamps
    mtu=$(ip -n "${hosts[0]}" -o link show dev e0 | sed -n 's/.* mtu \([0-9]*\) .*/\1/p')
    timestamps=$(ip netns exec "${hosts[0]}" cat /proc/sys/net/ipv4/tcp_timestamps)
    awk -v mtu="$mtu" -v options="$((timestamps ? 12 : 0))" 'BEGIN { printf "%.6f", (mtu - 40 - options) / (mtu + 14) }'
}

# payload_mbit KBIT: what is left for messages.
payload_mbit() { awk -v kbit="$1" -v share="$(payload_share)" 'BEGIN { printf "%.4f", kbit / 1000 * share }'; }

# wire_ms BYTES KBIT: how long so many bytes of messages take.
wire_ms() { awk -v bytes="$1" -v mbit="$(payload_mbit "$2")" 'BEGIN { printf "%.4f", bytes * 8 / mbit / 1000 }'; }

# make_shaped_hosts N KBIT: each receives at that rate.
make_shaped_hosts() {
    local host
    make_hosts "$1"
    for host in "${hosts[@]}"; do
        shape_host "$host" "${2}kbit"
    done
}

# check_bandwidth PROGRAM KBIT: windows are so long that the answer to each hardly counts.
check_bandwidth() {
    shape_queue=(burst 16k limit "$kLargeQueue")
    make_shaped_hosts 2 "$2"
    job "$programs/$1" -b 1M -e 1M --window $((4 * $2 / 50000)) -n 5 -w 1 || return 0
    judge rate "$(payload_mbit "$2")" "$kRatePercent"
}

# check_all_gather KBIT: the first of four hosts receives at that rate all that it receives, so its link takes the time. With
# all links shaped, exchanges both ways at once would wait for each other.
check_all_gather() {
    shape_queue=(burst 16k limit "$kLargeQueue")
    make_hosts 4
    shape_host "${hosts[0]}" "${1}kbit"
    job "$programs/all_gather_perf" -b $((8 * $1 / 50000))M -e $((8 * $1 / 50000))M -n 3 -w 1 --placement out || return 0
    judge rate "$(payload_mbit "$1")" "$kRatePercent"
}

# Every two of four hosts; from the first to the second at half of the rate.
check_pairs() {
    local number
    shape_queue=(burst 16k limit "$kLargeQueue")
    make_hosts 4
    shape_way 1 2 "${kSlowPairKbit}kbit" "${kWireKbit}kbit"
    for number in 1 2 3; do
        shape_sending "${hosts[number]}" "${kWireKbit}kbit"
    done
    job "$programs/pairwise_bw" -b 1M --window 4 --time-budget 2 --seed 1 || return 0
    judge pairs "1:2:$(payload_mbit "$kSlowPairKbit"):$(payload_mbit "$kWireKbit")" "$kRatePercent"
}

# check_wire PROGRAM: half a round trip of 1 MiB is the time that it takes on the wire. What passes at once is one frame.
check_wire() {
    shape_queue=(burst 1600 limit "$kLargeQueue")
    make_shaped_hosts 2 "$kWireKbit"
    job "$programs/$1" -b 1M -e 1M -n 7 -w 1 || return 0
    judge time "$(wire_ms $((1 << 20)) "$kWireKbit")" "$kTimePercent"
}

# check_delay PROGRAM [OPTION...]: small messages over a link whose frames wait; the launcher has another one. If frames waited
# for longer than they should, this machine was too busy.
check_delay() {
    make_hosts 2 2
    delay_host "${hosts[0]}" "$kDelay_ms" e1
    run_networks=$kSubnet.1.0/24 job "$programs/$1" -b 8 -e 8 -n 15 -w 2 "${@:2}" || return 0
    end_delay
    if awk -v held="$held_ms" -v wanted="$kDelay_ms" 'BEGIN { exit !(held + 0 < wanted || held > 1.02 * wanted) }'; then
        cannot "frames waited for $held_ms ms instead of $kDelay_ms: this machine is too busy" again
        return
    fi
    judge time "$kDelay_ms" "$kTimePercent"
}

# The third of four hosts receives 5 % less than the others. Deficits from 3 % on count.
check_slow_link() {
    shape_queue=(burst 16k limit "$kLargeQueue")
    make_shaped_hosts 4 "$kWireKbit"
    shape_host "${hosts[2]}" "$((kWireKbit * 95 / 100))kbit"
    job "$programs/pairwise_bw" -b 256K --window 4 --time-budget 0.5 --find --rounds 12 --tolerance 3% --seed 1 || return 0
    judge slow_link 3 0
}

# write_wrapper HOST VARIABLES OTHERS: a program that starts its arguments with planted faults, with the first variables on
# that host and the second on all others; where these are empty, there without faults.
write_wrapper() {
    cat >"$hosts_directory/rank" <<EOT
#!/bin/sh
case \$(hostname) in
    $1) planted='$2' ;;
    *) planted='$3' ;;
esac
[ -z "\$planted" ] || exec env LD_PRELOAD='$faults' \$planted "\$@"
exec "\$@"
EOT
    chmod +x "$hosts_directory/rank"
}

# All ranks take far longer than the operation itself, and the third 5 % longer still.
check_slow_rank() {
    local slow=$((kOperation_ms * 105 / 100))
    require_faults || return 0
    make_hosts 4
    write_wrapper "${hosts[2]}" "PLANTED_OPERATION_MS=$slow" "PLANTED_OPERATION_MS=$kOperation_ms"
    job "$hosts_directory/rank" "$programs/all_gather_perf" -b 64 -e 64 -n 8 -w 1 --placement out --timing isolated ||
        return 0
    judge slow_rank "2:$slow" "$kTimePercent"
}

# The second host's clock is hours ahead and drifts, and what it receives takes a known time, 88 ms. An epoch takes more than a
# second; a drift of 2 % that nobody corrects would add an eighth to the times. Several rows, since the suite allows ranks more
# time to be at the start, row by row, where they were late.
check_clock() {
    local bytes=$((1 << 20))
    require_faults || return 0
    shape_queue=(burst 1600 limit "$kLargeQueue")
    make_hosts 2
    put_clock_ahead "${hosts[1]}" "$kClockAhead_s"
    shape_host "${hosts[1]}" "${kWireKbit}kbit"
    write_wrapper "${hosts[1]}" "PLANTED_CLOCK_PPM=$kClockPpm" ""
    job "$hosts_directory/rank" "$programs/all_gather_perf" -b "$bytes" -e "$bytes" -n 12 -N 8 -w 1 --placement out \
        --timing isolated || return 0
    judge clock "$(wire_ms $((bytes / 2)) "$kWireKbit")" "$kTimePercent"
}
