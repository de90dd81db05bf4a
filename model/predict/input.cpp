#include "model/predict/input.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/base/overloaded.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// The fraction of a host's memory that processes, pinned buffers and the system leave to its page cache: our guess.
constexpr double page_cache_part = 0.8;

// The values of one sample as a loader hands them on, and the type in which they go to the device: numbers of 32 bits, tokens of 64, as the
// tensors of PyTorch have them.
struct InputValues {
    double count = 0;
    Bytes each = Bytes::from_si(4);
};
InputValues input_values(const Workload& w) {
    const auto image = [](std::int64_t channels, std::int64_t px) { return InputValues{static_cast<double>(channels * px * px)}; };
    return std::visit(Overloaded{[&](const TransformerSpec& t) {
                                     if (t.kind == TransformerKind::vision) return image(t.channels, t.image_px);
                                     return InputValues{static_cast<double>(t.seq_len + t.decoder_seq_len), Bytes::from_si(8)};
                                 },
                                 [&](const ConvolutionalSpec& c) { return image(c.channels, c.image_px); },
                                 [](const MlpSpec& m) { return InputValues{static_cast<double>(m.widths.front())}; },
                                 [](const ChainSpec& c) {
                                     double count = 1;
                                     for (const std::int64_t extent : c.input_shape) count *= static_cast<double>(extent);
                                     return InputValues{count};
                                 },
                                 [&](const GraphSpec& g) {
                                     if (const std::int64_t tokens = w.tokens_per_sample(); tokens > 0)
                                         return InputValues{static_cast<double>(tokens), Bytes::from_si(8)};
                                     const OperatorGraph& first = g.network.block(0).graph;
                                     InputValues values;
                                     for (const TensorId id : first.inputs())
                                         if (first.tensor(id).role != TensorRole::index) values.count += first.tensor(id).elements();
                                     return values;
                                 }},
                      w.spec);
}

// Ranks of one tensor and context group see the same samples: one of them reads. Where a group is wider than a node, some nodes do not.
void place_readers(InputJob& in, const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    const int group = plan.tp * plan.cp;
    const int of_node = std::clamp(devices_of_node(job) / group, 1, plan.dp);
    in.readers = of_node;
    in.all_readers = plan.dp;
    in.nodes = plan.node_ranks.empty() ? std::ceil(in.all_readers / in.readers) : std::min<double>(plan.dp, used_nodes(job.scenario));
    in.samples = static_cast<double>(plan.global_batch) / plan.dp;
}

void place_workers(InputJob& in, const DataSource& data, const Prepared::State& job) {
    const NodeSpec& node = job.scenario.cluster.node;
    in.micro_batches = static_cast<double>(job.micro_batches);
    in.ahead = std::min(in.micro_batches, static_cast<double>(waiting_batches(data)));
    in.node.workers = in.readers * std::max(1, data.workers);
    in.node.cores = node.host.cores > 0 ? cores_of_job(job.scenario) : in.node.workers + devices_of_node(job);
    in.node.network = job.nodes.network;
    // A core drives the device, or is the device, or one of its cores.
    const double of_device = node.device.kind == DeviceKind::cpu ? std::max(1.0, static_cast<double>(node.host.cores) / node.devices) : 1;
    in.busy_cores = std::min(std::min(devices_of_node(job), job.used_devices()) * of_device, in.node.cores);
}

void place_copies(InputJob& in, const DataSource& data, const Prepared::State& job) {
    const NodeSpec& node = job.scenario.cluster.node;
    if (node.device.kind == DeviceKind::cpu) return;
    const InputValues values = input_values(job.scenario.workload);
    in.input = values.count * values.each;
    in.copies = data.by_sample ? in.samples : static_cast<double>(job.micro_batches);
    in.by_sample = data.by_sample;
    in.link = {job.nodes.host_copy / std::min<double>(std::max(1, node.devices_per_switch), in.readers), data.pinned};
}

StorageClass cached_part_of(const StorageClass& storage) {
    StorageClass memory = page_cache();
    // A file that NFS has cached is still asked for when it is opened (nfs(5), close-to-open cache consistency): one more round trip.
    if (storage.kind == StorageKind::nfs) memory.open_latency = storage.seek_latency;
    return memory;
}

// The samples of one epoch, as they are read from the storage of the dataset, and from that to which they are staged.
struct EpochSamples {
    double count = 0;
    Bytes bytes;
    Shuffle shuffle = Shuffle::none;
    SampleAccess access, staged_access;
};
EpochSamples samples_of_epoch(const DataSource& data) {
    EpochSamples all;
    all.shuffle = shuffle_of(data);
    all.access = sample_access(data.format, all.shuffle, data.sample_bytes, data.samples_per_file);
    const bool unpacked = data.staging.mode == StagingMode::untar;
    all.staged_access = unpacked ? sample_access(DataFormat::files, all.shuffle, data.sample_bytes, {}) : all.access;
    all.count = static_cast<double>(data.samples.value_or(0));
    all.bytes = all.count * all.access.bytes;
    return all;
}

// Before the first step; else the workers keep what they read in the first epoch.
bool stages_ahead(const Staging& staging) { return staging.mode == StagingMode::copy || staging.mode == StagingMode::untar; }

void place_staging(InputJob& in, const DataSource& data, const EpochSamples& all, const Prepared::State& job) {
    const Staging& staging = data.staging;
    if (staging.mode == StagingMode::none) return;
    // In a fixed order a node always reads the same part.
    const double own = all.shuffle == Shuffle::none ? 1 / in.nodes : 1;
    in.staged = staging.to->capacity && all.bytes > Bytes{} ? std::min(1.0, staging.to->capacity->value / (own * all.bytes)) : 1;
    if (!stages_ahead(staging)) return;
    in.copy = StagingJob{.from = *data.storage,
                         .to = *staging.to,
                         .format = data.format,
                         .sample = data.sample_bytes,
                         .samples_per_file = data.samples_per_file,
                         .samples = in.staged * own * all.count,
                         .mode = staging.mode,
                         .nodes = in.nodes,
                         .others = data.others,
                         .network = job.nodes.network};
    in.staging = staging_time(*in.copy);
}

// `memory`: of a node, for its page cache.
void place_cache(InputJob& in, const DataSource& data, const EpochSamples& all, Bytes memory, const Scenario& s) {
    if (!(all.bytes > Bytes{}) || data.storage->kind == StorageKind::memory) return;
    std::optional<double> epochs = samples_of_run(s);
    if (epochs) *epochs /= all.count;
    in.cached = page_cache_hits(memory / all.bytes, static_cast<int>(in.nodes), all.shuffle, epochs);
}

// Where the samples of the first epoch and of later ones are.
void place_sources(InputJob& in, const DataSource& data, const EpochSamples& all, Bytes memory) {
    const StorageClass& storage = *data.storage;
    const Staging& staging = data.staging;
    const bool ahead = stages_ahead(staging);
    const double kept = all.bytes > Bytes{} ? std::min(1 / in.nodes, memory / all.bytes) : 0;
    const auto read = [&](const SampleAccess& a, const StorageClass& from, double share, Seconds beside) {
        return SampleSource{from, with_read_ahead(a, from, kept), share, beside};
    };
    const Seconds keep = ahead || staging.mode == StagingMode::none ? Seconds{} : write_time(all.access, *staging.to);
    in.first = {read(all.access, storage, ahead ? 1 - in.staged : 1, in.staged * keep)};
    // What staging wrote is still in memory, where all of it fits.
    if (ahead) in.first.push_back(read(all.staged_access, in.cached < 1 ? *staging.to : page_cache(), in.staged, {}));
    const double missed = 1 - in.cached;
    in.later = {read(all.access, storage, missed * (1 - in.staged), {}),
                {cached_part_of(storage), all.access, in.cached * (1 - in.staged), {}}};
    if (in.staged > 0) {
        in.later.push_back(read(all.staged_access, *staging.to, missed * in.staged, {}));
        in.later.push_back({page_cache(), all.staged_access, in.cached * in.staged, {}});
    }
}

void place_samples(InputJob& in, const DataSource& data, const Prepared::State& job) {
    const HostSpec& host = job.scenario.cluster.node.host;
    const Bytes memory = data.page_cache.value_or(page_cache_part * host.memory.value);
    const EpochSamples all = samples_of_epoch(data);
    place_staging(in, data, all, job);
    place_cache(in, data, all, memory, job.scenario);
    place_sources(in, data, all, memory);
    const StoredSample stored{data.format, data.encoding, data.sample_bytes, data.decoded_bytes};
    in.writing = all.count * (write_time(all.access, *data.storage) + writing_work(stored, thread_of(host)));
}

LoaderRate rate_of(const InputJob& in, const std::vector<SampleSource>& sources, const Resources& r) {
    const double full_nodes = in.all_readers / in.readers;  // what is shared, is by readers
    return loader_rate(sources, in.work, in.node, {full_nodes, in.others},
                       {r.storage, r.storage_operations, r.loader_workers, r.loader_cores});
}

Seconds loading_time(const InputJob& in, const LoaderRate& rate) { return in.readers * in.samples / rate.samples; }

Seconds copy_time(const InputJob& in, const Resources& r) {
    HostCopy link = in.link;
    if (!(in.input > Bytes{})) return {};
    link.bandwidth *= r.host_link;
    return host_copy_time(in.samples * in.input, in.copies, link);
}

// How long the cores of a node are busy with a step that takes this long, and with the loader's threads.
Seconds on_cores(const InputJob& in, const LoaderRate& rate, Seconds step) {
    return (in.busy_cores * step + in.readers * in.samples * rate.work) / in.node.cores;
}

// Loading that is not hidden adds to the step; loading that is hidden delays it where it takes longer, and so do busy cores. While a step
// takes no samples the queue fills up; what the queue cannot hold has to come while the step takes samples, the last of it by a copy.
Seconds wait_for(const InputJob& in, const LoaderRate& rate, const StepWithoutInput& rest, const Resources& r) {
    const Seconds loading = loading_time(in, rate), copies = copy_time(in, r);
    Seconds step = rest.time;
    if (!in.link.pinned || !(in.ahead > 0)) step += copies;
    if (!(in.ahead > 0)) return step + loading - rest.time;
    const double late = 1 - in.ahead / in.micro_batches;
    const Seconds last_copy = late > 0 && in.link.pinned ? copies / in.micro_batches : Seconds{};
    const Seconds behind_queue = max(Seconds{}, late * loading + last_copy - rest.taking);
    return max(max(step + behind_queue, copies), max(loading, on_cores(in, rate, step))) - rest.time;
}

LoaderRate told(const InputJob& in, LoaderRate rate, Seconds rest) {
    if (in.ahead > 0 && on_cores(in, rate, rest) > loading_time(in, rate)) rate.limit = LoaderLimit::cores;
    return rate;
}

}  // namespace

int devices_of_node(const Prepared::State& job) {
    const Scenario& s = job.scenario;
    const int nodes = used_nodes(s);
    return s.plan.scattered ? ceil_divide(s.plan.devices(), nodes) : job.nodes.devices;
}

std::optional<InputJob> input_job(const DataSource& data, const Prepared::State& job) {
    if (data.synthetic) return {};
    InputJob in;
    place_readers(in, job);
    place_workers(in, data, job);
    place_copies(in, data, job);
    place_samples(in, data, job);
    const bool unpacked = data.staging.mode == StagingMode::untar;
    in.values = input_values(job.scenario.workload).count * Bytes::from_si(1);
    in.work = sample_work({unpacked ? DataFormat::files : data.format, data.encoding, data.sample_bytes, data.decoded_bytes},
                          transform_of(data), in.values, thread_of(job.scenario.cluster.node.host));
    in.others = data.others;
    if (data.samples) in.steps_per_epoch = static_cast<double>(*data.samples) / static_cast<double>(job.scenario.plan.global_batch);
    return in;
}

StepWithoutInput without_input(const Estimate& e) { return {e.step - e.terms[Term::input], e.taking}; }

Seconds input_wait(const InputJob& in, const StepWithoutInput& rest, const Resources& r) {
    return wait_for(in, rate_of(in, in.later, r), rest, r);
}

InputEstimate estimate_input(const InputJob& in, const StepWithoutInput& rest, const Resources& r) {
    InputEstimate e;
    e.first = told(in, rate_of(in, in.first, r), rest.time);
    e.later = told(in, rate_of(in, in.later, r), rest.time);
    e.first_loading = loading_time(in, e.first);
    e.later_loading = loading_time(in, e.later);
    e.first_wait = wait_for(in, e.first, rest, r);
    e.copies = copy_time(in, r);
    e.steps_per_epoch = in.steps_per_epoch;
    e.cached = in.cached;
    e.staged = in.staged;
    e.staging = in.staging;
    e.writing = in.writing;
    return e;
}

LoaderPrices loader_prices(const InputJob& in, const Prepared::State& job) {
    const LoaderRate rate = rate_of(in, in.later, {});
    const PricedLoad one = price_load(in, 1);
    LoaderPrices prices;
    prices.pace = rate.unhindered * in.node.workers / in.readers * one.bytes / (rate.reading + rate.work);
    prices.kernel_cores = in.busy_cores / job.used_devices();
    for (const SampleSource& source : in.later)
        for (const StorageDemand& d : storage_demands(source, in.node.network, in.others)) {
            const auto shared_by = d.limit == LoaderLimit::network ? LoaderShare::SharedBy::network
                                   : d.of_node                     ? LoaderShare::SharedBy::node
                                                                   : LoaderShare::SharedBy::all_nodes;
            prices.shares.push_back({std::string(short_text(d.limit)), shared_by, d.per_second, d.of_sample / one.bytes.si()});
        }
    prices.shares.push_back(
        {std::string(short_text(LoaderLimit::cores)), LoaderShare::SharedBy::node, in.node.cores, rate.work.si() / one.bytes.si()});
    return prices;
}

PricedLoad price_load(const InputJob& in, double samples) {
    const LoaderRate rate = rate_of(in, in.later, {});
    PricedLoad load{{}, rate.reading / (rate.reading + rate.work)};
    for (const SampleSource& source : in.later) load.bytes += samples * source.share * source.access.bytes;
    return load;
}

Seconds price_copy(const InputJob& in, double samples) { return host_copy_time(samples * in.input, in.by_sample ? samples : 1, in.link); }

}  // namespace sextant
