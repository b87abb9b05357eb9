# Reads what a program prints for --describe-options or --help, and prints lines for the table of complete.awk:
#   KIND    NAME  files, if it takes some    PURPOSE
#   option  NAME  OPTION                     what it takes  HELP
# awk -v kind=program|tool|command -v name=NAME -v purpose=TEXT -f options.awk TABLE_SO_FAR -

function taken(value, words) {
    if (words != "") return words
    if (value == "") return ""
    if (value ~ /FILE/) return "<files>"
    if (value ~ /^(DIR|FOLDER)$/) return "<folders>"
    return value ~ /\|/ && value !~ /[A-Z\/]/ ? value : "-"
}

function add(names, takes, help, each, count, i) {
    count = split(names, each, /[ ,]+/)
    for (i = 1; i <= count; i++) if (each[i] ~ /^-/) lines = lines "option\t" name "\t" each[i] "\t" takes "\t" help "\n"
}

BEGIN { FS = "\t" }

# Its options are only named in the help of scripts that take them too, in a paragraph "How".
NR == FNR && $1 == "option" && $2 == "check_node_pair" { of_pair[$3] = $4 "\t" $5 }
NR == FNR { next }

$1 == "argument" { files = "files" }
$1 == "option" { add($3, taken($4, $6), $5) }

/^$/ { part = "" }
/^[Uu]sage:/ { part = "usage" }
/^How/ { part = "how" }
# Names and what they take stand before two spaces; of `HOSTS FOLDER`, the first counts.
/^  -/ {
    line = substr($0, 3)
    sub(/  .*/, "", line)
    value = ""
    for (i = split(line, words, /[ ,]+/); i > 0; i--) if (words[i] !~ /^-/) value = words[i]
    add(line, taken(value))
}
part == "usage" {
    gsub(/\[-[^]]*\]/, "")
    if (/FILE|file|\.jsonl/) files = "files"
}
part == "how" {
    for (i = split($0, words, /[ ,;:.)]+/); i > 0; i--)
        if (words[i] in of_pair) lines = lines "option\t" name "\t" words[i] "\t" of_pair[words[i]] "\n"
}

END { printf "%s\t%s\t%s\t%s\n%s", kind, name, files, purpose, lines }
