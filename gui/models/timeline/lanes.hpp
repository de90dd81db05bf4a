// A trace as lanes, from which the visible part is found in about the time that painting it takes, however many spans the trace has.
//
// The spans of a lane are stored in columns, in the order of their start. Above them is a pyramid: a block summarizes `fan` spans, or
// blocks of the level below: their start and end, how much of that time is busy, and its share of each kind. What is narrower than a pixel
// is taken from the pyramid, so a lane costs a few blocks per pixel, no matter how many spans there are.
#pragma once

#include "model/graph/trace.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sextant::gui {

// Exchanges that go on behind later kernels have a lane of their own, because they would cover these.
struct Lane {
    GraphRank rank = 0;
    Stream stream = Stream::compute;
    bool behind = false;
    friend bool operator==(const Lane&, const Lane&) = default;
};
using LaneIndex = std::uint32_t;

// A range of time, shown in this many pixels.
struct Window {
    Seconds from, to;
    int pixels = 1;

    [[nodiscard]] Seconds pixel() const { return (to - from) / pixels; }
    [[nodiscard]] double x_of(Seconds t) const { return (t - from) / pixel(); }
    [[nodiscard]] Seconds time_at(double x) const { return from + x * pixel(); }
};

// Pixels left .. right - 1 of a lane. Where several kinds share their time, their pieces are stacked.
struct LanePiece {
    static constexpr int parts = 8;  // of the height

    int left = 0, right = 0;
    SpanKind kind = SpanKind::forward;
    double covered = 1;             // the busy part of their time, in eighths
    std::optional<SpanIndex> span;  // where the piece is a single span, at least as wide as a pixel
    int top = 0, bottom = parts;
    friend bool operator==(const LanePiece&, const LanePiece&) = default;
};

class Lanes {
public:
    Lanes() = default;
    explicit Lanes(const Trace&);
    // The same lanes with only `some` of the spans, which must be in order of time.
    Lanes(const Trace&, const Lanes& all, std::span<const SpanIndex> some);

    [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }  // ordered by rank and stream; none is empty in all of a trace
    [[nodiscard]] LaneIndex lane_of(SpanIndex s) const { return lane_of_[s]; }
    [[nodiscard]] std::span<const SpanIndex> spans(LaneIndex) const;

    // The pieces from left to right. Gaps of less than a pixel are closed.
    [[nodiscard]] std::vector<LanePiece> pieces(LaneIndex, const Window&) const;
    // The span at an instant, or the nearest one within `reach`.
    [[nodiscard]] std::optional<SpanIndex> at(LaneIndex, Seconds, Seconds reach) const;

private:
    static constexpr std::size_t fan = 8;
    using Shares = std::array<std::uint8_t, 32>;  // one for each kind, padded to the width of a vector register
    static_assert(std::tuple_size_v<Shares> >= span_kind_count);
    struct TimeOfKinds;
    struct Block {
        Seconds start, end;
        float busy = 0;  // seconds
        Shares share{};  // of each kind, in 1/255
    };
    struct Level {
        std::vector<Block> blocks;
        std::vector<std::size_t> first;  // by lane, and the end of the last
    };
    class Painter;

    void fill(const Trace&, std::span<const SpanIndex> some);
    void build_pyramid();
    [[nodiscard]] Block span_block(std::size_t at) const;
    template <class Child>
    [[nodiscard]] Level level_above(const std::vector<std::size_t>& first, Child child) const;

    std::vector<Lane> lanes_;
    std::vector<LaneIndex> lane_of_;  // by span of the trace; empty where these are not all
    // Lane after lane.
    std::vector<std::size_t> first_;
    std::vector<Seconds> start_, end_;
    std::vector<SpanIndex> span_;
    std::vector<SpanKind> kind_;
    std::vector<Level> levels_;  // from fine to coarse
};

}  // namespace sextant::gui
