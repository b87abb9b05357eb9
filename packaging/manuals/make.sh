#!/usr/bin/env bash
# Writes the man page of every program and command, and completion for bash, zsh and fish, from what the programs say of
# themselves. Part of the build (cmake/installation.cmake).
set -euo pipefail

if [[ $# -lt 5 ]]; then
    echo "usage: make.sh FOLDER VERSION PREFIX HELP2MAN PROGRAM... -- TOOL...  (tools need no MPI job; HELP2MAN '': no pages)" >&2
    exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 version=$2 prefix=$3 help2man=$4
shift 4
mkdir -p "$folder"/{programs,said,man,bash,zsh,fish,completion}
cd "$folder"
readonly front=programs/fabricbench table=completion/options.tsv
printf 'prefix\t%s\n' "${prefix//-/_}" >$table
known=" fabricbench " pages="" commands=(fabricbench)

# add_to_table KIND NAME PURPOSE: with the options in said/options
add_to_table() {
    awk -v kind="$1" -v name="${2%_perf}" -v purpose="$3" -f "$here/options.awk" $table said/options >said/lines
    cat said/lines >>$table
}

# make_page NAME SUMMARY INCLUDE COMMAND: from the help in said/help
make_page() {
    [[ -n $help2man ]] || return 0
    awk -v command="$4" -f "$here/page.awk" said/help >said/page
    # It runs `cat said/page`.
    "$help2man" --no-info --help-option=said/page --version-string="$1 (fabricbench) $version" --name="${2%.}" \
        --manual=fabricbench --include="$3" --output="man/$1.1" cat
    [[ $1 == fabricbench ]] || pages+="${pages:+,$'\n'}.BR $1 (1)"
}

add_program() {
    local kind=$1 program=$2 name=${2##*/} command=$prefix${2##*/} about
    if [[ $name == fabricbench ]]; then
        ln -sf "$program" $front
        return
    fi
    ln -sf "$program" "programs/$command"
    "programs/$command" --describe-options >said/options
    "programs/$command" --help >said/help
    about=$(awk -F '\t' '$1 == "about" { print $2; exit }' said/options)
    add_to_table "$kind" "$name" "$about"
    make_page "$command" "$about" "$here/$kind.h2m" "$command"
    known+="$name " commands+=("$command")
    [[ $command == "$name" ]] || commands+=("$name")
}

# Lines KIND NAME PURPOSE. The first has options to which others point.
named_by_front() {
    {
        $front list | grep '^  check_node_pair ' | sed 's/^/tool/'
        $front --help | sed 's/^/command/'
        $front list | sed 's/^/tool/'
    } | awk -v known="$known" '/^(tool|command)  [a-z]/ && index(known, " " $2 " ") == 0 && !seen[$2]++'
}

add_command() {
    local kind=$1 name=$2 purpose=$3 status=0
    "$front" "$name" --help >said/help 2>said/errors || status=$?
    # Of what this build leaves out, nothing is offered; of Python without its modules, the name.
    [[ $status -ne 3 || $kind == command ]] || return 0
    if [[ $status -ne 0 && $status -ne 3 ]]; then
        cat said/errors >&2
        exit 1
    fi
    "$front" "$name" --describe-options >said/options 2>/dev/null || cp said/help said/options
    add_to_table "$kind" "$name" "$purpose"
    # The list is part of fabricbench's page.
    [[ $status -ne 0 || $name == list ]] || make_page "fabricbench-$name" "$purpose" "$here/tool.h2m" "fabricbench $name"
}

kind=program
for program in "$@"; do
    if [[ $program == -- ]]; then kind=tool; else add_program $kind "$program"; fi
done
named=$(named_by_front)
while read -r kind name purpose; do
    add_command "$kind" "$name" "$purpose" </dev/null
done <<<"$named"
# With two spaces behind each name, as help2man takes it.
{ $front --help && echo && $front list | sed -E 's/^(  \w+) /\1  /'; } >said/help
{ sed '/^\[SEE ALSO\]/q' "$here/program.h2m" && echo "$pages"; } >said/front.h2m
make_page fabricbench "$(head -n 1 said/help)" said/front.h2m fabricbench

cp "$here/complete.awk" completion
{ cat "$here/complete.bash" && echo "complete -o filenames -F _fabricbench ${commands[*]}"; } >bash/fabricbench
{ echo "#compdef ${commands[*]}" && cat "$here/complete.zsh"; } >zsh/_fabricbench
{
    cat "$here/complete.fish"
    printf "complete -c %s -k -f -a '(__fabricbench_offers)'\n" "${commands[@]}"
} >fish/fabricbench.fish
# bash and fish look for a file of the command's name.
for command in programs/*; do
    [[ $command == "$front" ]] || ln -sf fabricbench "bash/${command##*/}"
    [[ $command == "$front" ]] || ln -sf fabricbench.fish "fish/${command##*/}.fish"
done
