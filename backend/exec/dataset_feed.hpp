// The samples of one rank from a dataset, as the network's inputs.
//
// Images and vectors: a byte b becomes (b - 128) / 64, and the label is the class; images of another size are resized to the network's.
// Sequences: bytes are tokens, and labels the tokens that follow.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/job.hpp"
#include "backend/storage/loader.hpp"

namespace sextant {

struct FeedSettings {
    std::filesystem::path path;
    int workers = 2;
    BadSamples bad = BadSamples::fail;
};

class DatasetFeed {
public:
    // Throws InputError when the dataset is none, or none of what the network reads.
    DatasetFeed(const Job&, int data_rank, const FeedSettings&);

    void next();  // takes the samples of one more micro-batch, and waits for them
    // Of these the inputs that a block reads; empty arrays for what the block before makes.
    std::vector<Array> inputs(ComputeDevice&, const OperatorGraph&, int block) const;
    [[nodiscard]] std::vector<std::string> skipped() const;  // so far: what was wrong with each

private:
    [[nodiscard]] Array integers(ComputeDevice&, const Tensor&, bool label, std::int64_t bound) const;
    [[nodiscard]] Array reals(ComputeDevice&, const Tensor&) const;

    std::optional<Loader> loader_;
    std::int64_t micro_batch_, sequence_ = 0;  // sequence: tokens that the network reads of a sample
    LoadedBatch batch_;
};

// Plans under which a rank cannot be fed, each with its reason.
std::vector<Diagnostic> unsupported_with_data(const Scenario&);

}  // namespace sextant
