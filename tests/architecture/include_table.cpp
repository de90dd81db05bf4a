#include "tests/architecture/include_table.hpp"

#include <algorithm>
#include <regex>

namespace sextant {
namespace {

// The part that a path belongs to; empty for what stands beside the parts, such as tests.
std::string part_of(const std::string& path) {
    if (path.starts_with("model/sextant")) return "facade";
    const auto slash = path.find('/');
    if (slash == std::string::npos) return {};
    std::string top = path.substr(0, slash);
    if (path.starts_with("backend/storage/")) return "storage";
    if (top != "model") return top;
    const auto second = path.find('/', slash + 1);
    return second == std::string::npos ? std::string() : path.substr(slash + 1, second - slash - 1);
}

const IncludeRow* find_row(std::string_view part) {
    const auto row = std::ranges::find(include_table(), part, &IncludeRow::part);
    return row == include_table().end() ? nullptr : &*row;
}

}  // namespace

const std::vector<IncludeRow>& include_table() {
    static const std::vector<IncludeRow> table = {
        {"base", {}, "units, ids and diagnostics: everything stands on them"},
        {"hardware", {"base"}, "what a machine is, whatever runs on it"},
        {"workload", {"base"}, "what is computed, whatever computes it"},
        {"plan", {"base", "hardware", "workload"}, "lays a workload on hardware; a scenario is the three together"},
        {"schedule", {"base", "hardware", "workload", "plan"}, "the order of work, without a price"},
        {"graph", {"base", "workload"}, "task graph and trace: executors read them without knowing plan or price"},
        {"cost", {"base", "hardware", "workload", "plan", "graph"}, "the price of a piece of work, without its order"},
        {"predict", {"base", "hardware", "workload", "plan", "schedule", "graph", "cost"}, "order times price, in closed form"},
        {"lower", {"base", "hardware", "workload", "plan", "schedule", "graph"}, "builds the graph; never sees a price"},
        {"simulate", {"base", "graph", "hardware", "cost"}, "prices a graph over time; never sees the plan that made it"},
        {"report",
         {"base", "hardware", "workload", "plan", "schedule", "cost", "predict", "graph", "simulate"},
         "explains what predict and simulate found"},
        {"search",
         {"base", "hardware", "workload", "plan", "schedule", "cost", "predict", "report"},
         "tries plans; millions of them, so no graph"},
        {"calibrate",
         {"base", "hardware", "workload", "plan", "schedule", "cost", "predict", "graph", "report"},
         "fits profiles to measurements"},
        {"io",
         {"base", "hardware", "workload", "plan", "graph", "report", "search", "calibrate"},
         "reads and writes values; knows no algorithm"},
        {"facade",
         {"base", "hardware", "workload", "plan", "schedule", "cost", "predict", "graph", "lower", "simulate", "report", "search",
          "calibrate", "io"},
         "the one place that sees everything"},
        {"cli", {"facade", "base", "io", "report"}, "asks the facade, prints what comes back"},
        {"gui", {"facade", "base", "io", "report", "hardware", "workload", "plan", "graph"}, "shows and edits values; asks the facade"},
        {"storage",
         {"base", "hardware", "plan", "calibrate", "io"},
         "datasets on disk, whoever trains on them, and what a directory can do"},
        {"backend",
         {"facade", "base", "hardware", "workload", "plan", "graph", "lower", "io", "storage"},
         "reads a scenario, runs its graph, writes what came of it; what it should cost is not its business"},
    };
    return table;
}

const std::vector<LibraryRow>& library_table() {
    static const std::vector<LibraryRow> table = {
        {"nlohmann/", {"io", "storage"}, "only io and datasets know a file format"},
        {"yaml-cpp/", {"io"}, "only io knows a file format"},
        {"hdf5", {"io", "storage"}, "only io and datasets know a file format"},
        {"archive", {"io", "storage"}, "only io and datasets know archives"},
        {"lmdb", {"storage"}, "only datasets know LMDB"},
        {"png", {"storage"}, "only datasets know pictures"},
        {"jpeglib", {"storage"}, "only datasets know pictures"},
        {"CLI/", {"cli"}, "only the command line parses arguments"},
        {"Q", {"gui"}, "everything but the GUI runs without Qt"},
        {"Eigen/", {"calibrate"}, "only fitting needs linear algebra"},
        {"dnnl", {"backend"}, "everything but the executors runs without oneDNN"},
        {"mpi", {"backend"}, "everything but the executors runs without MPI"},
        {"cuda", {"backend"}, "everything but the executors runs without CUDA"},
        {"cublas", {"backend"}, "everything but the executors runs without CUDA"},
        {"cudnn", {"backend"}, "everything but the executors runs without CUDA"},
        {"nccl", {"backend"}, "everything but the executors runs without CUDA"},
        {"chrono", {"cli", "gui", "backend", "storage"}, "the engine has no clock: the same input gives the same answer"},
        {"ctime", {"cli", "gui", "backend", "storage"}, "the engine has no clock: the same input gives the same answer"},
    };
    return table;
}

std::vector<std::string> forbidden_includes(const SourceFile& file) {
    const std::string part = part_of(file.path);
    const IncludeRow* row = find_row(part);
    if (!row) return {file.path + " is in a folder that the include table does not know"};

    std::vector<std::string> found;
    static const std::regex include_line(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"])re");
    const auto forbid = [&](const std::string& target, std::string_view why) {
        found.push_back(file.path + " includes " + target + ": " + std::string(why));
    };
    for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), include_line); it != std::sregex_iterator(); ++it) {
        const std::string target = (*it)[2];
        if ((*it)[1] == "<") {
            for (const LibraryRow& library : library_table())
                if (target.starts_with(library.prefix) && !library.parts.contains(part)) forbid(target, library.reason);
            continue;
        }
        const std::string other = part_of(target);
        if (target.starts_with(".") || !find_row(other))
            forbid(target, "a quoted path begins at the root of the repository and names a folder of the include table");
        else if (other != part && !row->may_include.contains(other))
            forbid(target, part + " is \"" + std::string(row->reason) + "\"");
    }
    return found;
}

}  // namespace sextant
