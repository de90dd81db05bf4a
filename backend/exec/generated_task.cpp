#include "backend/exec/generated_task.hpp"

#include "backend/exec/executable_graph.hpp"
#include "backend/exec/index_inputs.hpp"
#include "backend/exec/reals.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::int64_t largest_alphabet = 64;  // so that little training shows
constexpr float noise = 0.87F;                 // its largest: a deviation of a half
constexpr std::int64_t patches = 4;            // of an image, along each side

// Of a pixel of an image, which is cut into so many.
std::int64_t patch_of(std::int64_t pixel, std::int64_t height, std::int64_t width) {
    return (pixel / width * patches / height) * patches + pixel % width * patches / width;
}

// What the samples of a class have in common: of an image, a tone in each channel, which a pooling over all of it leaves, and patches; else
// a number for each element.
std::vector<float> pattern_of(RandomKey key, bool image, std::int64_t channels, std::int64_t elements) {
    std::vector<float> pattern(static_cast<std::size_t>(image ? patches * patches * channels : elements));
    for (std::size_t e = 0; e < pattern.size(); ++e) pattern[e] = key.normal(e);
    if (!image) return pattern;
    const RandomKey tone = key.with(1);
    for (std::size_t e = 0; e < pattern.size(); ++e) pattern[e] += tone.normal(e % static_cast<std::size_t>(channels));
    return pattern;
}

}  // namespace

GeneratedTask::GeneratedTask(const Network& serial, std::uint64_t seed, Element element)
    : key_(RandomKey(2).with(seed)), element_(element), bounds_(values_of_indices(serial)) {
    for (std::size_t b = 0; b < serial.sequence.size(); ++b) {
        const OperatorGraph graph = executable(serial.block(b).graph);
        for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
            const std::int64_t values = bounds_[b][i];
            if (values == 0) continue;
            if (b == 0 && !of_tokens_) {
                of_tokens_ = true;
                alphabet_ = std::min(values, largest_alphabet);
            }
            if (is_label(graph, graph.inputs()[i])) classes_ = values;
        }
    }
    if (const Tensor* losses = losses_of_pixels(serial)) {
        labelled_height_ = losses->shape[2];
        labelled_width_ = losses->shape[3];
    }
    if (of_tokens_) {
        const OperatorGraph& first = serial.block(0).graph;
        for (const TensorId id : first.inputs())
            if (first.tensor(id).role == TensorRole::index && sequence_ == 0) sequence_ = first.tensor(id).shape.back();
    }
    classes_ = std::max<std::int64_t>(1, classes_);
}

std::int64_t GeneratedTask::class_of(std::int64_t sample, std::int64_t patch) const {
    const auto number = static_cast<std::uint64_t>(sample);
    const float drawn = patch == 0 ? key_.uniform(number) : key_.with(3).with(number).uniform(static_cast<std::uint64_t>(patch));
    return static_cast<std::int64_t>(drawn * static_cast<float>(classes_)) % classes_;
}

std::int64_t GeneratedTask::token(std::int64_t sample, std::int64_t position) const {
    auto t = static_cast<std::int64_t>(key_.uniform(static_cast<std::uint64_t>(sample)) * static_cast<float>(alphabet_));
    // So many steps of t -> 5 t + 3, of which twice as many are again of that form.
    std::int64_t factor = 5, more = 3;
    for (std::int64_t steps = position; steps > 0; steps /= 2) {
        if (steps % 2 == 1) t = (factor * t + more) % alphabet_;
        more = (factor * more + more) % alphabet_;
        factor = factor * factor % alphabet_;
    }
    return t % alphabet_;
}

Array GeneratedTask::reals(ComputeDevice& device, const Tensor& t, std::int64_t first, std::int64_t samples) const {
    std::vector<float> values(static_cast<std::size_t>(t.elements()));
    const std::int64_t per_sample = static_cast<std::int64_t>(values.size()) / samples;
    // An image lies channels last; anything else is a row of so many.
    const bool image = is_image(t);
    const std::int64_t channels = image ? t.shape[1] : per_sample, height = image ? t.shape[2] : 1, width = image ? t.shape[3] : 1;
    for (std::int64_t s = 0; s < samples; ++s) {
        const RandomKey own = key_.with(1).with(static_cast<std::uint64_t>(first + s));
        std::vector<std::vector<float>> patterns;  // of the sample's class, or of those of its patches
        for (std::int64_t patch = 0; patch < (labels_pixels() ? patches * patches : 1); ++patch) {
            const RandomKey of_class = key_.with(2).with(static_cast<std::uint64_t>(class_of(first + s, patch)));
            patterns.push_back(pattern_of(of_class, image, channels, per_sample));
        }
        std::uint64_t e = 0;
        for (std::int64_t pixel = 0; pixel < height * width; ++pixel) {
            const std::int64_t patch = patch_of(pixel, height, width);
            const float* common = patterns[static_cast<std::size_t>(labels_pixels() ? patch : 0)].data() + (image ? patch * channels : 0);
            for (std::int64_t c = 0; c < channels; ++c, ++e)
                values[static_cast<std::size_t>(s * per_sample) + e] = common[c] + noise * (2 * own.uniform(e) - 1);
        }
    }
    return uploaded(device, values, element_);
}

std::vector<Array> GeneratedTask::inputs(ComputeDevice& device, const OperatorGraph& graph, int block, ContextCut context,
                                         std::int64_t first_sample, std::int64_t samples) const {
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        const TensorId id = graph.inputs()[i];
        const Tensor& t = graph.tensor(id);
        if (t.role != TensorRole::index) {
            arrays.push_back(block == 0 ? reals(device, t, first_sample, samples) : Array{});
            continue;
        }
        const std::int64_t bound = bounds_[static_cast<std::size_t>(block)][i];
        const IndexAt value = [&](std::int64_t s, std::optional<std::int64_t> position) {
            if (of_tokens_) return token(first_sample + s, position.value_or(0)) % bound;
            return class_of(first_sample + s, position ? patch_of(*position, labelled_height_, labelled_width_) : 0);
        };
        arrays.push_back(index_input(device, graph, id, context, sequence_, samples, value));
    }
    return arrays;
}

}  // namespace sextant
