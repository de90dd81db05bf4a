#include "model/io/format/json_text.hpp"
#include "model/io/report/storage_report_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const LoadingEstimate& e, const BenchmarkTraining& t, Seconds epoch) {
    return {{"batch_time_s", e.batch.si()},
            {"utilization", e.utilization},
            {"samples_per_s", e.samples.si()},
            {"read_bytes_per_s", read_bandwidth(e, t).si()},
            {"limit", e.limit ? Json(short_text(*e.limit)) : Json(nullptr)},
            {"epoch_time_s", epoch.si()}};
}

Json json_of(const EmulatedRun& run, const BenchmarkTraining& t) {
    return {{"least_utilization", t.least_utilization ? Json(*t.least_utilization) : Json(nullptr)},
            {"most_accelerators", run.most ? Json(*run.most) : Json(nullptr)},
            {"dataset_bytes", (t.samples() * t.sample).si()},
            {"epochs", t.epochs},
            {"steps_per_epoch", run.steps},
            {"cached", run.cached},
            {"first_epoch", json_of(run.first, t, run.first_epoch)},
            {"later_epochs", json_of(run.later, t, run.later_epoch)}};
}

Json json_of(const CheckpointRun& run, const BenchmarkCheckpoint& c) {
    return {
        {"bytes", c.size.si()}, {"writers", run.writers}, {"write_s", run.write.si()}, {"read_s", run.read.si()}, {"writes", run.writes}};
}

}  // namespace

std::string storage_report_to_json(const StorageReport& r) {
    const StorageBenchmark& b = r.benchmark;
    Json json = {{"schema", "storage-report/1"},
                 {"benchmark", b.title},
                 {"storage", b.storage.name},
                 {"hosts", b.hosts},
                 {"accelerators", r.estimate.accelerators},
                 {"run_time_s", r.estimate.run.si()}};
    if (b.training) json["training"] = json_of(*r.estimate.training, *b.training);
    if (b.checkpoint) json["checkpoint"] = json_of(*r.estimate.checkpoint, *b.checkpoint);
    json["notes"] = b.notes;
    return json_document(json);
}

}  // namespace sextant
