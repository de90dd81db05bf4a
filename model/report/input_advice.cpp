#include "model/report/input_advice.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/plan/job_storage.hpp"
#include "model/plan/partition.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sextant {
namespace {

constexpr double smallest_input_gain = 0.01;  // of the job: below, not worth a change

// What is compared: the whole run where its length is known, else one epoch, else a number of steps.
struct Length {
    double steps = 1000;
    std::string name = "1000 steps";
};
Length length_of(const Report& r) {
    if (r.run) return {r.run->steps, "this run"};
    if (r.input->steps_per_epoch > 0) return {r.input->steps_per_epoch, "an epoch"};
    return {};
}

class InputChanges {
public:
    InputChanges(const Prepared& job, const Report& r) : job_(job.state()), rest_(without_input(r.estimate)), length_(length_of(r)) {
        now_ = time_with(job_.scenario.data);
    }

    // One change of how samples are kept or read, where it gains something.
    void try_change(const std::string& what, const std::function<void(DataSource&)>& change) {
        DataSource data = job_.scenario.data;
        change(data);
        const Seconds then = time_with(data);
        if (1 - then / now_ < smallest_input_gain) return;
        found_.push_back({now_ - then, what + ": saves " + to_text(now_ - then) + " of the " + to_text(now_) + " of " + length_.name});
    }
    std::vector<std::string> take() {
        std::ranges::stable_sort(found_, std::ranges::greater{}, &Found::gain);
        std::vector<std::string> list;
        for (Found& f : found_) list.push_back(std::move(f.text));
        return list;
    }

private:
    struct Found {
        Seconds gain;
        std::string text;
    };
    [[nodiscard]] Seconds time_with(const DataSource& data) const {
        const InputJob in = *input_job(data, job_);
        const InputEstimate e = estimate_input(in, rest_, {});
        const double cold = std::min(length_.steps, e.steps_per_epoch);
        const Seconds later = input_wait(in, rest_, {});
        return e.staging.total() + length_.steps * (rest_.time + later) + cold * max(Seconds{}, e.first_wait - later);
    }

    const Prepared::State& job_;
    StepWithoutInput rest_;
    Length length_;
    Seconds now_;
    std::vector<Found> found_;
};

// An image as the network takes it: one byte for each value.
void decode_beforehand(DataSource& data, Bytes values) {
    data.sample_bytes = values;
    data.decoded_bytes.reset();
    data.encoding = SampleEncoding::raw;
    data.format = DataFormat::hdf5;
    data.transform = Transform::convert;
    if (data.staging.mode == StagingMode::untar) data.staging.mode = StagingMode::copy;
}

// The other file systems of the cluster that the samples could lie on. What only its administrators write to, a user cannot choose.
void compare_file_systems(InputChanges& c, const Scenario& s) {
    for (const auto& [called, other] : s.cluster.file_systems) {
        if (!other.shared || other.read_only || other.name == s.data.storage->name) continue;
        Scenario moved = s;
        moved.data.storage = other;
        if (!check_job_storage(moved).empty()) continue;  // no room
        complete(*moved.data.storage);
        c.try_change("keep the samples on \"" + called + "\" instead of " + s.data.storage->name,
                     [&](DataSource& d) { d.storage = moved.data.storage; });
    }
}

void compare_storage(InputChanges& c, const Scenario& s, const InputJob& in) {
    const DataSource& data = s.data;
    const StorageClass& from = *data.storage;
    const std::string count = data.samples ? grouped_digits(*data.samples) + " " : "";
    const std::string epochs = in.cached < 1 ? "every epoch" : "the first epoch";  // of later ones memory has all
    if (data.format == DataFormat::files)
        c.try_change("pack the " + count + "files into one HDF5 file or a few: " + from.name + " opens each of them in " + epochs,
                     [](DataSource& d) { d.format = DataFormat::hdf5; });
    if (data.format == DataFormat::zip)
        c.try_change("pack into HDF5, or npy, instead of zip: whose reader parses a header and sums the bytes of each sample",
                     [](DataSource& d) { d.format = DataFormat::hdf5; });
    if (data.format != DataFormat::files && shuffle_of(data) == Shuffle::full)
        c.try_change(
            "mix samples within a buffer (data.shuffle=window) instead of reading them in any order: a packed file is a stream then",
            [](DataSource& d) { d.shuffle = Shuffle::window; });
    if (from.shared && data.staging.mode == StagingMode::none) compare_file_systems(c, s);
    const StorageClass* local = local_disk_of_job(s);
    if (!from.shared || data.staging.mode != StagingMode::none || !local || !data.samples) return;
    const bool loose = data.format == DataFormat::files;
    c.try_change((loose ? "pack the files into a tar, copy it to " : "copy the data to ") + local->name + " of each node " +
                     (loose ? "and unpack it there " : "") + "before the first step; " + epochs + " is read from " + from.name,
                 [&](DataSource& d) {
                     if (loose) d.format = DataFormat::tar;
                     d.staging = {loose ? StagingMode::untar : StagingMode::copy, *local};
                     complete(*d.staging.to);
                 });
}

void compare_loading(InputChanges& c, const Prepared::State& job) {
    const DataSource& data = job.scenario.data;
    const InputJob& in = *job.input;
    const int most = static_cast<int>(in.node.cores / in.readers);
    if (data.workers > 0 && data.workers < most)
        c.try_change(std::to_string(most) + " loader workers for each device instead of " + std::to_string(data.workers) +
                         ", one for each core that the job has",
                     [&](DataSource& d) { d.workers = most; });
    if (!(in.ahead > 0))
        c.try_change("read the next samples while a step runs: loader workers that prefetch", [](DataSource& d) {
            d.workers = std::max(1, d.workers);
            d.prefetch = std::max(2, d.prefetch);
        });
    if (data.encoding != SampleEncoding::raw) {
        const Bytes values = in.values;
        c.try_change("decode and scale the images once, and keep their values in HDF5",
                     [&](DataSource& d) { decode_beforehand(d, values); });
    }
    if (!data.pinned && in.input > Bytes{})
        c.try_change("pinned host memory: copies to the device go on beside the step", [](DataSource& d) { d.pinned = true; });
    if (data.by_sample && in.input > Bytes{})
        c.try_change("one copy to the device for each micro-batch instead of one for each sample",
                     [](DataSource& d) { d.by_sample = false; });
}

// Threads that take turns: nothing is priced but that cores do no more work than they can. Loaders warn of it themselves (torch.utils.data,
// DataLoader.check_worker_number_rationality).
void judge_workers(std::vector<std::string>& list, const Scenario& s, const InputJob& in) {
    if (s.data.workers == 0 || in.node.workers <= in.node.cores) return;
    const auto count = [](double n) { return grouped_digits(std::round(n)); };
    list.push_back(count(in.node.workers) + " loader workers and " + count(in.readers) + " ranks of a node share the " +
                   count(in.node.cores) + " cores that the job has there: more than one worker for each core only takes turns and " +
                   "memory; count the cores that were allocated (sched_getaffinity), not the node's");
}

// How often a run opens each of its files. What NFS has in memory is asked for again (nfs(5), close-to-open consistency).
double opens_of_a_file(const Scenario& s, const Report& r) {
    if (!r.run || s.data.format != DataFormat::files || s.data.staging.mode != StagingMode::none) return 0;
    const double epochs = r.run->steps / r.input->steps_per_epoch;
    const double cached = s.data.storage->kind == StorageKind::nfs ? 0 : r.input->cached;
    return std::min(1.0, epochs) + std::max(0.0, epochs - 1) * (1 - cached);
}

std::optional<std::string> removal_advice(const StorageClass& storage, const Report& r, const std::string& remedy) {
    if (!storage.retention) return std::nullopt;
    const bool outlived = r.run && r.run->time > storage.retention->value;
    return storage.name + " removes files after " + to_text(storage.retention->value) + ": " + remedy +
           (outlived ? "; this run takes longer than that" : "");
}

// What time does not show.
void judge_storage(std::vector<std::string>& list, const Scenario& s, const Report& r) {
    const StorageClass& from = *s.data.storage;
    constexpr std::int64_t many = 1'000'000;
    if (s.data.format == DataFormat::files && s.data.samples.value_or(0) >= many && from.shared)
        list.push_back(grouped_digits(*s.data.samples) + " files on " + from.name +
                       " slow it down for all its users, also to list, copy and remove them: pack them");
    constexpr std::int64_t thousands = 1000;
    constexpr double hundreds = 90;
    const std::int64_t count = s.data.samples.value_or(0);
    const double times = opens_of_a_file(s, r), files = static_cast<double>(count);
    if (from.shared && count >= thousands && count < many && times >= hundreds)
        list.push_back("each of " + grouped_digits(files) + " files is opened " + grouped_digits(times, 3) + " times: the other users of " +
                       from.name + " wait for " + grouped_digits(std::round(files * times)) +
                       " opens; copy them to a local disk once, or pack them");
    if (auto said = removal_advice(from, r, "keep another copy")) list.push_back(std::move(*said));
    if (from.shared && from.backed_up.value_or(false) && r.input->later.limit != LoaderLimit::cores)
        list.push_back(from.name + " is backed up: made to keep data, not for many nodes to read at once; copy what trains to scratch");
    if (s.data.others > 0 && from.shared && !from.total_read_bandwidth && !from.random_read_rate)
        list.push_back("nothing is known of what " + from.name +
                       " has for all its clients together: bandwidth that other jobs take is not felt");
}

std::string ask_for_disks(const Cluster& c) {
    return c.slurm.local_disk_constraint.empty() ? "" : ": Slurm gives them for --constraint=" + c.slurm.local_disk_constraint;
}

}  // namespace

std::vector<std::string> input_advice(const Prepared& job, const Report& r) {
    const Scenario& s = job.scenario();
    InputChanges c(job, r);
    compare_storage(c, s, *job.state().input);
    compare_loading(c, job.state());
    std::vector<std::string> list = c.take();
    judge_storage(list, s, r);
    judge_workers(list, s, *job.state().input);
    return list;
}

std::vector<std::string> checkpoint_advice(const Scenario& s, const Report& r) {
    std::vector<std::string> list;
    if (!s.data.checkpoints) return list;
    const StorageClass& to = s.data.checkpoints->storage;
    if (!to.shared)
        list.push_back(to.name + " is a node's own, and may be emptied when the job ends: copy checkpoints that matter elsewhere");
    else if (!to.backed_up.value_or(true))
        list.push_back(to.name + " is not backed up: copy checkpoints that matter elsewhere");
    if (auto said = removal_advice(to, r, "keep another copy of the checkpoints")) list.push_back(std::move(*said));
    if (to.capacity && r.checkpoints && r.checkpoints->bytes > to.capacity->value)
        list.push_back("a checkpoint of " + to_text(r.checkpoints->bytes) + " does not fit on " + to.name + ", where a job may use " +
                       to_text(to.capacity->value));
    else if (to.capacity && r.checkpoints && r.run && r.run->steps / r.checkpoints->steps * r.checkpoints->bytes > to.capacity->value)
        list.push_back(to.name + " has room for " + grouped_digits(std::floor(to.capacity->value / r.checkpoints->bytes)) +
                       " checkpoints of " + to_text(r.checkpoints->bytes) + " and this run writes more: remove old ones");
    return list;
}

std::vector<std::string> input_assumptions(const Scenario& s) {
    std::vector<std::string> list;
    if (!s.data.samples)
        list.emplace_back("the number of samples is not stated: none are taken to stay in the page cache");
    else if (!s.data.page_cache)
        list.emplace_back("80 % of a host's memory are left to the page cache");
    if (const int cores = cores_of_job(s), all = s.cluster.node.host.cores; !s.cores && cores < all)
        list.push_back("of a node's " + std::to_string(all) + " cores the job has " + std::to_string(cores) +
                       ", as it has of its devices (hardware.cores)");
    const StorageClass& from = *s.data.storage;
    const StorageClass& kept = s.data.staging.to ? *s.data.staging.to : from;
    if (!from.shared && from.kind != StorageKind::memory && s.cluster.nodes > 1)
        list.push_back("the samples lie on " + from.name + " of each node already: data.staging counts what copying them there takes");
    if (lies_on_some_nodes(kept, s.cluster))
        list.push_back("the job is on nodes with a local disk, which " + grouped_digits(*s.cluster.local_storage_nodes) + " of " +
                       grouped_digits(s.cluster.nodes) + " have" + ask_for_disks(s.cluster));
    if (from.shared && !(s.data.others > 0)) list.push_back("no other job reads from " + s.data.storage->name);
    return list;
}

}  // namespace sextant
