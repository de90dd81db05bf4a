// A task to learn, whose samples are generated when they are needed. A sample is the same on every rank.
//
// Sequences: the first token is random, each further one follows from the one before; labels are the next tokens (for a classifier: the
// first token). Images and vectors: the pattern of a class with noise added; the label is the class. Where each pixel of an image has a
// label, each patch of it has a class of its own.
#pragma once

#include "backend/exec/device.hpp"
#include "model/workload/network.hpp"

#include <cstdint>
#include <vector>

namespace sextant {

class GeneratedTask {
public:
    // `element`: the type of real inputs.
    GeneratedTask(const Network& serial, std::uint64_t seed, Element element);

    // The data that a block reads: one array for each of its graph's inputs, empty for those that the block before computes.
    // `graph`: of the block's program, on a rank that has this part of every sequence. Samples are numbered through all steps.
    std::vector<Array> inputs(ComputeDevice&, const OperatorGraph& graph, int block, ContextCut, std::int64_t first_sample,
                              std::int64_t samples) const;

private:
    [[nodiscard]] Array reals(ComputeDevice&, const Tensor&, std::int64_t first, std::int64_t samples) const;
    [[nodiscard]] std::int64_t class_of(std::int64_t sample, std::int64_t patch = 0) const;
    [[nodiscard]] bool labels_pixels() const { return labelled_height_ * labelled_width_ > 1; }
    [[nodiscard]] std::int64_t token(std::int64_t sample, std::int64_t position) const;

    RandomKey key_;
    Element element_;
    std::vector<std::vector<std::int64_t>> bounds_;  // by block and input: how many values an integer input can have
    bool of_tokens_ = false;
    std::int64_t alphabet_ = 0, sequence_ = 0, classes_ = 0;
    std::int64_t labelled_height_ = 1, labelled_width_ = 1;  // of the images whose pixels have labels; one pixel: samples have
};

}  // namespace sextant
