#include "model/predict/loading.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using namespace units;

// The time of the benchmark's own loop for each batch, which nothing hides: one accelerator alone, with batches of one sample and 3.5 ms of
// computation each, is at work for 82.6 % (YanRong) and 80.7 % (Juicedata) of the time in MLPerf Storage v1.0.
constexpr Seconds loop = 0.79 * ms;

// The rate on a host with this many accelerators. What hosts share is divided among those that would have as many.
LoaderRate rate_of(const StorageBenchmark& b, double of_host, double hosts, double cached) {
    const BenchmarkTraining& t = *b.training;
    LoaderNode node;
    node.workers = node.cores = of_host * std::max(1, t.readers);
    node.network = b.network.value_or(Bandwidth{});
    const SampleAccess access = sample_access(t.format, t.shuffle, t.sample, t.samples_per_file);
    const Seconds work = sample_work({t.format, t.encoding, t.sample, {}}, Transform::none, Bytes{}, {}) + t.preparation;
    return loader_rate({{b.storage, access, 1 - cached, {}}, {page_cache(), access, cached, {}}}, work, node, {hosts, b.other_jobs});
}

bool enough(const StorageBenchmark& b, int accelerators) {
    return estimate_loading(b, accelerators).utilization >= *b.training->least_utilization;
}

// More accelerators never wait less.
std::optional<int> most_accelerators(const StorageBenchmark& b) {
    if (!b.training->least_utilization || enough(b, most_emulated)) return {};
    int enough_for = 0, too_many = most_emulated;
    while (too_many - enough_for > 1) {
        const int n = (enough_for + too_many) / 2;
        (enough(b, n) ? enough_for : too_many) = n;
    }
    return enough_for;
}

EmulatedRun training_run(const StorageBenchmark& b, std::optional<int> most, int accelerators) {
    const BenchmarkTraining& t = *b.training;
    EmulatedRun run;
    run.most = most;
    run.cached = page_cache_hits(b.page_cache / (t.samples() * t.sample), b.hosts, t.shuffle, static_cast<double>(t.epochs));
    run.first = estimate_loading(b, accelerators);
    run.later = estimate_loading(b, accelerators, run.cached);
    run.steps = static_cast<std::int64_t>(std::floor(t.samples() / t.batch / accelerators));
    if (t.steps) run.steps = std::min(run.steps, *t.steps);
    run.first_epoch = static_cast<double>(run.steps) * run.first.batch;
    run.later_epoch = static_cast<double>(run.steps) * run.later.batch;
    return run;
}

double writes_of(const BenchmarkCheckpoint& c, const std::optional<BenchmarkTraining>& t, std::int64_t steps) {
    if (!t) return static_cast<double>(c.writes.value_or(1));
    const std::int64_t of_epoch = c.every_steps ? steps / *c.every_steps : 0;
    if (c.every_steps) return static_cast<double>(t->epochs) * static_cast<double>(of_epoch);
    const std::int64_t later = (t->epochs - c.first_epoch) / c.every_epochs;
    return t->epochs < c.first_epoch ? 0 : static_cast<double>(1 + later);
}

CheckpointRun checkpoint_run(const StorageBenchmark& b, int accelerators, std::int64_t steps) {
    const BenchmarkCheckpoint& c = *b.checkpoint;
    CheckpointRun run;
    run.writers = c.writers.value_or(accelerators);
    const CheckpointWriters writers{static_cast<double>(run.writers), static_cast<double>(std::min(b.hosts, run.writers)),
                                    b.network.value_or(Bandwidth{}), 1 - b.other_jobs};
    run.write = checkpoint_time(c.size, b.storage, writers);
    run.read = checkpoint_read_time(c.size, b.storage, writers);
    run.writes = writes_of(c, b.training, steps);
    return run;
}

}  // namespace

LoadingEstimate estimate_loading(const StorageBenchmark& b, int accelerators, double cached) {
    const BenchmarkTraining& t = *b.training;
    const double of_host = std::ceil(static_cast<double>(accelerators) / b.hosts);  // that has most: all meet at a barrier
    const LoaderRate rate = rate_of(b, of_host, accelerators / of_host, cached);
    const Seconds alone = t.computation + loop, loading = of_host * t.batch / rate.samples;
    LoadingEstimate e;
    e.batch = t.readers == 0 ? alone + loading : max(alone, loading);
    if (b.has_most_accelerators && t.least_utilization) {
        // With one more of the n in each host a batch would take (n + 1) / n times as long, which is longer than
        // this: the middle of what that leaves.
        const Seconds longest = t.computation / *t.least_utilization;
        e.batch = min(longest, max(e.batch, (1 - 0.5 / (of_host + 1)) * longest));
    }
    if (loading > alone || t.readers == 0) e.limit = rate.limit;
    e.utilization = t.computation / e.batch;
    e.samples = t.batch * accelerators / e.batch;
    return e;
}

StorageEstimate estimate(const StorageBenchmark& b) {
    StorageEstimate e;
    const std::optional<int> most = b.training ? most_accelerators(b) : std::nullopt;
    e.accelerators = b.accelerators.value_or(std::max(1, most.value_or(1)));
    if (b.training) {
        e.training = training_run(b, most, e.accelerators);
        e.run = e.training->first_epoch + static_cast<double>(b.training->epochs - 1) * e.training->later_epoch;
    }
    if (b.checkpoint) {
        e.checkpoint = checkpoint_run(b, e.accelerators, e.training ? e.training->steps : 0);
        e.run += e.checkpoint->writes * e.checkpoint->write;
    }
    return e;
}

}  // namespace sextant
