#!/usr/bin/env bash
# Compares our programs with other benchmarks of the same thing; bench/README.md has the details. This makes the two
# hosts that some comparisons take, where the machine has the means; bench/peers.py does the rest.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"
# shellcheck source=scripts/hosts.sh
source "$root/scripts/hosts.sh"

# Prints why two hosts cannot be made here, and fails. The attempt has a process of its own: it may end early.
try_hosts() {
    (
        trap remove_hosts EXIT
        make_hosts 2
    ) 2>&1
}

# A program that starts others on the hosts, as run_on_hosts does. Its path is in $launcher.
write_launcher() {
    launcher=$hosts_directory/launch
    {
        printf '#!/usr/bin/env bash\nset -euo pipefail\nsource %q\n' "$root/scripts/hosts.sh"
        declare -p hosts hosts_switch hosts_directory
        echo 'run_on_hosts "$@"'
    } >"$launcher"
    chmod +x "$launcher"
}

main() {
    local launcher problem options=()
    use_mpi
    export PYTHONDONTWRITEBYTECODE=1
    if problem=$(try_hosts); then
        trap remove_hosts EXIT
        make_hosts 2
        write_launcher
        options=(--hosts "${hosts[*]}" --launcher "$launcher")
    else
        warn "no comparison between hosts: ${problem#skipped: }"
    fi
    "$root/bench/peers.py" "${options[@]}" "$@"
}

case " $* " in
    *" -h "* | *" --help "*) "$root/bench/peers.py" --help ;;
    *) main "$@" ;;
esac
