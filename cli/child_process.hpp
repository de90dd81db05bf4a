// A program run as a child: it lives no longer than we do, and what it says on stdout is heard line by line.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

enum class ChildStderr { ours, heard };  // heard: with its stdout

// Returns its exit code, as the shell says it: 128 + n after signal n. Its stdin is empty. SIGINT, SIGTERM and SIGHUP that come to us go on
// to it, and when it has ended Interrupted is thrown; if we are killed, it gets SIGTERM. Where it failed, what it leaves behind
// is given a few seconds to end too. Throws BackendError when it cannot be started.
int run_child(const std::vector<std::string>& words, const std::function<void(const std::string& line)>& hear,
              ChildStderr errors = ChildStderr::ours);

// A program of ours, which lies beside this one. Throws BackendError, with what a build of it needs, when it is not there.
std::filesystem::path program_beside(const std::string& name, const std::string& needs);

}  // namespace sextant
