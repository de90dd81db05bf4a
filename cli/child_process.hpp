// A program run as a child: it lives no longer than we do, and what it says on stdout is heard line by line.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct ChildExit {
    int code = 0;    // as the shell says it: 128 + n after signal n
    int signal = 0;  // that ended it; 0: none
};

// Its stdin is empty and its stderr ours. SIGINT, SIGTERM and SIGHUP that come to us go on to it, and we wait for its end; if we are
// killed, it gets SIGTERM. Throws BackendError when it cannot be started.
ChildExit run_child(const std::vector<std::string>& words, const std::function<void(const std::string& line)>& hear);

}  // namespace sextant
