#include "model/sextant.hpp"

#include "model/io/format/json_files.hpp"
#include "model/io/profile/framework_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/scenario/lesson_reader.hpp"
#include "model/io/scenario/named_files.hpp"
#include "model/io/storage_benchmark/dlio_import.hpp"
#include "model/io/storage_benchmark/storage_benchmark_reader.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"

#include <algorithm>

namespace sextant {
namespace {

template <class Profile>
auto by_name(Library& library, const Profile* (*find)(Catalog&, std::string_view, Diagnostics&, const NamedBy&)) {
    return [&library, find](std::string_view name) {
        Diagnostics problems;
        const Profile* found = find(library.catalog, name, problems, {});
        library.has_read(problems);
        // A name that is not known is of no file.
        if (std::ranges::any_of(problems.list(), [](const Diagnostic& d) { return !d.file.empty(); })) problems.throw_if_any();
        return found ? std::optional<Profile>(*found) : std::nullopt;
    };
}

template <class Profile>
auto by_reference(Catalog& catalog, bool (*read)(const JsonNode&, Catalog&, Profile&)) {
    return [&catalog, read](const JsonNode& node) {
        Profile value;
        read(node, catalog, value);
        return value;
    };
}

}  // namespace

Library open_library(const std::filesystem::path& profiles) {
    Library library;
    library.catalog = open_catalog(find_data_root(profiles));
    library.root = library_root(library.catalog);
    return library;
}

ScenarioSources sources(Library& library) {
    ScenarioSources s;
    s.workload = [](std::string_view name) { return find_workload(name); };
    Catalog& catalog = library.catalog;
    s.cluster = by_reference<Cluster>(catalog, read_cluster_reference);
    s.device = by_reference<Device>(catalog, read_device_reference);
    s.link = by_reference<LinkType>(catalog, read_link_reference);
    s.storage = by_reference<StorageClass>(catalog, read_storage_reference);
    s.framework = [&library](const JsonNode& n) { return load_framework(n, library.root); };
    s.library = [&catalog](std::string_view name, const JsonNode& n) {
        const CommunicationLibrary* found = find_library(catalog, name, *n.diagnostics, {*n.file, n.pointer});
        return found ? *found : CommunicationLibrary{};
    };
    return s;
}

MeasurementSources measurement_sources(Library& library) {
    MeasurementSources s;
    s.cluster = by_name<Cluster>(library, find_cluster);
    s.device = by_name<Device>(library, find_device);
    s.link = by_name<LinkType>(library, find_link);
    s.library = by_name<CommunicationLibrary>(library, find_library);
    s.workload = [](std::string_view name) { return find_workload(name); };
    s.framework = [&library](std::string_view name) -> std::optional<Framework> {
        if (!std::ranges::binary_search(framework_names(library.root), name)) return {};
        Diagnostics problems;
        Framework found = load_framework(name, library.root, problems);
        library.check_read(problems);
        return found;
    };
    Diagnostics problems;
    s.usual = load_usual_hardware(library.catalog, problems);
    library.check_read(problems);
    return s;
}

std::optional<RowName> row_named(const std::filesystem::path& path) {
    const std::string name = path.string();
    const std::size_t mark = name.rfind('#');
    if (mark == std::string::npos || std::filesystem::exists(path)) return {};
    return RowName{name.substr(0, mark), name.substr(mark + 1)};
}

ScenarioDocument open_scenario(Library& library, const std::filesystem::path& path) {
    const auto row = row_named(path);
    return row ? published_run(library, row->file, row->id).document : open_document(path);
}

namespace {

// A workload of DLIO as our own document.
ScenarioDocument open_predictable(Library& library, const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    const std::string ending = path.extension().string();
    ScenarioDocument document =
        ending == ".yaml" || ending == ".yml" ? ScenarioDocument{path, import_dlio(path), {}} : open_scenario(library, path);
    std::ranges::move(with_whole_paths(overrides), std::back_inserter(document.edits));
    return document;
}

Scenario read_training(Library& library, const JsonFile& file, Diagnostics& diagnostics) {
    Scenario scenario = read_scenario(file, sources(library), diagnostics);
    library.check_read(diagnostics);
    return scenario;
}

[[noreturn]] void refuse_benchmark(const std::filesystem::path& path) {
    const char* hint = "`sextant predict` says how fast its storage is";
    throw InputError(Diagnostic{path.string(), "", "this is a benchmark of storage, no training run", hint});
}

}  // namespace

Predictable load_predictable(Library& library, const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    const auto row = row_named(path);
    if (row && overrides.empty()) return published_job(library, row->file, row->id);
    Diagnostics diagnostics;
    const JsonFile file = as_json(open_predictable(library, path, overrides), diagnostics);
    if (!is_storage_benchmark(file)) return read_training(library, file, diagnostics);
    StorageBenchmark benchmark = read_storage_benchmark(file, sources(library));
    library.check_read(diagnostics);
    return benchmark;
}

Scenario load_scenario(Library& library, const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    const auto row = row_named(path);
    if (!row || !overrides.empty()) return load_scenario(library, open_predictable(library, path, overrides));
    Predictable published = published_job(library, row->file, row->id);
    if (auto* scenario = std::get_if<Scenario>(&published)) return std::move(*scenario);
    refuse_benchmark(path);
}

Scenario load_scenario(Library& library, const ScenarioDocument& document) {
    Diagnostics diagnostics;
    const JsonFile file = as_json(document, diagnostics);
    if (is_storage_benchmark(file)) refuse_benchmark(document.file);
    return read_training(library, file, diagnostics);
}

std::vector<ScenarioTitle> bundled_scenarios(const Library& library) {
    std::vector<ScenarioTitle> titles;
    for (const std::filesystem::path& file : json_files_in(library.root / "scenarios"))
        if (auto title = title_of(file)) titles.push_back(std::move(*title));
    return titles;
}

std::vector<Lesson> bundled_lessons(const Library& library) {
    Diagnostics diagnostics;
    std::vector<Lesson> lessons;
    for (const std::filesystem::path& file : json_files_in(library.root / "lessons"))
        if (auto lesson = load_lesson(file, diagnostics)) lessons.push_back(std::move(*lesson));
    diagnostics.throw_if_any();
    return lessons;
}

LessonAnswer answer_of(Library& library, const LessonStep& step) {
    LessonAnswer answer;
    answer.start = open_document(library.root / "scenarios" / (step.scenario + ".json"));
    for (const auto& [path, value] : step.earlier) answer.start = edited(answer.start, path, value);
    answer.changed = answer.start;
    for (const auto& [path, value] : step.changes) answer.changed = edited(answer.changed, path, value);
    answer.before = predict(load_scenario(library, answer.start));
    answer.after = predict(load_scenario(library, answer.changed));
    return answer;
}

Report predict(const Scenario& scenario) { return make_report(prepare(scenario)); }

StorageReport predict(const StorageBenchmark& benchmark) { return {benchmark, estimate(benchmark)}; }

RunLayout run_layout(const Scenario& s) {
    const int workers = s.plan.devices();
    const int per_node = std::min(workers, s.plan.devices_per_node.value_or(s.cluster.node.devices));
    return {workers + (s.plan.has_servers() ? parameter_server_count(s) : 0), per_node};
}

std::vector<int> nodes_of_ranks(const Scenario& s) {
    const RankLayout layout = layout_of(s);
    std::vector<int> nodes(static_cast<std::size_t>(run_layout(s).ranks));
    for (int rank = 0; rank < std::ssize(nodes); ++rank)
        nodes[static_cast<std::size_t>(rank)] = rank < layout.ranks() ? layout.node_of(rank) : node_of_server(s, rank - layout.ranks());
    return nodes;
}

std::vector<int> usual_sizes(const Scenario& job) {
    const int per_node = run_layout(job).ranks_per_node;
    const std::int64_t most = std::min<std::int64_t>(std::int64_t{per_node} * job.cluster.nodes, std::int64_t{4} * job.plan.devices());
    std::vector<int> sizes;
    for (std::int64_t n = per_node <= most / 2 ? per_node : 1; n <= most; n *= 2) sizes.push_back(static_cast<int>(n));
    const int own = job.plan.devices();
    if (const auto place = std::ranges::lower_bound(sizes, own); place == sizes.end() || *place != own) sizes.insert(place, own);
    return sizes;
}

ProfilerComparison compare(const Scenario& scenario, const ProfilerRecord& profile) {
    return compare_profiler(scenario, predict(scenario), profile);
}

std::vector<std::filesystem::path> bundled_measurements(const Library& library) {
    const std::filesystem::path folder = library.root / "measurements";
    std::vector<std::filesystem::path> files = json_files_in(folder);
    if (files.empty()) throw InputError(Diagnostic{folder.string(), "", "no measurements are there", "name the files to validate"});
    return files;
}

}  // namespace sextant
