#include "backend/exec/generated_task.hpp"

#include "backend/exec/executable_graph.hpp"
#include "backend/exec/index_inputs.hpp"
#include "backend/exec/reals.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::int64_t largest_alphabet = 64;  // so that little training shows
constexpr float noise = 0.5F;

}  // namespace

GeneratedTask::GeneratedTask(const Network& serial, std::uint64_t seed, Element element)
    : key_(RandomKey(2).with(seed)), element_(element), bounds_(values_of_indices(serial)) {
    for (std::size_t b = 0; b < serial.sequence.size(); ++b) {
        const OperatorGraph graph = executable(serial.templates[static_cast<std::size_t>(serial.sequence[b])].graph);
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
    if (of_tokens_) {
        const OperatorGraph& first = serial.templates[static_cast<std::size_t>(serial.sequence.front())].graph;
        for (const TensorId id : first.inputs())
            if (first.tensor(id).role == TensorRole::index && sequence_ == 0) sequence_ = first.tensor(id).shape.back();
    }
    classes_ = std::max<std::int64_t>(1, classes_);
}

std::int64_t GeneratedTask::class_of(std::int64_t sample) const {
    return static_cast<std::int64_t>(key_.uniform(static_cast<std::uint64_t>(sample)) * static_cast<float>(classes_)) % classes_;
}

std::int64_t GeneratedTask::token(std::int64_t sample, std::int64_t position) const {
    auto t = static_cast<std::int64_t>(key_.uniform(static_cast<std::uint64_t>(sample)) * static_cast<float>(alphabet_));
    for (std::int64_t i = 0; i < position; ++i) t = (5 * t + 3) % alphabet_;
    return t % alphabet_;
}

Array GeneratedTask::reals(ComputeDevice& device, const Tensor& t, std::int64_t first, std::int64_t samples) const {
    std::vector<float> values(static_cast<std::size_t>(t.elements()));
    const std::int64_t per_sample = static_cast<std::int64_t>(values.size()) / samples;
    // An image lies channels last. Its pattern is a tone, which a pooling over all of it leaves, and 4 x 4 patches.
    const bool image = t.shape.size() == 4;
    const std::int64_t channels = image ? t.shape[1] : 1, height = image ? t.shape[2] : 1, width = image ? t.shape[3] : 1;
    const auto place = [&](std::int64_t e) {
        if (!image) return e;
        const std::int64_t pixel = e / channels;
        return ((pixel / width * 4 / height) * 4 + pixel % width * 4 / width) * channels + e % channels;
    };
    for (std::int64_t s = 0; s < samples; ++s) {
        const RandomKey own = key_.with(1).with(static_cast<std::uint64_t>(first + s));
        const RandomKey pattern = key_.with(2).with(static_cast<std::uint64_t>(class_of(first + s)));
        const RandomKey tone = pattern.with(1);
        for (std::int64_t e = 0; e < per_sample; ++e)
            values[static_cast<std::size_t>(s * per_sample + e)] = (image ? tone.normal(static_cast<std::uint64_t>(e % channels)) : 0) +
                                                                   pattern.normal(static_cast<std::uint64_t>(place(e))) +
                                                                   noise * own.normal(static_cast<std::uint64_t>(e));
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
            return of_tokens_ ? token(first_sample + s, position.value_or(0)) % bound : class_of(first_sample + s);
        };
        arrays.push_back(index_input(device, graph, id, context, sequence_, samples, value));
    }
    return arrays;
}

}  // namespace sextant
