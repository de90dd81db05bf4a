// How gradients are grouped into exchanges: a framework fills buckets in the order in which backward makes gradients, and exchanges each
// one while backward goes on. Weights that were updated in shards come back in the same buckets.
#pragma once

#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sextant {

// Parameters of one block that its stage holds. A tied weight whose owner is in another stage counts in the first of the stage's blocks
// that use it.
struct BlockParameters {
    ParameterCount trained, frozen;  // with gradients, and without
    int tensors = 0;                 // of those that are trained
    friend bool operator==(const BlockParameters&, const BlockParameters&) = default;
};

// For each block of the network's sequence.
std::vector<BlockParameters> block_parameters(const Network&, const Plan&);

// Blocks first_block .. first_block + count - 1, and the parameters that they exchange together.
struct Bucket {
    int first_block = 0, count = 0;
    double dense = 0, expert = 0;
    int tensors = 0;
};

// Of one block.
Bucket gradients_of(int block, const BlockParameters&);
Bucket weights_of(int block, const BlockParameters&);  // frozen ones too

struct BucketRule {
    std::optional<Bytes> size;  // absent: everything is one exchange; zero: each tensor alone
    Bytes element;              // of a gradient on the wire

    // The buckets of `count` blocks from `first` on, in the order of backward. Buckets are made of whole
    // blocks: one is full once it holds its size.
    [[nodiscard]] std::vector<Bucket> buckets(std::span<const BlockParameters>, int first, int count) const;
    // How many calls exchange these elements of one bucket.
    [[nodiscard]] int calls(double elements, int tensors) const;
};
BucketRule bucket_rule(const Plan&, const Framework&, const Precision& kept);

// A bucket for each block, in the order of backward.
std::vector<Bucket> one_block_each(std::span<const BlockParameters>, int first, int count);

}  // namespace sextant
