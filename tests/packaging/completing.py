"""What shells offer for command lines, with completion from a folder as `make install` lays it out."""

import os
import pty
import subprocess

from installing import TIMEOUT_S, succeed

# Sources the file of the first word and fills COMP_WORDS as bash does: `=` is a word of its own.
BASH = r"""
source "$1" && shift && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && rule=$(complete -p "${1##*/}") &&
rule=${rule#*-F } && "${rule%% *}" && printf "%s\n" "${COMPREPLY[@]}"
"""

# Puts all matches into the line in place of the last word, for each line of $LINES_FILE.
ZSHRC = r"""
fpath=($COMPLETION_FOLDER $fpath)
autoload -Uz compinit
compinit -u -D
all_matches() { _main_complete; compstate[insert]=all; compstate[list]=; }
zle -C all-matches complete-word all_matches
answer_lines() {
    local line
    for line in "${(@f)$(<$LINES_FILE)}"; do
        BUFFER=$line CURSOR=$#line
        zle all-matches
        print -r -- "$BUFFER" >>$ANSWERS_FILE
    done
    BUFFER=exit
    zle accept-line
}
zle -N zle-line-init answer_lines
"""


def by_bash(folder, work, file, *words):
    """What bash offers for the last word, the others being there."""
    told = succeed("bash", "-c", BASH, "-", folder / "bash-completion/completions" / file, *words, cwd=work)
    return [line for line in told.splitlines() if line]


def by_zsh(folder, work, *lines):
    """What zsh offers for the last word of each line; [] where it offers nothing, or where that word is complete."""
    (work / ".zshrc").write_text(ZSHRC, encoding="utf-8")
    (work / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
    answers = work / "answers"
    answers.unlink(missing_ok=True)
    terminal, end = pty.openpty()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(work), "ZDOTDIR": str(work), "TERM": "dumb",
                   "COMPLETION_FOLDER": str(folder / "zsh/site-functions"), "LINES_FILE": str(work / "lines"),
                   "ANSWERS_FILE": str(answers)}
    try:
        shell = subprocess.Popen(["zsh", "-i"], stdin=end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work,
                                 env=environment, start_new_session=True)
        try:
            shell.wait(TIMEOUT_S)
        finally:
            shell.kill()
            shell.wait()
    finally:
        os.close(terminal)
        os.close(end)
    told = answers.read_text(encoding="utf-8").splitlines()
    if len(told) != len(lines):
        raise AssertionError(f"zsh answered {told} for {lines}")
    offered = []
    for line, answer in zip(lines, told):
        start = line[:line.rfind(" ") + 1]
        offered.append([] if answer.rstrip() == line.rstrip() else answer[len(start):].split())
    return offered


def by_fish(folder, work, line):
    """What fish offers for the last word of a line."""
    file = folder / "fish/vendor_completions.d" / f"{line.split()[0]}.fish"
    told = succeed("fish", "--no-config", "-c", f'source {file}; complete -C "$LINE"', cwd=work,
                   env={"PATH": "/usr/bin:/bin", "HOME": str(work), "TERM": "dumb", "LINE": line})
    return [offer.split("\t")[0] for offer in told.splitlines()]


def offered(shell, folder, work, lines):
    """What a shell offers for each line, as a list of sets: values without the `--option=` before them."""
    if shell == "zsh":
        offers = by_zsh(folder, work, *lines)
    elif shell == "fish":
        offers = [by_fish(folder, work, line) for line in lines]
    else:
        # bash takes `=` for a word.
        offers = [by_bash(folder, work, line.split()[0], *line.replace("=", " = ").rstrip("= ").split(),
                          *(["="] if line.endswith("=") else [""] if line.endswith(" ") else [])) for line in lines]
    return [{name.rstrip("=").split("=")[-1] for name in names} for names in offers]
