# Completion for fish: complete.awk answers from the table of options.
set -g __fabricbench_folder (dirname (realpath (status filename)))/../../fabricbench/completion

function __fabricbench_offers
    set -l token (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $token)
    set -l offers (awk -f $__fabricbench_folder/complete.awk $__fabricbench_folder/options.tsv (commandline -opc) "$token")
    switch "$offers[1]"
        case '<files>'
            set offers (__fish_complete_path (string replace -- "$before" '' $token))
        case '<folders>'
            set offers (__fish_complete_directories (string replace -- "$before" '' $token))
    end
    printf '%s\n' "$before"$offers
end

