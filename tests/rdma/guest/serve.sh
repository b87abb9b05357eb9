#!/bin/sh
# Runs one command for the other guest; a server starts this for every caller, with the connection for input and output.
# The counterpart of on_host.sh, which says what goes over the wire.
command=$(cat)
# The server ignores the ends of children, and what it starts would too, without knowing: a launcher would hang.
env --default-signal=CHLD sh -c "$command" </dev/null 2>&1
printf '\001HOST_RC=%d\n' $?
