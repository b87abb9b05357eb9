# Completion for bash: complete.awk answers from the table of options.
_fabricbench_folder=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../fabricbench/completion" && pwd)

_fabricbench() {
    local word=${COMP_WORDS[COMP_CWORD]}
    mapfile -t COMPREPLY < <(awk -f "$_fabricbench_folder/complete.awk" "$_fabricbench_folder/options.tsv" \
        "${COMP_WORDS[@]:0:COMP_CWORD+1}" | cut -f 1)
    case ${COMPREPLY[0]-} in
        '<files>') mapfile -t COMPREPLY < <(compgen -f -- "${word#=}") ;;
        '<folders>') mapfile -t COMPREPLY < <(compgen -d -- "${word#=}") ;;
    esac
}

