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
