#include "backend/exec/dataset_feed.hpp"

#include "backend/exec/index_inputs.hpp"
#include "backend/exec/reals.hpp"
#include "backend/storage/formats.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr int usual_workers = 2, usual_batches_ahead = 2;  // of each worker

// What the first block reads of a sample, first the number of samples.
const Tensor& samples_of(const Network& network) {
    const OperatorGraph& first = network.block(0).graph;
    return first.tensor(first.inputs().front());
}

LoaderSettings settings_of(const Job& job, const RankPlace& place, const FeedSettings& feed) {
    const DataSource& data = job.scenario.data;
    LoaderSettings s;
    s.batch = job.scenario.plan.micro_batch;
    s.workers = std::max(1, feed.workers.value_or(data.synthetic ? usual_workers : data.workers));
    s.prefetch = std::int64_t{s.workers} * (data.synthetic ? usual_batches_ahead : data.workers > 0 ? data.prefetch : 0);
    s.rank = place.data;
    s.ranks = static_cast<int>(job.scenario.plan.dp);
    s.seed = job.seed;
    s.epochs.reset();
    s.bad = feed.bad;
    const Tensor& reads = samples_of(job.serial);
    if (is_image(reads)) s.resize = ImageSize{reads.shape[2], reads.shape[3]};
    if (reads.role != TensorRole::index) s.numbers = Numbers{};
    // A stage that takes classes alone need not decode; but which samples are skipped all stages must find.
    if (place.pipeline > 0 && reads.role != TensorRole::index && s.bad == BadSamples::fail) s.decode = false;
    return s;
}

void check_extents(const Tensor& reads, std::int64_t samples, const Extents& extents, const std::filesystem::path& path) {
    std::string wanted;
    if (reads.role == TensorRole::index) {
        // One more, so that each has one that follows it.
        if (extents.size() != 1 || extents[0] <= reads.shape.back())
            wanted = "sequences of at least " + std::to_string(reads.shape.back() + 1) + " bytes";
    } else if (is_image(reads)) {
        if (extents.size() != 3 || extents[2] != reads.shape[1]) wanted = "images of " + std::to_string(reads.shape[1]) + " channels";
    } else if (elements(extents) != reads.shape.back() || reads.shape.front() != samples) {
        wanted = std::to_string(reads.shape.front() / samples) + " x " + std::to_string(reads.shape.back()) + " values";
    }
    if (!wanted.empty())
        throw InputError(Diagnostic{path.string(), "", "its samples are " + to_text(extents) + ", and the network reads " + wanted,
                                    "sextant data make --size"});
}

}  // namespace

DatasetFeed::DatasetFeed(const Job& job, const RankPlace& place, const FeedSettings& feed)
    : path_(feed.path.string()),
      micro_batch_(job.scenario.plan.micro_batch),
      element_(job.element()),
      bounds_(values_of_indices(job.serial)) {
    const Tensor& reads = samples_of(job.serial);
    if (reads.role == TensorRole::index) sequence_ = reads.shape.back();
    if (losses_of_pixels(job.serial) != nullptr)
        throw InputError(Diagnostic{path_, "", "its samples have one label each, and the network wants one for each pixel",
                                    "without a dataset it trains on samples that are made"});
    if (place.tensor > 0 || place.context > 0) return;
    const LoaderSettings settings = settings_of(job, place, feed);
    workers_ = settings.workers;
    loader_.emplace(open_dataset(feed.path), settings);
    if (settings.decode) check_extents(reads, micro_batch_, loader_->extents(), feed.path);
}

void DatasetFeed::next() {
    if (!loader_) return;
    batch_ = std::move(*loader_->next());
    for (const std::int64_t sample : batch_.samples)
        taken_ = taken_ * 0x100000001b3U + static_cast<std::uint64_t>(sample) + 1;  // FNV's prime
}

std::vector<BatchLoad> DatasetFeed::loads() const { return loader_ ? loader_->loads() : std::vector<BatchLoad>{}; }

std::vector<std::string> DatasetFeed::skipped() const {
    std::vector<std::string> all;
    if (!loader_) return all;
    for (auto& [index, why] : loader_->skipped()) all.push_back(why);
    return all;
}

std::vector<Array> DatasetFeed::inputs(ComputeDevice& device, const OperatorGraph& graph, int block, ContextCut context) const {
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        const TensorId id = graph.inputs()[i];
        const Tensor& t = graph.tensor(id);
        if (!loader_) {
            const bool comes = t.role == TensorRole::index || block == 0;
            arrays.push_back(comes ? device.allocate(static_cast<std::int64_t>(t.elements()), element_of(t.role, element_)) : Array{});
            continue;
        }
        if (t.role != TensorRole::index) {
            arrays.push_back(block == 0 ? reals(device, t) : Array{});
            continue;
        }
        const bool label = is_label(graph, id);
        const std::int64_t bound = bounds_[static_cast<std::size_t>(block)][i];
        const IndexAt value = [&](std::int64_t s, std::optional<std::int64_t> position) { return integer(s, position, label, bound); };
        arrays.push_back(index_input(device, graph, id, context, sequence_, micro_batch_, value));
    }
    return arrays;
}

std::int64_t DatasetFeed::integer(std::int64_t sample, std::optional<std::int64_t> position, bool label, std::int64_t bound) const {
    const auto s = static_cast<std::size_t>(sample), length = static_cast<std::size_t>(elements(loader_->extents()));
    const std::int64_t value = position ? batch_.values[s * length + static_cast<std::size_t>(*position)] : batch_.labels[s];
    if (value < 0 || value >= bound)
        throw InputError(Diagnostic{path_, "",
                                    "sample " + std::to_string(batch_.samples[s]) + " has the " + (label ? "label " : "token ") +
                                        std::to_string(value) + ", and the network knows " + std::to_string(bound),
                                    "sextant data make --classes"});
    return value;
}

// Both lie channels last.
Array DatasetFeed::reals(ComputeDevice& device, const Tensor& t) const {
    return uploaded(device, std::span(batch_.numbers).first(static_cast<std::size_t>(t.elements())), element_);
}

}  // namespace sextant
