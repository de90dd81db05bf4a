#include "tests/cli/process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

std::string shell_quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

std::string take_file(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

}  // namespace

ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments) {
    // Tests run side by side, each in a process of its own.
    const std::string stem = testing::TempDir() + "sextant_" + std::to_string(::getpid());
    std::string command = "cd " + shell_quoted(SEXTANT_SOURCE_DIR) + " && " + shell_quoted(program);
    for (const std::string& argument : arguments) command.append(" ").append(shell_quoted(argument));
    command += " </dev/null >" + shell_quoted(stem + ".out") + " 2>" + shell_quoted(stem + ".err");
    ProcessResult result;
    const int status = std::system(command.c_str());
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = take_file(stem + ".out");
    result.err = take_file(stem + ".err");
    return result;
}

ProcessResult run_sextant(const std::vector<std::string>& arguments) { return run_program(SEXTANT_BINARY, arguments); }

}  // namespace sextant
