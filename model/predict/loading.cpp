#include "model/predict/loading.hpp"

#include "model/cost/input.hpp"

namespace sextant {
namespace {

using namespace units;

// Of the benchmark's own loop for each batch, which nothing hides: one accelerator alone, with batches of one sample and 3.5 ms of
// computation each, is at work for 82.6 % (YanRong) and 80.7 % (Juicedata) of the time in MLPerf Storage v1.0.
constexpr Seconds loop = 0.79 * ms;

}  // namespace

Seconds sample_time(const LoadingBenchmark& b) {
    StorageClass storage;
    storage.kind = StorageKind::parallel;
    storage.shared = true;
    complete(storage);
    if (b.node_bandwidth) storage.client_read_bandwidth = {*b.node_bandwidth, SourceKind::datasheet, "the row"};
    const double of_host = static_cast<double>(b.accelerators) / b.hosts;
    LoaderNode node;
    node.workers = node.cores = of_host * b.threads;
    const SampleAccess access = sample_access(b.format, Shuffle::window, b.sample, b.samples_per_file);
    const Seconds work = facts_of(b.format).library.value;
    const LoaderRate rate = loader_rate({{storage, access, 1, {}}}, work, node, b.hosts, 0);
    Seconds of_batch = max(b.computation + loop, of_host * b.batch / rate.samples);
    if (b.least_utilization) {
        // With one more of the n in each host a batch would take (n + 1) / n times as long, which is longer than this: the middle of what
        // that leaves.
        const Seconds longest = b.computation / *b.least_utilization;
        of_batch = min(longest, max(of_batch, (1 - 0.5 / (of_host + 1)) * longest));
    }
    return of_batch / (b.batch * b.accelerators);
}

}  // namespace sextant
