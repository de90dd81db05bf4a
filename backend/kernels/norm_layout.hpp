// How the elements of a normalization lie: [samples, pixels, channels], with statistics [samples, groups]. For every engine.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

constexpr double norm_epsilon = 1e-5;  // added to the variance

// All four normalizations are one: each group of neighbouring channels of a sample is brought to mean 0 and variance 1 (an RMS norm leaves
// the mean), then scaled and shifted by channel.
//   layer, rms   a sample is a row, of one pixel; one group, or one for each part of the row
//   batch        one sample of all pixels, each channel a group
//   group        as named
struct NormLayout {
    std::int64_t samples = 1, pixels = 1, channels = 1, groups = 1;
    bool centred = true, by_row = false;

    [[nodiscard]] SEXTANT_KERNEL std::int64_t members() const { return channels / groups; }
    [[nodiscard]] SEXTANT_KERNEL float count() const { return static_cast<float>(pixels * members()); }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t at(std::int64_t sample, std::int64_t pixel, std::int64_t channel) const {
        return (sample * pixels + pixel) * channels + channel;
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t group(std::int64_t sample, std::int64_t channel) const {
        return sample * groups + channel / members();
    }
    [[nodiscard]] bool by_channel() const { return samples == 1 && groups == channels; }
};

inline NormLayout layout_of(const Normalization& n, const OperatorCall& c) {
    NormLayout l;
    l.by_row = n.kind == NormKind::layer || n.kind == NormKind::rms;
    l.channels = l.by_row ? n.width : c.output(0).shape[1];
    const std::int64_t pixels = n.rows * n.width / l.channels;
    l.centred = n.kind != NormKind::rms;
    l.samples = l.by_row ? pixels : n.kind == NormKind::group ? c.samples : 1;
    l.pixels = pixels / l.samples;
    l.groups = l.by_row ? n.parts : n.kind == NormKind::group ? n.rows / l.samples : l.channels;
    return l;
}

}  // namespace sextant::kernels
