#include "model/cost/staging.hpp"

namespace sextant {
namespace {

// What one node writes at most.
std::optional<Bandwidth> node_write(const StorageClass& s) {
    if (s.client_write_bandwidth) return s.client_write_bandwidth->value;
    if (!s.shared) return s.write_bandwidth->value;
    return {};
}

}  // namespace

// Linux brings what was written to storage after vm.dirty_expire_centisecs, 30 s unless somebody changed them.
StagingTime StagingTime::after(Seconds time) const {
    StagingTime t = *this;
    if (time < 30 * units::s) t.remove = remove_unwritten;
    return t;
}

SampleSource copied_from(const StagingJob& job) {
    return {job.from, sample_access(job.format, Shuffle::none, job.sample, job.samples_per_file), 1, {}};
}

// One process on each node copies file by file: it opens, reads, creates and writes each. All nodes read at the same time.
StagingTime staging_time(const StagingJob& job) {
    const SampleAccess in_files = sample_access(DataFormat::files, Shuffle::none, job.sample, {});
    SampleSource source = copied_from(job);
    const SampleAccess as_stored = source.access;
    const LoaderNode one{1, 1, job.network};
    StagingTime t;
    source.keep = write_time(as_stored, job.to);
    t.copy = job.samples / loader_rate({source}, Seconds{}, one, {job.nodes, job.others}).samples;
    double files = job.samples * opens_of(as_stored, job.to);
    if (job.mode == StagingMode::untar) files += job.samples;
    t.remove = files * job.to.remove_latency->value;
    t.remove_unwritten = files * job.to.remove_unwritten_latency.value_or(*job.to.remove_latency).value;
    if (job.mode != StagingMode::untar) return t;
    SampleAccess streamed = as_stored;
    streamed.opens = streamed.seeks = streamed.at_places = 0;
    t.unpack = job.samples * (read_time(streamed, job.to) + write_time(in_files, job.to));
    return t;
}

Seconds checkpoint_time(Bytes bytes, const StorageClass& s, const CheckpointWriters& writers) {
    Bandwidth rate = writers.count * s.write_bandwidth->value;
    if (const auto node = node_write(s)) rate = min(rate, writers.nodes * *node);
    if (s.shared && writers.network > Bandwidth{}) rate = min(rate, writers.nodes * writers.network);
    if (s.shared && s.total_write_bandwidth) rate = min(rate, writers.left * s.total_write_bandwidth->value);
    const auto& rate_of_files = s.create_rate ? s.create_rate : s.metadata_rate;
    const Seconds creates = s.shared && rate_of_files ? writers.count / (writers.left * rate_of_files->value) : Seconds{};
    return max(creates, s.create_latency->value) + bytes / rate;
}

// Reading opens what is there, and is limited by what limits readers.
Seconds checkpoint_read_time(Bytes bytes, const StorageClass& storage, const CheckpointWriters& writers) {
    StorageClass s = storage;
    s.create_latency = s.open_latency;
    s.create_rate = {};
    s.write_bandwidth = s.read_bandwidth;
    s.client_write_bandwidth = s.client_read_bandwidth;
    s.total_write_bandwidth = s.total_read_bandwidth;
    return checkpoint_time(bytes, s, writers);
}

}  // namespace sextant
