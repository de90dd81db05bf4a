// What the facade answers about published measurements.
#include "model/cost/collectives.hpp"
#include "model/io/measurement/measurement_evaluation.hpp"
#include "model/io/measurement/measurement_split.hpp"
#include "model/io/measurement/published_document.hpp"
#include "model/predict/loading.hpp"
#include "model/report/uncertainty.hpp"
#include "model/sextant.hpp"

#include <algorithm>

namespace sextant {
namespace {

RowPrediction predict_training(const Scenario& scenario) {
    const Prepared job = prepare(scenario);
    const Estimate e = estimate(job);
    const Uncertainty sure = find_uncertainty(job, e);
    return {e.step, sure.low, sure.high, e.peak_memory, e.peak_allocated(), e.fits()};
}

LibraryCall library_call(const CollectiveScenario& c) {
    const Topology topology = Topology::build(c.cluster, c.cluster.nodes, c.library.sockets_only);
    const auto what = find_collective(c.collective);
    if (!what)
        throw InputError(Diagnostic{"", "/collective", "\"" + c.collective + "\" is no collective that is known here",
                                    "one of: all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv"});
    LibraryCall call;
    call.library = c.library;
    call.what = *what;
    call.size = c.size;
    call.group = group_of_call(*what, topology, c.members, group_machine(c.cluster));
    if (c.library.launch) call.at_least = c.devices_of_process * c.library.launch->value;
    return call;
}

Seconds predict_collective(const CollectiveScenario& c) { return time_of(library_call(c)); }

// Bundled files by their path in the repository, others as the user named them.
std::string shown_path(const Library& library, const std::filesystem::path& path) {
    const std::filesystem::path inside = path.lexically_relative(library.root);
    return inside.empty() || *inside.begin() == ".." ? path.string() : inside.generic_string();
}

bool is_bundled(const Library& library, const std::filesystem::path& path) {
    return shown_path(library, std::filesystem::absolute(path)).starts_with("measurements/");
}

std::vector<MeasurementFile> load_all(Library& library, const std::vector<std::filesystem::path>& files) {
    Diagnostics diagnostics;
    std::vector<MeasurementFile> loaded;
    loaded.reserve(files.size());
    for (const std::filesystem::path& path : files) loaded.push_back(load_measurements(path, diagnostics));
    library.check_read(diagnostics);
    return loaded;
}

// Nothing is known of most systems but how many accelerators they keep at work.
StorageClass storage_of(const LoadingRow& row) {
    StorageClass storage;
    storage.name = row.system;
    storage.kind = StorageKind::parallel;
    storage.shared = true;
    complete(storage);
    if (row.node_bandwidth) storage.client_read_bandwidth = {*row.node_bandwidth, SourceKind::datasheet, "the row"};
    return storage;
}

StorageBenchmark benchmark_of(const LoadingRow& row) {
    if (!row.training) throw InputError(Diagnostic{row.header.file, row.header.pointer, "the source does not define what is emulated", ""});
    const EmulatedTraining& emulated = *row.training;
    StorageBenchmark b;
    b.title = row.workload + " on emulated " + row.emulated_accelerator + ", " + row.header.id;
    b.file = row.header.file;
    b.storage = storage_of(row);
    b.hosts = row.hosts;
    b.accelerators = row.accelerators;
    b.has_most_accelerators = row.most_accelerators;
    BenchmarkTraining& t = b.training.emplace();
    t.batch = static_cast<double>(emulated.batch);
    t.computation = emulated.computation;
    t.readers = emulated.threads;
    t.sample = row.sample;
    t.format = emulated.format == "tfrecord" && row.samples_per_file > 1 ? DataFormat::tfrecord : DataFormat::files;
    t.files = std::max<std::int64_t>(1, row.files);
    t.samples_per_file = row.samples_per_file;
    t.least_utilization = emulated.least_utilization;
    return b;
}

// The time of one sample.
Seconds predict_loading(const LoadingRow& row) { return 1 / estimate_loading(benchmark_of(row), row.accelerators).samples; }

// The row of that name, and the job that it is. Throws InputError.
std::pair<MeasurementRow, Predictable> published_row(Library& library, const std::filesystem::path& file, std::string_view id) {
    const std::vector<MeasurementFile> files = load_all(library, {file});
    for (const MeasurementRow& row : files.front().rows) {
        if (header_of(row).id != id) continue;
        if (const auto* training = std::get_if<TrainingRow>(&row)) return {row, to_scenario(*training, measurement_sources(library))};
        if (const auto* loading = std::get_if<LoadingRow>(&row)) return {row, benchmark_of(*loading)};
        if (const auto* unread = std::get_if<UnreadRow>(&row)) throw InputError(unread->problems);
        throw InputError(Diagnostic{file.string(), header_of(row).pointer, "this row is no training run", ""});
    }
    throw InputError(Diagnostic{file.string(), "", "no row \"" + std::string(id) + "\"", "`sextant validate FILE --rows` lists them"});
}

}  // namespace

Predictable published_job(Library& library, const std::filesystem::path& file, std::string_view id) {
    return published_row(library, file, id).second;
}

PublishedRun published_run(Library& library, const std::filesystem::path& file, std::string_view id) {
    const auto [row, job] = published_row(library, file, id);
    const auto* training = std::get_if<TrainingRow>(&row);
    if (!training)
        throw InputError(Diagnostic{file.string(), header_of(row).pointer, "a published benchmark of storage is no scenario",
                                    "write it as a file of schema storage-benchmark/1 (docs/storage_benchmark.md)"});
    const Scenario& scenario = std::get<Scenario>(job);
    const auto described = measurement_sources(library).framework(scenario.framework.name).value_or(scenario.framework);
    ScenarioDocument document = published_document(scenario, described, file.string() + "#" + scenario.name);
    return {std::move(document), measured_step(*training, scenario), training->memory};
}

PublishedFit fit_to_measurements(Library& library, const std::vector<std::filesystem::path>& files, const std::function<void()>& progress) {
    const MeasurementSources names = measurement_sources(library);
    std::vector<TrainingRun> runs;
    std::vector<LibraryCall> calls;
    const auto add = [&](const MeasurementFile& file, const MeasurementRow& row) {
        if (const auto* r = std::get_if<TrainingRow>(&row)) {
            Scenario scenario = to_scenario(*r, names);
            const auto step = measured_step(*r, scenario);
            if (!step) return;
            static_cast<void>(prepare(scenario));
            runs.push_back(
                {file.path + "|" + model_of(*r) + "|" + r->hardware.gpu, std::move(scenario), *step, r->memory, r->memory_is_allocated});
        } else if (const auto* c = std::get_if<CollectiveRow>(&row); c && measured_time(*c)) {
            LibraryCall call = library_call(to_scenario(*c, names));
            call.measured = *measured_time(*c);
            call.curve = c->hardware.system + "|" + c->library + "|" + c->collective + "|" + std::to_string(c->ranks) +
                         (c->host_buffers ? "|host" : "");
            calls.push_back(std::move(call));
        }
    };
    for (const MeasurementFile& file : load_all(library, files)) {
        const std::vector<bool> fitted = fitting_half(file);
        for (std::size_t i = 0; i < file.rows.size(); ++i) {
            if (!fitted[i] || !header_of(file.rows[i]).counted()) continue;
            try {
                add(file, file.rows[i]);
            } catch (const InputError& error) {  // what validate shows as refused
                if (!is_of_row(error, header_of(file.rows[i]))) throw;
            }
        }
    }
    if (runs.empty() && calls.empty())
        throw InputError(Diagnostic{"", "", "no row of these files may be fitted to", "files of several models or machines"});
    PublishedFit found;
    if (!runs.empty()) found.training = fit_to_training(runs, progress);
    if (!calls.empty()) found.libraries = fit_to_calls(calls);
    return found;
}

Validation validate(Library& library, const std::vector<std::filesystem::path>& files,
                    const std::function<void(std::size_t done, std::size_t total)>& progress) {
    const std::vector<MeasurementFile> loaded = load_all(library, files);
    const MeasurementSources names = measurement_sources(library);
    const Predictors predictors{predict_training, predict_collective, predict_loading};
    std::size_t total = 0, done = 0;
    for (const MeasurementFile& file : loaded) total += file.rows.size();
    Validation validation;
    for (const MeasurementFile& file : loaded) {
        FileValidation& of_file = validation.files.emplace_back(FileValidation{shown_path(library, file.path), file.title, {}});
        // Nothing was fitted to what a user brings.
        const std::vector<bool> fitted = is_bundled(library, file.path) ? fitting_half(file) : std::vector<bool>(file.rows.size());
        for (std::size_t i = 0; i < file.rows.size(); ++i) {
            of_file.results.push_back(evaluate(file.rows[i], names, predictors));
            of_file.results.back().fitted = fitted[i];
            progress(++done, total);
        }
    }
    return validation;
}

}  // namespace sextant
