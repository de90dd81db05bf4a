// Generated samples from which a network can learn. The same number always gives the same sample.
//
// An image is the pattern of its class (4 x 4 patches of colour, blended into each other) with noise of its own. The first token of a
// sequence is random, and is the class; each further one follows from the one before.
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

class LearnableSamples {
public:
    LearnableSamples(Extents, std::int64_t classes, std::uint64_t seed);
    [[nodiscard]] const Extents& extents() const { return extents_; }
    [[nodiscard]] Sample sample(std::int64_t index) const;  // of bare values

private:
    [[nodiscard]] Blob pattern(std::int64_t label) const;

    Extents extents_;
    std::uint64_t seed_;
    std::vector<Blob> patterns_;  // by class; none for sequences, nor of more classes than memory should hold
    std::int64_t classes_;
};

}  // namespace sextant
