"""What a finding of find_slow_links is about, read from its keys: a new kind of finding needs a line here only if its
state is not `slow`, or if its two hosts are no path."""

STATES = {  # by `blame`; others: slow
    "wrong_data": "wrong",
    "dead": "dead",
    "dead_pair": "dead",
    "cut_off": "cut_off",
    "transient": "unsteady",
    "undecided": "unknown",
}
OF_SEVERAL_HOSTS = ("device", "cut_off")


def state_of(finding):
    return STATES.get(finding["blame"], "slow")


def is_decided(finding):
    return state_of(finding) != "unknown"


def hosts_of(finding):
    """The names of its hosts; a run with --find calls them endpoints."""
    return finding.get("hosts") or finding.get("endpoints") or []


def is_path(finding):
    """Whether it is about two hosts and what is between them."""
    return len(hosts_of(finding)) == 2 and finding["blame"] not in OF_SEVERAL_HOSTS
