// What a real run leaves: what it was, where it ran, what it learned and how long it took.
#pragma once

#include "model/graph/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct RankEnvironment {
    int rank = 0;
    std::string host, processor;
    int threads = 1;                 // that compute; one more communicates
    Bytes peak_memory;               // of the arrays that training holds
    Bytes peak_resident;             // of the process
    Bytes offloaded{};               // arrays in memory of the host, where the plan offloads: at their peak
    std::optional<Frequency> clock;  // of its core when the steps were through, where the system tells
};

struct LibraryVersion {
    std::string name, version;
};

// One tensor of the serial network after the last step: two sums over its elements.
struct ParameterSummary {
    int block = 0;
    std::string name;
    double elements = 0, norm = 0, product = 0;  // product: with numbers that depend only on the tensor and the element
};

// All calls of an operator in one kind of pass: in the step that is traced, by all ranks together.
struct OperatorTime {
    int block_template = 0;             // into Network::templates
    std::optional<int> operator_index;  // in its graph; none for sums of the gradients of tensors that several operators read
    std::string block, name;
    SpanKind kind = SpanKind::forward;
    double calls = 0;
    Seconds time;  // on the device, without what lies between operators
};
// Stands in for an operator's name where the gradients of a tensor that several operators read are added up.
inline constexpr std::string_view gradient_sums_name = "sums of gradients";

// With parameter servers: what workers sent and what servers applied, counted on either side. A checksum is the sum of the bits of all
// gradients, modulo 2^32.
struct ServerSummary {
    double updates_pushed = 0, updates_applied = 0;  // one for each block, worker, server and micro-batch or step
    double checksum_pushed = 0, checksum_applied = 0;
    std::vector<int> staleness;  // asynchronous: the number of workers' steps, by how many updates old their weights were
};

// For fp16: the loss scale after the last step, and how many steps were skipped because it was too large.
struct LossScaleSummary {
    double last = 1;
    int skipped = 0;
};

// Where a dataset was read. Times are of workers, summed over all ranks that read.
struct DatasetSummary {
    std::string path, format;
    double samples = 0;  // that it has
    int workers = 0;     // of each rank that reads
    double loaded = 0;   // samples loaded by all ranks together, counted each time
    double skipped = 0;  // bad samples, each counted once
    Seconds reading, decoding;
    Bytes read;
    Seconds copy, unpack;  // to storage nearby, before the first step
    Seconds remove;        // from there, after the last one

    [[nodiscard]] Seconds staging() const { return copy + unpack + remove; }
};

struct RunRecord {
    std::string scenario, scenario_file;
    std::vector<std::string> overrides;
    std::map<std::string, std::string> settings;  // job_settings(); empty in records from before they were kept
    std::string backend;                          // "cpu"
    std::uint64_t seed = 1;
    std::vector<RankEnvironment> ranks;
    std::vector<LibraryVersion> libraries;
    std::vector<double> losses;      // by step; empty without backward
    std::vector<double> mtp_losses;  // by step, the mean over the modules for multi-token prediction; empty without them
    std::vector<Seconds> steps;      // time of each
    // By step of a mixture of experts: the rows of the fullest expert of a layer over the mean of its experts, averaged over the layers.
    std::vector<double> expert_imbalance;
    std::vector<double> expert_rank_imbalance;  // the same for all experts of a rank together: MixtureOfExperts::imbalance
    int traced_step = 0;                        // the step that `trace` is of: the one of median time, the first left out if there are more
    int steps_in_trace = 1;                     // of each worker, from that one on: several where workers do not wait for each other
    Trace trace;
    std::vector<ParameterSummary> parameters;  // where asked for
    std::vector<OperatorTime> operators;       // where asked for; by block, in their order there
    std::optional<ServerSummary> servers;
    std::optional<DatasetSummary> dataset;
    std::optional<LossScaleSummary> loss_scale;

    [[nodiscard]] Seconds step() const { return trace.end / steps_in_trace; }  // of the trace
};

}  // namespace sextant
