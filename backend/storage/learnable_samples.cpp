#include "backend/storage/learnable_samples.hpp"

#include "backend/storage/codec.hpp"

#include <random>

namespace sextant {
namespace {

constexpr std::int64_t patches = 4;
constexpr int darkest = 48, brightest = 208;  // of a pattern, so that noise reaches no bound
constexpr std::uint64_t noise = 32;           // values of noise, around zero
constexpr std::uint64_t alphabet = 64;
constexpr std::int64_t most_of_patterns = std::int64_t{256} << 20;  // bytes of patterns; of more classes each is made anew

// A generator for each thing that is drawn. The engine is the same everywhere; the standard's distributions are not.
std::mt19937_64 drawn_for(std::uint64_t seed, std::uint64_t what, std::int64_t number) {
    std::seed_seq sequence{seed, seed >> 32, what, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(number) >> 32};
    return std::mt19937_64(sequence);
}

}  // namespace

LearnableSamples::LearnableSamples(Extents extents, std::int64_t classes, std::uint64_t seed)
    : extents_(std::move(extents)), seed_(seed), classes_(classes) {
    if (extents_.size() != 3 || classes_ > most_of_patterns / elements(extents_)) return;
    for (std::int64_t c = 0; c < classes_; ++c) patterns_.push_back(pattern(c));
}

Blob LearnableSamples::pattern(std::int64_t label) const {
    std::mt19937_64 random = drawn_for(seed_, 0, label);
    ByteArray small{{patches, patches, extents_[2]}, Blob(static_cast<std::size_t>(patches * patches * extents_[2]))};
    for (std::uint8_t& value : small.values) value = static_cast<std::uint8_t>(darkest + random() % (brightest - darkest));
    return resize(small, extents_[0], extents_[1]).values;
}

Sample LearnableSamples::sample(std::int64_t index) const {
    std::mt19937_64 random = drawn_for(seed_, 1, index);
    Sample sample{Blob(static_cast<std::size_t>(elements(extents_))), extents_, 0};
    if (extents_.size() != 3) {
        std::uint64_t token = random() % alphabet;
        sample.label = static_cast<std::int64_t>(token) % classes_;
        for (std::uint8_t& value : sample.bytes) {
            value = static_cast<std::uint8_t>(token);
            token = (5 * token + 3) % alphabet;
        }
        return sample;
    }
    sample.label = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(classes_));
    const Blob made = patterns_.empty() ? pattern(sample.label) : Blob();
    const Blob& values = patterns_.empty() ? made : patterns_[static_cast<std::size_t>(sample.label)];
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
        if (i % 8 == 0) bits = random();
        sample.bytes[i] = static_cast<std::uint8_t>(values[i] + bits % noise - noise / 2);
        bits >>= 8;
    }
    return sample;
}

}  // namespace sextant
