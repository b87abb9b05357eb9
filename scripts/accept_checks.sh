# shellcheck shell=bash
# shellcheck disable=SC2154  # from accept.sh, which sources this, lib.sh and launch.sh
# Finds wrong values of options before anything is measured. The programs that read a value say what is wrong with it.

readonly kHostKeys=(mtu nics state speed driver firmware processor cores memory gpus gpu_driver) # of --allow
readonly kRunKeys=(carried_by groups)
readonly kCheckLimit_s=60 # for a program to read its options

check_values() {
    [[ -z $baseline ]] || check_baseline "$baseline"
    if [[ -n $record && -e $record ]]; then check_baseline "$record"; fi
    check_allowed
    check_sizes
    check_preset
    check_pairs
}

# compare_with_itself FILE [OPTION]...: sets status and said, which is empty unless fabricbench complains.
compare_with_itself() {
    status=0
    timeout "$kCheckLimit_s" "$fabricbench" compare "$1" "$@" </dev/null >/dev/null 2>"$work/said" || status=$?
    said=$(sed -n 's/^fabricbench[a-z ]*: //p' "$work/said" | head -n 1)
}

# A baseline that can be read has nothing to be compared with but itself, which is 7 without a complaint.
check_baseline() {
    local status said
    compare_with_itself "$1"
    [[ -z $said ]] || die "$status" "$said"
    is_one_of "$status" "$kOk" "$kTooSlow" "$kNotJudged" ||
        die "$kFailed" "'$1' could not be read as a baseline: fabricbench ended with status $status"
}

# Keys of baselines, which accept.sh does not know, are those of the launches in the baseline, and variables of this run.
check_allowed() {
    local key keys=() others=() variables=() status said
    mapfile -t variables < <(forwarded_variables)
    IFS=, read -ra keys <<<"$allow"
    for key in "${keys[@]}"; do
        key=${key#"${key%%[! ]*}"}
        is_one_of "$key" '' "${kHostKeys[@]}" "${kRunKeys[@]}" "${variables[@]}" "${variables[@]/#/variable }" ||
            others+=("$key")
    done
    ((${#others[@]} > 0)) || return 0
    [[ -n $baseline ]] || die "$kUsage" "--allow '${others[0]}' is not a key of hosts; use some of" \
        "${kHostKeys[*]} ${kRunKeys[*]}, or keys of a baseline, with --baseline"
    compare_with_itself "$baseline" --allow "$(IFS=, && echo "${others[*]}")"
    [[ -z $said ]] || die "$status" "$said"
}

# ask_collective OPTION...: starts the first collective on this host, as the only process of its MPI. Sets status and said,
# its complaint. This host need not have what the measured hosts have, so a complaint counts only if the same call without
# the value in question has none.
ask_collective() {
    local name variables=()
    while read -r name; do
        variables+=("$name=${!name-}")
    done < <(forwarded_variables)
    status=0
    timeout -k 5 "$kCheckLimit_s" env -i "TMPDIR=$work" "${variables[@]}" "$(find_program "${programs[0]}")" \
        --backend mpi --quiet "$@" </dev/null >/dev/null 2>"$work/said" || status=$?
    said=$(sed -n "s/^${programs[0]}: //p" "$work/said" | head -n 1)
}

check_sizes() {
    local place
    ((sizes_given == 0)) || check_reading -b "${sizes[-b]}" -e "${sizes[-e]}" -f "${sizes[-f]}"
    for ((place = 1; place < ${#sweep_options[@]}; ++place)); do
        [[ ${sweep_options[place - 1]} != --size ]] ||
            check_reading -b "${sweep_options[place]}" -e "${sweep_options[place]}"
    done
}

# check_reading OPTION...: the program reads all options, and ends before it measures, because the file for its records
# exists.
check_reading() {
    local status said complaint output=$work/exists
    touch "$output"
    ask_collective "$@" -d uint8 --json "$output"
    [[ $status -eq $kUsage && -n $said && $said != *"$output"* ]] || return 0
    complaint=$said
    ask_collective -d uint8 --json "$output"
    [[ $said != *"$output"* ]] || die "$kUsage" "$complaint"
}

# A preset is read before the measurement, here of 8 bytes.
check_preset() {
    local status said complaint refused smallest=(-b 8 -e 8 -n 1 -w 0)
    [[ -n $preset ]] || return 0
    ask_collective "${smallest[@]}" --preset "$preset"
    is_one_of "$status" "$kUsage" "$kMissing" "$kNotJudged" && [[ -n $said ]] || return 0
    complaint=$said refused=$status
    ask_collective "${smallest[@]}"
    [[ $status -ne $kOk ]] || die "$refused" "$complaint"
}

# The script that measures pairs checks its options in a dry run too, whichever hosts these are.
check_pairs() {
    local command=() status=0
    printf '%s\n' host1 host2 >"$work/pair_hosts"
    sweep_command "$work/no_records"
    timeout "$kCheckLimit_s" "${command[0]}" --dry-run "${command[@]:1}" </dev/null >/dev/null 2>"$work/said" || status=$?
    ! is_one_of "$status" "$kUsage" "$kMissing" || die "$status" "$(sed -n '$s/^[a-z_]*\.sh: //p' "$work/said")"
}
