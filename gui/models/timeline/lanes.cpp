#include "gui/models/timeline/lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace sextant::gui {
namespace {

constexpr float whole = 255;    // of a share
constexpr float clearly = 1.5;  // so much more is another kind's share
constexpr auto keys_of_rank = std::size_t{2} * stream_count;

std::size_t key_of(const Span& s, bool behind) { return s.rank * keys_of_rank + 2 * static_cast<std::size_t>(s.stream) + (behind ? 1 : 0); }

// Exchanges that are not over when the kernel after them begins.
std::vector<bool> spans_behind(const Trace& trace) {
    constexpr SpanIndex none = UINT32_MAX;
    const Seconds rounding = 1e-9 * trace.end;
    std::vector<bool> behind(trace.spans.size());
    std::vector<SpanIndex> before(trace.ranks.size(), none);  // on the compute stream
    for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
        const Span& s = trace.spans[i];
        if (s.stream != Stream::compute) continue;
        SpanIndex& last = before[s.rank];
        if (last != none && trace.spans[last].end > s.start + rounding && !runs_kernels(trace.spans[last].kind)) behind[last] = true;
        last = i;
    }
    return behind;
}

}  // namespace

struct Lanes::TimeOfKinds {
    std::array<float, std::tuple_size_v<Shares>> of{};
    float total = 0;

    float operator[](SpanKind k) const { return of[static_cast<std::size_t>(k)]; }
    void add(float time, const Shares& shares) {
        for (std::size_t k = 0; k < of.size(); ++k) of[k] += time * (static_cast<float>(shares[k]) / whole);
        total += time;
    }
    void add(const TimeOfKinds& other) {
        for (std::size_t k = 0; k < of.size(); ++k) of[k] += other.of[k];
        total += other.total;
    }
    [[nodiscard]] SpanKind most() const { return static_cast<SpanKind>(std::ranges::max_element(of) - of.begin()); }
    [[nodiscard]] Shares shares() const {
        Shares s{};
        // NOLINTNEXTLINE(bugprone-incorrect-roundings): no share is negative, and every frame does this for every piece
        for (std::size_t k = 0; k < of.size() && total > 0; ++k) s[k] = static_cast<std::uint8_t>(whole * of[k] / total + 0.5F);
        return s;
    }
};

Lanes::Lanes(const Trace& trace) {
    const std::vector<bool> behind = spans_behind(trace);
    std::vector<LaneIndex> lane_of_key(trace.ranks.size() * keys_of_rank, 0);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) lane_of_key[key_of(trace.spans[i], behind[i])] = 1;
    for (std::size_t key = 0; key < lane_of_key.size(); ++key) {
        if (lane_of_key[key] == 0) continue;
        lane_of_key[key] = static_cast<LaneIndex>(lanes_.size());
        const std::size_t of_rank = key % keys_of_rank;
        lanes_.push_back({static_cast<GraphRank>(key / keys_of_rank), static_cast<Stream>(of_rank / 2), of_rank % 2 == 1});
    }
    lane_of_.reserve(trace.spans.size());
    for (std::size_t i = 0; i < trace.spans.size(); ++i) lane_of_.push_back(lane_of_key[key_of(trace.spans[i], behind[i])]);
    std::vector<SpanIndex> every(trace.spans.size());
    std::iota(every.begin(), every.end(), SpanIndex{0});
    fill(trace, every);
}

Lanes::Lanes(const Trace& trace, const Lanes& all, std::span<const SpanIndex> some) : lanes_(all.lanes_), lane_of_(all.lane_of_) {
    fill(trace, some);
    lane_of_.clear();
    lane_of_.shrink_to_fit();
}

// Spans are in the order of their start, and stay so within each lane.
void Lanes::fill(const Trace& trace, std::span<const SpanIndex> some) {
    first_.assign(lanes_.size() + 1, 0);
    for (const SpanIndex s : some) ++first_[lane_of_[s] + 1];
    for (std::size_t l = 0; l < lanes_.size(); ++l) first_[l + 1] += first_[l];
    std::vector<std::size_t> place(first_.begin(), first_.end() - (first_.empty() ? 0 : 1));
    start_.resize(some.size());
    end_.resize(some.size());
    span_.resize(some.size());
    kind_.resize(some.size());
    for (const SpanIndex s : some) {
        const std::size_t at = place[lane_of_[s]]++;
        const Span& span = trace.spans[s];
        start_[at] = span.start;
        end_[at] = span.end;
        span_[at] = s;
        kind_[at] = span.kind;
    }
    build_pyramid();
}

Lanes::Block Lanes::span_block(std::size_t at) const {
    Block block{start_[at], end_[at], static_cast<float>((end_[at] - start_[at]).si()), {}};
    block.share[static_cast<std::size_t>(kind_[at])] = static_cast<std::uint8_t>(whole);
    return block;
}

template <class Child>
Lanes::Level Lanes::level_above(const std::vector<std::size_t>& first, Child child) const {
    Level level;
    level.first.push_back(0);
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
        for (std::size_t begin = first[l]; begin < first[l + 1]; begin += fan) {
            const std::size_t end = std::min(begin + fan, first[l + 1]);
            Block block = child(begin);
            TimeOfKinds time;
            for (std::size_t i = begin; i < end; ++i) {
                const Block& next = child(i);
                block.end = max(block.end, next.end);
                time.add(next.busy, next.share);
            }
            block.busy = time.total;
            block.share = time.shares();
            level.blocks.push_back(block);
        }
        level.first.push_back(level.blocks.size());
    }
    return level;
}

void Lanes::build_pyramid() {
    const auto longest = [&](const std::vector<std::size_t>& first) {
        std::size_t most = 0;
        for (std::size_t l = 0; l < lanes_.size(); ++l) most = std::max(most, first[l + 1] - first[l]);
        return most;
    };
    if (longest(first_) <= fan) return;
    levels_.push_back(level_above(first_, [&](std::size_t i) { return span_block(i); }));
    while (longest(levels_.back().first) > fan) {
        const std::vector<Block>& below = levels_.back().blocks;
        Level above = level_above(levels_.back().first, [&](std::size_t i) -> const Block& { return below[i]; });
        levels_.push_back(std::move(above));
    }
}

std::span<const SpanIndex> Lanes::spans(LaneIndex l) const { return std::span(span_).subspan(first_[l], first_[l + 1] - first_[l]); }

// Goes down the pyramid as far as pixels can show, and gathers what is in each.
class Lanes::Painter {
public:
    Painter(const Lanes& lanes, LaneIndex lane, const Window& window)
        : lanes_(lanes), lane_(lane), window_(window), pixels_(static_cast<std::size_t>(window.pixels)) {}

    std::vector<LanePiece> paint() {
        const std::size_t levels = lanes_.levels_.size();
        const std::vector<std::size_t>& first = levels > 0 ? lanes_.levels_.back().first : lanes_.first_;
        for (std::size_t i = first[lane_]; i < first[lane_ + 1]; ++i) visit(levels, i);
        const auto seen_alone = static_cast<std::ptrdiff_t>(pieces_.size());
        gather();
        std::ranges::inplace_merge(pieces_, pieces_.begin() + seen_alone, {}, &LanePiece::left);
        return std::move(pieces_);
    }

private:
    struct Pixel {
        TimeOfKinds time;
        bool taken = false;  // by a piece of its own
    };

    // A block of a level above 0, or a span.
    void visit(std::size_t level, std::size_t index) {
        const Block block = level > 0 ? lanes_.levels_[level - 1].blocks[index] : lanes_.span_block(index);
        if (block.end <= window_.from || block.start >= window_.to) return;
        const double width = (block.end - block.start) / window_.pixel();
        if (width < 1) return add(block);
        if (level == 0) return take(block, index);
        const std::vector<std::size_t>& first = level > 1 ? lanes_.levels_[level - 2].first : lanes_.first_;
        const std::size_t begin = first[lane_] + (index - lanes_.levels_[level - 1].first[lane_]) * fan;
        for (std::size_t i = begin; i < std::min(begin + fan, first[lane_ + 1]); ++i) visit(level - 1, i);
    }

    // A span that can be seen for itself.
    void take(const Block& block, std::size_t index) {
        const double last = window_.pixels;
        const int left = static_cast<int>(std::lround(std::clamp(window_.x_of(block.start), 0.0, last)));
        const int right = static_cast<int>(std::lround(std::clamp(window_.x_of(block.end), 0.0, last)));
        for (int x = left; x < right; ++x) pixels_[static_cast<std::size_t>(x)].taken = true;
        if (left < right) pieces_.push_back({left, right, lanes_.kind_[index], 1, lanes_.span_[index]});
    }

    // Something narrower than a pixel, in one or in two.
    void add(const Block& block) {
        const double from = window_.x_of(block.start), to = window_.x_of(block.end), width = to - from;
        const double busy = block.busy / window_.pixel().si();
        const auto left = static_cast<std::ptrdiff_t>(std::floor(from)), right = static_cast<std::ptrdiff_t>(std::floor(to));
        const double in_left = left == right || width <= 0 ? 1 : (static_cast<double>(right) - from) / width;
        add(left, block, busy * in_left);
        if (left != right) add(right, block, busy * (1 - in_left));
    }
    void add(std::ptrdiff_t x, const Block& block, double part) {
        if (x >= 0 && x < std::ssize(pixels_)) pixels_[static_cast<std::size_t>(x)].time.add(static_cast<float>(part), block.share);
    }

    void gather() {
        std::optional<LanePiece> open;
        TimeOfKinds time;  // of what is open
        const auto close = [&] {
            if (!open) return;
            divide(*open, time);
            open.reset();
            time = {};
        };
        for (int x = 0; x < window_.pixels; ++x) {
            const Pixel& pixel = pixels_[static_cast<std::size_t>(x)];
            const float total = pixel.time.total;
            if (pixel.taken || total <= 0) {
                close();
                continue;
            }
            const double covered = std::clamp(std::round(8.0 * static_cast<double>(total)), 1.0, 8.0) / 8;
            // Where several kinds take about the same, the raster of pixels would draw a pattern that is not there: stay with one.
            SpanKind kind = pixel.time.most();
            if (open && clearly * pixel.time[open->kind] >= pixel.time[kind]) kind = open->kind;
            if (open && (open->kind != kind || open->covered != covered)) close();
            if (!open) open = LanePiece{x, x, kind, covered, {}};
            open->right = x + 1;
            time.add(pixel.time);
        }
        close();
    }

    // In height, as the time is shared out: nothing that takes a good part of it is hidden by what takes more.
    void divide(LanePiece piece, const TimeOfKinds& time) {
        const float hardly = 0.5F / LanePiece::parts * time.total;
        if (time[piece.kind] > time.total - hardly) return pieces_.push_back(piece);
        float total = 0, sum = 0;
        for (const float t : time.of) total += t < hardly ? 0 : t;
        piece.bottom = 0;
        for (std::size_t k = 0; k < span_kind_count; ++k) {
            if (time.of[k] < hardly) continue;
            sum += time.of[k];
            piece.kind = static_cast<SpanKind>(k);
            // NOLINTNEXTLINE(bugprone-incorrect-roundings): as above
            piece.top = std::exchange(piece.bottom, static_cast<int>(LanePiece::parts * sum / total + 0.5F));
            if (piece.top < piece.bottom) pieces_.push_back(piece);
        }
    }

    const Lanes& lanes_;
    LaneIndex lane_;
    const Window& window_;
    std::vector<Pixel> pixels_;
    std::vector<LanePiece> pieces_;
};

std::vector<LanePiece> Lanes::pieces(LaneIndex l, const Window& window) const {
    if (window.pixels < 1 || !(window.to > window.from)) return {};
    return Painter(*this, l, window).paint();
}

std::optional<SpanIndex> Lanes::at(LaneIndex l, Seconds t, Seconds reach) const {
    const auto begin = start_.begin() + static_cast<std::ptrdiff_t>(first_[l]),
               end = start_.begin() + static_cast<std::ptrdiff_t>(first_[l + 1]);
    const auto behind = std::upper_bound(begin, end, t + reach);
    constexpr std::ptrdiff_t most = 64;  // spans of a lane hardly overlap
    std::optional<SpanIndex> nearest;
    for (auto at = behind; at != begin && behind - at < most;) {
        --at;
        const auto i = static_cast<std::size_t>(at - start_.begin());
        const Seconds distance = max(max(start_[i] - t, t - end_[i]), Seconds{});
        if (distance > reach) continue;
        reach = distance;
        nearest = span_[i];
        if (!(distance > Seconds{})) break;
    }
    return nearest;
}

}  // namespace sextant::gui
