# Sorts what a program prints for --help into the sections that help2man knows: awk -v command=NAME -f page.awk

function add(to, line) { text[to] = text[to] line "\n" }

function print_section(title, from) { if (text[from] != "") printf "*%s*\n\n%s\n\n", title, text[from] }

function begin(other, title) {
    section = other
    sub(title, "")
}

function is_example() { return /^  / && index($0 " ", " " program " ") }

BEGIN {
    section = "description"
    program = command
    sub(/ .*/, "", program)
}

# A line that ends with a colon is a title if options follow.
held != "" {
    if (is_example()) sub(/:$/, ".", held)
    add(/^  -/ ? "options" : "description", held)
    held = ""
}
/^$/ {
    add(section, "")
    add("description", "")
    section = "description"
    next
}
/^[Uu]sage: / { begin("usage", "^[Uu]sage:") }
/^(Positionals|positional arguments):$/ { section = "arguments"; next }
/^[Oo]ptions:$/ { section = "options"; $0 = text["options"] == "" ? "" : "Others:" }
/^Exit status: / { begin("status", "^Exit status: ") }
/^Environment: / { begin("environment", "^Environment: ") }
/^  -/ { section = "options" }
section == "examples" && /^[^ ]/ { section = "description" }

# One line for each form of the command, without what it is short for; longer ones are wrapped.
section == "usage" {
    sub(/^ +/, "")
    sub(/   +[a-z].*/, "")
    if (text["usage"] == "") text["usage"] = "Usage: " $0
    else text["usage"] = text["usage"] (index($0, program " ") == 1 ? "\n  or:  " : " ") $0
    next
}

# help2man takes a line for a tag, and lines behind 20 spaces for its text.
is_example() && section ~ /description|examples/ && !broken {
    section = "examples"
    text["examples"] = text["examples"] "\n\n" $0
    broken = sub(/ *\\$/, "", text["examples"])
    next
}
section == "examples" {
    explains = /^      / && !broken
    sub(/^ +/, explains ? "                      " : "")
    text["examples"] = text["examples"] (explains ? "\n" : " ") $0
    broken = 0
    next
}

section == "description" && /:$/ { held = $0; next }
{ add(section, $0) }

END {
    printf "%s\n\n%s\n", text["usage"], text["description"]
    print_section("Arguments", "arguments")
    print_section("Options", "options")
    print_section("Examples", "examples")
    print_section("Environment", "environment")
    print_section("Exit status", "status")
}
