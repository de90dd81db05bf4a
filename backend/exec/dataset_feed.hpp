// The samples of one rank from a dataset, as the network's inputs.
//
// Images and vectors: a byte b becomes (b - 128) / 64, and the label is the class. Images are resized to the size that the network takes.
// Sequences: bytes are tokens, and labels are the tokens that follow.
//
// The first stage of a pipeline takes the inputs and the last one the labels, each with a loader of its own. Both must go over the same
// samples in the same order; taken() shows whether they did. In a tensor or context group one rank reads for all.
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
    // Throws InputError when the path is no dataset, or its samples are not what the network reads.
    DatasetFeed(const Job&, const RankPlace&, const FeedSettings&);

    [[nodiscard]] bool reads() const { return loader_.has_value(); }
    void next();  // waits for the samples of the next micro-batch
    // The inputs that a block takes of these samples, on a rank that has this part of every sequence. They are uninitialized where another
    // rank reads, and empty where the block before computes them.
    std::vector<Array> inputs(ComputeDevice&, const OperatorGraph&, int block, ContextCut) const;
    [[nodiscard]] std::vector<std::string> skipped() const;  // what was wrong with each sample that was skipped so far
    [[nodiscard]] std::vector<BatchLoad> loads() const;
    [[nodiscard]] std::uint64_t taken() const { return taken_; }  // a checksum of all samples so far, in their order
    [[nodiscard]] int workers() const { return workers_; }

private:
    [[nodiscard]] std::int64_t integer(std::int64_t sample, std::optional<std::int64_t> position, bool label, std::int64_t bound) const;
    [[nodiscard]] Array reals(ComputeDevice&, const Tensor&) const;

    std::string path_;  // of the dataset
    std::optional<Loader> loader_;
    int workers_ = 0;
    std::uint64_t taken_ = 0;
    std::int64_t micro_batch_, sequence_ = 0;        // sequence: tokens that the network reads of a sample
    Element element_;                                // of real inputs
    std::vector<std::vector<std::int64_t>> bounds_;  // of integer inputs, by block and input
    LoadedBatch batch_;
};

}  // namespace sextant
