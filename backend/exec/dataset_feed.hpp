// The samples of one rank from a dataset, as the network's inputs.
//
// Images and vectors: a byte b becomes (b - 128) / 64, and the label is the class; images of another size are resized to the network's.
// Sequences: bytes are tokens, and labels the tokens that follow.
//
// The first stage of a pipeline takes inputs from it and the last one labels, each with a loader of its own: both go over the same samples
// in the same order, of which taken() is the witness. Of a tensor group, and of a context group, one rank reads.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/job.hpp"
#include "backend/storage/loader.hpp"
#include "model/plan/rank_layout.hpp"

namespace sextant {

struct FeedSettings {
    std::filesystem::path path;
    std::optional<int> workers{};  // absent: as the scenario says, else two
    BadSamples bad = BadSamples::fail;
};

class DatasetFeed {
public:
    // Throws InputError when the dataset is none, or none of what the network reads.
    DatasetFeed(const Job&, const RankPlace&, const FeedSettings&);

    [[nodiscard]] bool reads() const { return loader_.has_value(); }
    void next();  // takes the samples of one more micro-batch, and waits for them
    // Of these the inputs that a block reads, on a rank that has this part of every sequence, or room for them where another rank reads;
    // empty arrays for what the block before makes.
    std::vector<Array> inputs(ComputeDevice&, const OperatorGraph&, int block, ContextCut) const;
    [[nodiscard]] std::vector<std::string> skipped() const;  // so far: what was wrong with each
    [[nodiscard]] std::vector<BatchLoad> loads() const;
    [[nodiscard]] std::uint64_t taken() const { return taken_; }  // a sum over all samples so far and their order
    [[nodiscard]] int workers() const { return workers_; }

private:
    [[nodiscard]] std::int64_t integer(std::int64_t sample, std::optional<std::int64_t> position, bool label, std::int64_t bound) const;
    [[nodiscard]] Array reals(ComputeDevice&, const Tensor&) const;

    std::optional<Loader> loader_;
    int workers_ = 0;
    std::uint64_t taken_ = 0;
    std::int64_t micro_batch_, sequence_ = 0;        // sequence: tokens that the network reads of a sample
    Element element_;                                // of what is no integer
    std::vector<std::vector<std::int64_t>> bounds_;  // of integers, by block and input
    LoadedBatch batch_;
};

}  // namespace sextant
