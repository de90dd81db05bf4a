// Rows of loading benchmarks.
#include "model/io/measurement/measurement_fields.hpp"

#include <map>
#include <set>
#include <tuple>

namespace sextant {
namespace {

// Rows of a system lie in one folder of its submitter.
std::string folder_of(const LoadingRow& row) { return row.system.substr(0, row.system.rfind('/')); }

// Whose folder is called after a number of accelerators ("unet3d_8acc") has run with others too.
bool is_of_series(const LoadingRow& row) {
    const std::string count = "_" + std::to_string(row.accelerators) + "acc";
    return row.system.ends_with(count);
}

}  // namespace

LoadingRow read_loading(RowFields& f, RowHeader header) {
    LoadingRow row;
    row.header = std::move(header);
    if (RowFields hardware{f.get("hardware")}) {
        hardware.optional("system", row.system);
        hardware.optional("submitter", row.submitter);
        hardware.optional("hosts", row.hosts, rank_counts);
        hardware.optional("node_read_bytes_per_s", row.node_bandwidth, InSi{positive});
    }
    if (RowFields workload{f.get("workload")}) {
        workload.required("workload", row.workload);
        workload.optional("emulated_accelerator", row.emulated_accelerator);
        workload.required("num_accelerators", row.accelerators, rank_counts);
        workload.optional("num_files_train", row.files, large_counts);
        workload.optional("samples_per_file", row.samples_per_file, large_counts);
        double mebibytes = 0;  // MLPerf Storage: 114,660 bytes are 0.10935
        workload.optional("mb_per_sample", mebibytes, not_negative);
        row.sample = mebibytes * units::MiB;
    }
    RowFields measured{f.get("measured")};
    measured.optional("samples_per_s", row.samples_per_second, InSi{positive});
    measured.optional("accelerator_utilization", row.accelerator_utilization, fraction);
    return row;
}

void define_workloads(RowFields& source, std::vector<MeasurementRow>& rows) {
    for (const JsonNode& node : source.get("workload_definitions").elements()) {
        RowFields f{node};
        EmulatedTraining training;
        std::string workload, accelerator;
        std::optional<Seconds> computation;
        f.required("workload", workload);
        f.required("accelerator", accelerator);
        f.required("batch_size", training.batch, large_counts);
        f.optional("computation_time_s", computation, InSi{positive});
        f.optional("read_threads", training.threads, rank_counts);
        f.optional("format", training.format);
        double least = 0;
        f.optional("au_threshold", least, fraction);
        if (least > 0) training.least_utilization = least;
        if (!computation) continue;
        training.computation = *computation;
        for (MeasurementRow& row : rows)
            if (auto* loading = std::get_if<LoadingRow>(&row))
                if (loading->workload == workload && loading->emulated_accelerator == accelerator) loading->training = training;
    }
}

// The most of a system, of several that are known; one by itself is the most that a submitter got to, unless others are left out here.
void compare_accelerators(std::vector<MeasurementRow>& rows) {
    const auto key = [](const LoadingRow& r) { return std::tuple(folder_of(r), r.workload, r.emulated_accelerator, r.hosts); };
    std::map<decltype(key(LoadingRow{})), std::set<int>> of_system;
    for (const MeasurementRow& row : rows)
        if (const auto* r = std::get_if<LoadingRow>(&row)) of_system[key(*r)].insert(r->accelerators);
    for (MeasurementRow& row : rows)
        if (auto* r = std::get_if<LoadingRow>(&row)) {
            const std::set<int>& all = of_system[key(*r)];
            r->most_accelerators = r->accelerators == *all.rbegin() && (all.size() > 1 || !is_of_series(*r));
        }
}

}  // namespace sextant
