#include "cli/hosts.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/grouped_digits.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sextant {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& host_file, std::string what) {
    throw InputError(Diagnostic{"--hostfile " + host_file, "", std::move(what), "one line for each host: node1 slots=2"});
}

void check_host_count(const Launch& l, const std::vector<std::string>& names) {
    if (std::ssize(names) >= l.hosts) return;
    refuse(l.host_file, "it names " + counted(names.size(), "host") + ", and the plan has ranks on " + std::to_string(l.hosts));
}

}  // namespace

std::vector<std::string> host_names(const std::string& file) {
    std::vector<std::string> names;
    std::ifstream in(file);
    for (std::string line, name; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        if (words >> name && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

void check_host_file(const std::string& file) {
    if (file.empty()) return;
    std::error_code none;
    if (!fs::exists(file, none)) refuse(file, "no such file");
    if (fs::is_directory(file, none)) refuse(file, "it is a directory");
    if (!fs::is_regular_file(file, none)) refuse(file, "it is no regular file");  // a pipe can be read once, and we are not alone
    if (fs::file_size(file, none) == 0) refuse(file, "the file is empty");
}

void place(Launch& l, const Scenario& scenario) {
    const std::vector<int> nodes = nodes_of_ranks(scenario);
    std::vector<int> count(static_cast<std::size_t>(std::ranges::max(nodes)) + 1);
    for (const int node : nodes) ++count[static_cast<std::size_t>(node)];
    l.hosts = static_cast<int>(count.size());
    l.ranks_per_host = std::ranges::max(count);
    const auto is = [&](const auto& node_of) {
        for (int rank = 0; rank < l.ranks; ++rank)
            if (nodes[static_cast<std::size_t>(rank)] != node_of(rank)) return false;
        return true;
    };
    if (!l.command.empty()) return;
    const std::vector<std::string> names = host_names(l.host_file);
    const bool in_order = is([&](int rank) { return rank / l.ranks_per_host; });
    if (!l.host_file.empty() && (!names.empty() || !in_order)) check_host_count(l, names);  // there may be none yet, to print a command
    if (in_order) return;
    if (l.launcher == Launcher::srun) {
        l.in_turn = is([&](int rank) { return rank % l.hosts; });
        if (!l.in_turn)
            throw InputError(Diagnostic{scenario.file, "/plan", "srun fills one node after the other, or deals ranks to nodes in turn",
                                        "as many ranks on each node; or --print-launch mpirun with --hostfile"});
    } else if (!names.empty()) {
        for (const int node : nodes) l.hosts_of_ranks.push_back(names[static_cast<std::size_t>(node)]);
    }
}

}  // namespace sextant
