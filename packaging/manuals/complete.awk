# Prints what may stand at the end of a command line, each with its help behind a tab; <files> and <folders> are what the
# shell finds itself. awk -f complete.awk TABLE WORD...; the last word is the one to complete. bash takes `=` for a word.

function plain(name) {  # as in the table: all_reduce for fb_all-reduce_perf
    sub(/.*\//, "", name)
    gsub(/-/, "_", name)
    if (index(name, prefix) == 1) name = substr(name, length(prefix) + 1)
    sub(/_perf$/, "", name)
    return name
}

function offer(word, help) {
    if (substr(word, 1, length(current)) == current) print word (help == "" ? "" : "\t" help)
}

function offer_names(with_commands, i, name) {
    for (i = 1; i <= names; i++) {
        name = order[i]
        # A typed - also stands for _.
        if (current ~ /-/) gsub(/_/, "-", name)
        if (with_commands || kind[order[i]] != "command") offer(name, purpose[order[i]])
    }
}

function offer_values(value, words, count, i) {
    if (value ~ /^<.*>$/) print value
    else if (value != "-") {
        count = split(value, words, "|")
        for (i = 1; i <= count; i++) offer(words[i])
    }
}

# What the options of a name take, by option.
function use(name, without_help, lines, count, i, fields) {
    count = split(options[name], lines, "\n")
    for (i = 1; i < count; i++) {
        split(lines[i], fields, "\t")
        if (without_help && fields[1] == "--help") continue
        if (!(fields[1] in takes)) given[++number] = fields[1]
        takes[fields[1]] = fields[2]
        help[fields[1]] = fields[3]
    }
}

BEGIN {
    FS = "\t"
    while ((getline <ARGV[1]) > 0) {
        if ($1 == "prefix") prefix = $2
        else if ($1 == "option") options[$2] = options[$2] $3 "\t" $4 "\t" $5 "\n"
        else {
            order[++names] = $2
            kind[$2] = $1
            with_files[$2] = $3
            purpose[$2] = $4
        }
    }
    current = ARGV[ARGC - 1]
    previous = ARGV[ARGC - 2]
    if (current == "=") current = ""
    else if (previous == "=") previous = ARGV[ARGC - 3]
    else if (match(current, /^--[^=]*=/)) {
        previous = substr(current, 1, RLENGTH - 1)
        current = substr(current, RLENGTH + 1)
    }
    place = 2
    front = plain(ARGV[2]) == "fabricbench"
    if (front) place = 3
    if (front && ARGV[3] == "run") {
        place = 4
        while (place < ARGC - 1 && !(plain(ARGV[place]) in kind)) place++
        if (place == ARGC - 1) place = 3
    }
    name = plain(ARGV[place])
    choosing = front && (ARGC <= 4 || name == "help" || name == "run")
    if (front && ARGC <= 4) options[name = ""] = "--help\n--version\n"
    use(name)
    if (front && kind[name] == "program") use("run", 1)
    if (!number) given[++number] = "--help"
    if (takes[previous] != "") offer_values(takes[previous])
    else if (choosing && current !~ /^-/) offer_names(name != "run")
    else if (current !~ /^-/ && with_files[name] == "files") print "<files>"
    else for (i = 1; i <= number; i++) offer(given[i], help[given[i]])
}
