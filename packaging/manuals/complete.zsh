# Completion for zsh: complete.awk answers from the table of options.
local folder=${${(%):-%x}:A:h:h:h}/fabricbench/completion
local -a offers
offers=("${(@f)$(awk -f $folder/complete.awk $folder/options.tsv "${(@)words[1,CURRENT-1]}" "$PREFIX")}")
if [[ $PREFIX == --*=* ]]; then
    compset -P '*='
fi
case $offers[1] in
    '<files>') _files ;;
    '<folders>') _files -/ ;;
    ?*)
        offers=("${(@)offers//:/\\:}")
        offers=("${(@)offers/$'\t'/:}")
        _describe fabricbench offers ;;
esac
