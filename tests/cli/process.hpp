// Runs the built programs as a user would, and keeps what came out.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace sextant {

struct ProcessResult {
    int exit_code = -1;  // as the shell says it: 128 + n after signal n
    std::string out;
    std::string err;
};

// Of a program that ended so, and said so on stderr.
inline testing::Matcher<ProcessResult> exits_with(int code, const testing::Matcher<std::string>& err) {
    return testing::AllOf(testing::Field("exit_code", &ProcessResult::exit_code, code), testing::Field("err", &ProcessResult::err, err));
}

// In the root of the repository, with nothing on stdin.
ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments);
ProcessResult run_sextant(const std::vector<std::string>& arguments);

}  // namespace sextant
