#include "model/io/calibration/cluster_records.hpp"

#include "model/calibrate/calibration.hpp"
#include "model/calibrate/fit.hpp"
#include "model/io/calibration/step_times.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/scenario/named_files.hpp"
#include "model/io/trace/run_reader.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sextant {
namespace {

namespace fs = std::filesystem;

enum class FileKind { nccl_tests, osu, gpu_topology, run, step_times, measurements, unmeasured, unknown };

constexpr auto taken = "nccl-tests, OSU micro-benchmarks, nvidia-smi topo -m, run.json, step times, measurements";

bool is_of_fio(std::string_view text) { return text.find("\"fio version\"") != std::string_view::npos; }

// What is to be done with a file that no fit of a cluster takes.
std::string_view use_of(std::string_view text) {
    if (is_of_fio(text)) return "what fio measured is of a storage: sextant calibrate --storage FILE.json --out PROFILE.json";
    if (text.find("STREAM version") != std::string_view::npos)
        return "of a CPU that trains, the rate of Triad over the \"memory_bandwidth\" of its profile is its \"stream_fraction\"";
    return taken;
}

// The schema that a JSON document states; empty where it states none.
std::string schema_of(const JsonFile& file) {
    std::string schema;
    const JsonNode root = file.root();
    if (root.value && root.is_object() && root.child("schema").is_string()) read_value(root.child("schema"), schema);
    return schema;
}

// Published measurements have rows in place of a schema.
FileKind kind_of(const std::string& text, const std::string& name) {
    switch (kind_of_log(text)) {
        case LogKind::nccl_tests: return FileKind::nccl_tests;
        case LogKind::osu: return FileKind::osu;
        case LogKind::gpu_topology: return FileKind::gpu_topology;
        case LogKind::unknown: return FileKind::unknown;
        case LogKind::json: break;
    }
    if (is_of_fio(text)) return FileKind::unknown;
    Diagnostics unused;
    const JsonFile file = JsonFile::from_text(text, name, unused);
    const std::string schema = schema_of(file);
    if (schema.starts_with("run/")) return FileKind::run;
    if (schema.starts_with("step-times/")) return FileKind::step_times;
    return schema.empty() && file.root().child("rows").value ? FileKind::measurements : FileKind::unmeasured;
}

class RecordsReader {
public:
    RecordsReader(const LoadScenario& load, Diagnostics& diagnostics) : load_(load), diagnostics_(diagnostics) {}

    ClusterRecords read(const std::vector<fs::path>& paths) {
        for (const fs::path& path : paths)
            if (const auto text = read_text_file(path, diagnostics_)) read(path, *text);
        return std::move(files_);
    }

private:
    void read(const fs::path& path, const std::string& text) {
        const std::string name = path.string();
        const auto keep = [](auto& list, auto&& more) { std::ranges::move(more, std::back_inserter(list)); };
        switch (kind_of(text, name)) {
            case FileKind::nccl_tests: return keep(files_.curves, read_nccl_tests(text, name, diagnostics_));
            case FileKind::osu: return keep(files_.curves, read_osu(text, name, diagnostics_));
            case FileKind::gpu_topology: return files_.topologies.push_back(read_gpu_topology(text, name, diagnostics_));
            case FileKind::run: return diagnostics_.collect([&] { read_run(path, text); });
            case FileKind::step_times: return diagnostics_.collect([&] { read_steps(path, text); });
            case FileKind::measurements: return diagnostics_.add({name, "", "published measurements beside logs", "fit to them alone"});
            case FileKind::unmeasured: return refuse_unmeasured(text, name);
            case FileKind::unknown: return diagnostics_.add({name, "", "nobody's log that is known here", std::string(use_of(text))});
        }
    }

    // A scenario, a profile; or what is no JSON, though it begins so.
    void refuse_unmeasured(const std::string& text, const std::string& name) {
        const JsonFile file = JsonFile::from_text(text, name, diagnostics_);
        if (!file.root().value) return;
        const std::string schema = schema_of(file);
        const std::string document =
            schema.empty() ? "a document without a schema" : "a " + schema.substr(0, schema.find('/')) + " (" + schema + ")";
        diagnostics_.add({name, "", document + ", in which nothing was measured", "--from takes " + std::string(taken)});
    }

    // Paths in a file are as seen from where the file was made, or from the file.
    Scenario scenario(const fs::path& file, const std::string& named, const std::vector<std::string>& overrides) {
        const fs::path beside = file.parent_path() / named;
        const bool from_file = !fs::exists(named);
        if (from_file && !fs::exists(beside))
            throw InputError(Diagnostic{file.string(), "", "it is of the scenario \"" + named + "\", which is neither here nor beside it",
                                        "where it was made there is one"});
        return load_(from_file ? beside : fs::path(named),
                     with_whole_paths(overrides, from_file ? fs::absolute(file).parent_path() : fs::current_path()));
    }

    void read_run(const fs::path& path, const std::string& text) {
        const RunRecord run = run_from_text(text, path.string());
        const ProbeRun seen = probe_run(run.scenario, scenario(path, run.scenario_file, run.overrides), run);
        files_.jobs.push_back({path.string(), {seen.name, seen.scenario, seen.measured, run.step(), seen.noise}});
    }

    void read_steps(const fs::path& path, const std::string& text) {
        Diagnostics problems;
        const WrittenSteps times = step_times_from_text(text, path.string(), problems);
        problems.throw_if_any();
        Scenario s = scenario(path, times.scenario, times.overrides);
        JobObserved job{s.name, s, std::nullopt, median(times.steps), noise_of(times.steps)};
        files_.jobs.push_back({path.string(), std::move(job)});
    }

    const LoadScenario& load_;
    Diagnostics& diagnostics_;
    ClusterRecords files_;
};

}  // namespace

ClusterRecords read_cluster_records(const std::vector<fs::path>& files, const LoadScenario& load, Diagnostics& diagnostics) {
    return RecordsReader(load, diagnostics).read(files);
}

std::size_t count_measurements(const std::vector<fs::path>& files, Diagnostics& diagnostics) {
    std::size_t measurements = 0;
    for (const fs::path& path : files)
        if (const auto text = read_text_file(path, diagnostics))
            measurements += kind_of(*text, path.string()) == FileKind::measurements ? 1 : 0;
    return measurements;
}

}  // namespace sextant
