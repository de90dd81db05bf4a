// What ends a program before it is done, as its user and its caller are told. Every program of Sextant ends by these rules.
#pragma once

#include <exception>
#include <string>

namespace sextant {

// CI jobs and scripts rely on these numbers.
enum class ExitCode {
    done = 0,
    condition_held = 1,   // a --fail-if condition was true, or no plan meets each --where
    wrong_input = 2,      // arguments, files or a plan that make no sense
    machine_refused = 3,  // MPI, NCCL, CUDA, a disk
    does_not_fit = 4,     // the plan needs more memory than the device has
    defect = 70,          // a mistake of ours (EX_SOFTWARE of sysexits.h)
    interrupted = 130,    // by Ctrl-C, as a shell says it: what was found so far has been printed
};

struct Failure {
    ExitCode code;
    std::string why;  // without the name of the program
};

// What a caught exception means. Throws it on where it is no std::exception, and so no failure.
Failure failure_of(const std::exception_ptr& thrown);

// As it stands on a terminal: "sextant: the machine refused: out of memory". Diagnostics of an input stand for themselves.
std::string to_text(const Failure&);

// Ends the process where an invariant of ours is broken, in every build: `what` should have been impossible.
[[noreturn]] void broken_invariant(const char* what);

}  // namespace sextant
