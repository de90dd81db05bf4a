// A trace as lanes, so that what of it can be seen is found in about the time that painting it takes, however many spans it has.
//
// The spans of a lane stand in columns, in the order of their start. Above them stands a pyramid: a block tells of the `fan` spans, or
// blocks of the level below, from when to when they are, how much of that time is spent on something, and how it is shared out among kinds.
// What is narrower than a pixel is taken from the pyramid; so a lane costs a few blocks for each pixel, and not more for more spans.
#pragma once

#include "model/graph/trace.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sextant::gui {

// Exchanges that go on behind the kernels after them would cover these: they have a lane of their own.
struct Lane {
    GraphRank rank = 0;
    Stream stream = Stream::compute;
    bool behind = false;
    friend bool operator==(const Lane&, const Lane&) = default;
};
using LaneIndex = std::uint32_t;

// A part of time, seen in so many pixels.
struct Window {
    Seconds from, to;
    int pixels = 1;

    [[nodiscard]] Seconds pixel() const { return (to - from) / pixels; }
    [[nodiscard]] double x_of(Seconds t) const { return (t - from) / pixel(); }
    [[nodiscard]] Seconds time_at(double x) const { return from + x * pixel(); }
};

// Pixels left .. right - 1 of a lane. Where their time is shared by several kinds, pieces lie one below the other.
struct LanePiece {
    static constexpr int parts = 8;  // of the height

    int left = 0, right = 0;
    SpanKind kind = SpanKind::forward;
    double covered = 1;             // the part of their time that is spent on anything, in eighths
    std::optional<SpanIndex> span;  // where it is one, as wide as a pixel at least
    int top = 0, bottom = parts;
    friend bool operator==(const LanePiece&, const LanePiece&) = default;
};

class Lanes {
public:
    Lanes() = default;
    explicit Lanes(const Trace&);
    // The same lanes with some of the spans, in order of time.
    Lanes(const Trace&, const Lanes& all, std::span<const SpanIndex> some);

    [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }  // ordered by rank and stream; none is empty in all of a trace
    [[nodiscard]] LaneIndex lane_of(SpanIndex s) const { return lane_of_[s]; }
    [[nodiscard]] std::span<const SpanIndex> spans(LaneIndex) const;

    // From left to right, without gaps of less than a pixel.
    [[nodiscard]] std::vector<LanePiece> pieces(LaneIndex, const Window&) const;
    // What is under way at an instant, or nearest to it and not farther than `reach`.
    [[nodiscard]] std::optional<SpanIndex> at(LaneIndex, Seconds, Seconds reach) const;

private:
    static constexpr std::size_t fan = 8;
    using Shares = std::array<std::uint8_t, 32>;  // one for each kind; a round number, which processors add up at once
    static_assert(std::tuple_size_v<Shares> >= span_kind_count);
    struct TimeOfKinds;
    struct Block {
        Seconds start, end;
        float busy = 0;  // seconds
        Shares share{};  // of each kind, of 255
    };
    struct Level {
        std::vector<Block> blocks;
        std::vector<std::size_t> first;  // by lane, and behind the last
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
