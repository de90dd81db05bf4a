// Runs a program as a child process, which does not outlive this one, and reads its stdout line by line.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

enum class ChildStderr { ours, heard };  // heard: read like its stdout

// Returns the exit code as a shell does: 128 + n after signal n. The child's stdin is empty. SIGINT, SIGTERM and SIGHUP are forwarded to
// the child, and Interrupted is thrown when it has ended; if this process is killed, the child gets SIGTERM. Where the child failed,
// processes that it leaves behind are given a few seconds to end. Throws BackendError when it cannot be started.
int run_child(const std::vector<std::string>& words, const std::function<void(const std::string& line)>& hear,
              ChildStderr errors = ChildStderr::ours);

// The path of one of our programs, in the folder of this one. Throws BackendError, saying what building it needs, when it is missing.
std::filesystem::path program_beside(const std::string& name, const std::string& needs);

}  // namespace sextant
