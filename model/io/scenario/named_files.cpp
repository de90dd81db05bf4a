#include "model/io/scenario/named_files.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Where a scenario, or a benchmark of storage, may name a file.
constexpr const char* places[] = {"workload",
                                  "framework",
                                  "framework.base",
                                  "library",
                                  "hardware",
                                  "hardware.cluster",
                                  "hardware.cluster.base",
                                  "hardware.device",
                                  "hardware.device.base",
                                  "hardware.network",
                                  "hardware.peer_link",
                                  "hardware.host_link",
                                  "hardware.cluster.node.device",
                                  "storage",
                                  "data.storage",
                                  "data.staging.to",
                                  "data.checkpoints.storage"};

// That is named by a relative path.
std::optional<fs::path> file_at(const ScenarioDocument& document, const char* place) {
    const auto stated = stated_at(document, place);
    if (!stated || !stated->ends_with(".json") || fs::path(*stated).is_absolute()) return {};
    return *stated;
}

std::string edit(const char* place, const fs::path& path) { return std::string(place) + "=" + path.string(); }

}  // namespace

std::vector<std::string> with_whole_paths(const std::vector<std::string>& overrides, const fs::path& folder) {
    std::vector<std::string> edits;
    for (const std::string& override : overrides) {
        edits.push_back(override);
        const ScenarioDocument alone{{}, "{}", {override}};
        for (const char* place : places)
            if (const auto file = file_at(alone, place)) edits.push_back(edit(place, (folder / *file).lexically_normal()));
    }
    return edits;
}

ScenarioDocument moved(ScenarioDocument document, const fs::path& file) {
    const fs::path from = fs::weakly_canonical(fs::absolute(document.file)).parent_path(),
                   to = fs::weakly_canonical(fs::absolute(file)).parent_path();
    for (const char* place : places)
        if (const auto named = file_at(document, place); named && from != to)
            document.edits.push_back(edit(place, (from / *named).lexically_normal().lexically_relative(to)));
    document.file = file;
    return document;
}

}  // namespace sextant
