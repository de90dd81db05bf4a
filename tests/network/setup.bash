# What the checks of real, limited links have in common; sourced with their arguments: BIN, the folder of the built programs, else
# build/release/bin, and PERCENT, as near must a predicted step be, else 15. Sets `sextant`, `percent`, `work` (a folder that goes with the check)
# and `failed`, and ends the check with 77 where such hosts cannot be made, and says why.
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
sextant=$(readlink -f "${1:-build/release/bin}")/sextant
percent=${2:-15}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "namespaces and limited links need root"
[ -x "$(dirname "$sextant")/sextant-exec-cpu" ] || skip "built without oneDNN and MPI"
why=$(scripts/hosts 2 1gbit true 2>&1) || skip "hosts cannot be made here: $why"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Prints the comparison, and fails where the step is farther from its prediction than `percent`.
compared_closely() { # $1: scenario, $2: record
    "$sextant" compare "$1" "$2" --fail-if "step_time_ratio > $((100 + percent))e-2" --fail-if "step_time_ratio < $((100 - percent))e-2"
}

# Whether somebody else uses the machine now: more than a tenth of its cores.
is_busy() {
    local before after i all=0
    read -ra before </proc/stat
    sleep 2
    read -ra after </proc/stat
    for ((i = 1; i <= 8; i++)); do all=$((all + after[i] - before[i])); done # the rest is counted among these
    ((10 * (after[4] - before[4] + after[5] - before[5]) < 9 * all))         # idle, and waiting for a disk
}

# Tries a check up to three times, as others may use the machine for a moment. What they do all the time makes it one that says nothing.
holds() {
    local try
    for try in 1 2 3; do
        "$@" && return
    done
    is_busy && skip "something else uses this machine: what holds at rest need not hold"
    failed=1
}
