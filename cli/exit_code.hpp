// What the process tells its caller; CI jobs and scripts rely on these numbers.
#pragma once

namespace sextant {

enum class ExitCode {
    done = 0,
    condition_held = 1,   // a --fail-if condition was true
    wrong_input = 2,      // arguments, files or a plan that make no sense
    machine_refused = 3,  // MPI, NCCL, CUDA, a disk
    does_not_fit = 4,     // the plan needs more memory than the device has
    defect = 70,          // a mistake of ours (EX_SOFTWARE of sysexits.h)
    interrupted = 130,    // by Ctrl-C, as a shell says it: what was found so far has been printed
};

}  // namespace sextant
