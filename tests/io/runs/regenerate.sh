#!/bin/bash
# Makes the run files again, with the executor of the release build: after a change of schema run/1 or of how scenarios are lowered.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.."
record() {  # NAME RANKS STEPS [OPTION...]
    mpirun --oversubscribe --bind-to none -n "$2" build/release/bin/sextant-exec-cpu tests/io/runs/scenario.json --steps "$3" \
        --out "tests/io/runs/$1.json" "${@:4}"
}
record data_parallel 2 5
record pipeline 2 5 --set plan.dp=1 --set plan.pp=2
record tensor_parallel 2 5 --set plan.dp=1 --set plan.tp=2 --set plan.global_batch=4
record servers 3 5 --set plan.data_parallel=parameter_server --set plan.servers_on_workers=true
record one_rank 1 1 --set plan.dp=1 --set plan.global_batch=4 --parameters --operators
