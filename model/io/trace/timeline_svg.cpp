#include "model/io/trace/timeline_svg.hpp"

#include "model/base/evenly_spread.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/svg.hpp"
#include "model/io/trace/span_style.hpp"
#include "model/io/trace/timeline_boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace sextant {
namespace {

constexpr std::size_t most_rows = 64, most_memory_curves = 8;
constexpr std::size_t most_boxes = 9'000, most_tips = 2'500;
constexpr double margin = 20, title_size = 17, bold = 1.13, note_size = 12, legend_size = 12;
constexpr std::string_view faint = "#e4e4e4", grey = "#666666", idle = "#efefef", lane_ground = "#f8f8f8";

bool numbered(SpanKind k) { return runs_kernels(k) && k != SpanKind::optimizer; }

struct TimeUnit {
    std::string_view name;
    Seconds value;
};
TimeUnit unit_for(Seconds end) {
    using namespace units;
    if (end >= 2 * s) return {"s", s};
    return end >= 2 * ms ? TimeUnit{"ms", ms} : TimeUnit{"\u00b5s", us};
}

struct Row {
    GraphRank rank = 0;
    std::string label;
    std::vector<SpanRow> lanes;  // compute; transfers; exchanges and copies; loaders
};
constexpr std::size_t lane_count = 4;
std::size_t lane_of(Stream s) {
    switch (s) {
        case Stream::compute:
        case Stream::server: return 0;
        case Stream::send_next:
        case Stream::send_previous: return 1;
        case Stream::communication:
        case Stream::copy: return 2;
        case Stream::loader: return 3;
    }
    return 0;
}

class Picture {
public:
    Picture(const Trace& trace, const TimelinePicture& options) : trace_(trace), options_(options) {
        choose_rows();
        double label = 60;
        for (const Row& row : rows_) label = std::max(label, svg::width_of(row.label, 12));
        left_ = margin + label + 8;
        right_ = std::max(options.width, left_ + 300) - margin;
        end_ = trace.end > Seconds{} ? trace.end : Seconds::from_si(1e-6);
        pixel_ = end_ / (right_ - left_);
    }

    std::string draw() {
        // The bars first: what they leave out belongs into the heading.
        std::string bars = draw_rows();
        const std::string memory = options_.memory.empty() ? "" : draw_memory();
        const double bars_height = height_;
        const std::string heading = draw_heading();
        std::string body = heading + "<g transform=\"translate(0 " + svg::number(heading_height_) + ")\">\n" + bars + memory + "</g>\n";
        return svg::document(right_ + margin, heading_height_ + bars_height + margin, options_.title, body);
    }

private:
    void choose_rows() {
        std::vector<Row> all;
        std::set<std::tuple<bool, int, bool>> seen;
        for (GraphRank r = 0; r < trace_.ranks.size(); ++r) {
            const TraceRank& rank = trace_.ranks[r];
            if (!seen.insert({rank.server, rank.server ? 0 : rank.stage, is_slow(rank)}).second) continue;
            all.push_back({r, label_of(rank), {}});
        }
        std::ranges::sort(all, {}, [&](const Row& row) { return std::pair(trace_.ranks[row.rank].server, trace_.ranks[row.rank].stage); });
        if (all.size() > most_rows)
            notes_.push_back(std::to_string(most_rows) + " of " + std::to_string(all.size()) +
                             (options_.name_of ? " ranks are shown." : " stages are shown."));
        for (const std::size_t i : evenly_spread(all.size(), most_rows)) rows_.push_back(std::move(all[i]));

        std::vector<Row*> row_of(trace_.ranks.size(), nullptr);
        for (Row& row : rows_) row.lanes.resize(lane_count), row_of[row.rank] = &row;
        for (const Span& s : trace_.spans)
            if (Row* row = row_of[s.rank]; row && s.end > s.start && (options_.other_streams || lane_of(s.stream) == 0))
                row->lanes[lane_of(s.stream)].push_back(&s);
        count_micro_batches();
        for (const Row& row : rows_)
            for (std::size_t l = 0; l < lane_count; ++l) lane_used_[l] = lane_used_[l] || !row.lanes[l].empty();
    }

    [[nodiscard]] bool is_slow(const TraceRank& rank) const { return options_.kinds && !rank.server && rank.rank < options_.kinds->slow; }

    // In a recording every rank stands for itself; without a pipeline there is only one stage.
    [[nodiscard]] std::string label_of(const TraceRank& rank) const {
        const bool has_stages = std::ranges::any_of(trace_.ranks, [](const TraceRank& r) { return r.stage > 0; });
        if (rank.server) return "server";
        const std::string name = has_stages && !options_.name_of ? "stage " + std::to_string(rank.stage) : name_of(rank);
        return options_.kinds ? name + ", " + (is_slow(rank) ? options_.kinds->slow_device : options_.kinds->other_device) : name;
    }

    // One alone needs no number.
    void count_micro_batches() {
        std::uint32_t first = UINT32_MAX, last = 0;
        for (const Span& s : trace_.spans)
            if (numbered(s.kind)) {
                first = std::min(first, s.micro_batch);
                last = std::max(last, s.micro_batch);
            }
        has_numbers_ = first < last;
        widest_number_ = svg::width_of(std::to_string(last), 1);
    }

    [[nodiscard]] std::string_view name_of_kind(SpanKind k) const { return options_.name_of ? options_.name_of(k) : style_of(k).name; }

    [[nodiscard]] double x_of(Seconds t) const { return left_ + t / pixel_; }

    std::string draw_heading() {
        const double width = right_ - margin;
        double y = margin + title_size;
        std::string out = svg::text(margin, y, svg::shortened(options_.title, bold * title_size, width),
                                    {.size = title_size, .fill = "#111111", .bold = true});
        std::string facts = "One step takes " + to_text(trace_.end) + ".";
        if (shows_numbers_) facts += " Numbers are those of micro-batches.";
        for (const std::string& note : notes_) facts += " " + note;
        y += 4;
        for (const std::string& text : svg::wrapped(facts, note_size, width))
            out += svg::text(margin, y += 17, text, {.size = note_size, .fill = grey});
        y += 12;
        double x = margin;
        const auto entry = [&](std::string_view name, const std::string& fill) {
            const double needs = 18 + svg::width_of(name, legend_size) + 14;
            if (x + needs > right_ && x > margin) {
                x = margin;
                y += 20;
            }
            out += svg::rectangle(x, y, 13, 13, fill) + svg::text(x + 18, y + 11, name, {.size = legend_size});
            x += needs;
        };
        for (const SpanKind kind : all_span_kinds)
            if (kinds_.contains(kind)) entry(name_of_kind(kind), style_of(kind).colour.hex());
        if (!rows_.empty()) entry("idle", std::string(idle));
        heading_height_ = y + 13 + 14;
        return out;
    }

    std::string draw_rows() {
        const double n = static_cast<double>(std::max<std::size_t>(1, rows_.size()));
        const double compute = std::clamp(640 / n, 9.0, 30.0), thin = std::max(3.0, std::round(compute / 4)),
                     gap = std::clamp(compute / 3, 3.0, 9.0);
        const std::array<double, lane_count> lane_height = {compute, lane_used_[1] ? thin : 0, lane_used_[2] ? thin : 0,
                                                            lane_used_[3] ? thin : 0};
        const double row_height = std::accumulate(lane_height.begin(), lane_height.end(), gap);
        const double bottom = row_height * static_cast<double>(rows_.size());
        std::string out = draw_grid(bottom);

        std::array<Detail, lane_count> detail{};
        const std::size_t lanes_of_row = lane_used_[3] ? lane_count : lane_count - 1;
        for (std::size_t l = 0; l < lane_count; ++l) {
            std::vector<SpanRow> lanes;
            for (const Row& row : rows_) lanes.push_back(row.lanes[l]);
            // Boxes of the compute stream are to be read, those of the thin lanes to be seen.
            const Seconds readable = (l == 0 ? 6 : 0.3) * pixel_;
            detail[l] = detail_for(lanes, readable, most_boxes / lanes_of_row / std::max<std::size_t>(1, rows_.size()));
        }
        note_detail(detail[0], std::max(detail[1], detail[2]));

        double y = 0;
        for (const Row& row : rows_) {
            const double label_size = std::min(12.0, compute + 1);
            out += svg::text(left_ - 8, y + compute / 2 + label_size * 0.35, row.label, {.size = label_size, .anchor = svg::Anchor::end});
            double lane_y = y;
            for (std::size_t l = 0; l < lane_count; lane_y += lane_height[l], ++l)
                if (lane_height[l] > 0) out += draw_lane(row.lanes[l], detail[l], lane_y, lane_height[l], l == 0);
            y += row_height;
        }
        height_ = bottom + 40;
        return out;
    }

    void note_detail(Detail compute, Detail thin_lanes) {
        if (compute == Detail::segments)
            notes_.emplace_back(std::string(has_numbers_ ? "What belongs to one micro-batch" : "What follows closely") +
                                " is drawn as one box, in the color of its longest part.");
        if (compute == Detail::columns)
            notes_.emplace_back("There is more than can be drawn: each column is divided among what its time was spent on.");
        else if (thin_lanes == Detail::columns)
            notes_.emplace_back("Each column of the thin lanes is divided among what its time was spent on.");
    }

    std::string draw_grid(double bottom) const {
        const TimeUnit unit = unit_for(end_);
        const double range = end_ / unit.value, step = svg::round_step(range, (right_ - left_) / 110);
        std::string out;
        for (int i = 0; i * step <= range * (1 + 1e-9); ++i) {
            const double x = x_of(i * step * unit.value);
            out += svg::line(x, 0, x, bottom + 4, faint);
            out += svg::text(x, bottom + 18, svg::number(i * step), {.size = 11, .fill = grey, .anchor = svg::Anchor::middle});
        }
        out += svg::text(right_, bottom + 33, "time in " + std::string(unit.name), {.size = 11, .fill = grey, .anchor = svg::Anchor::end});
        return out;
    }

    std::string draw_lane(const SpanRow& spans, Detail detail, double y, double height, bool is_compute) {
        const double seam = is_compute ? 0 : 1;  // from the lane above
        std::string out = svg::rectangle(left_, y + seam, right_ - left_, height - seam, is_compute ? idle : lane_ground);
        if (detail == Detail::columns) return out + draw_columns(spans, y + seam, height - seam);
        for (const Box& box : boxes_of(spans, detail)) out += draw_box(box, y + seam, height - seam, is_compute);
        return out;
    }

    // A bar for each interval, stacked from below; what is left above is idle.
    std::string draw_columns(const SpanRow& spans, double y, double height) {
        const double width = rows_.size() > 32 ? 8 : 4;
        const Seconds interval = width * pixel_;
        const std::vector<TimeByKind> columns = columns_of(spans, interval);
        std::vector<double> tops(columns.size(), y + height);
        std::string out;
        for (const SpanKind kind : all_span_kinds) {
            std::string bars;
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const double part = std::min(columns[c][kind] / interval * height, tops[c] - y);
                const double x = left_ + static_cast<double>(c) * width, w = std::min(width, right_ - x);
                if (part < 0.05 || w <= 0) continue;
                bars += "M" + svg::number(x) + " " + svg::number(tops[c]) + "h" + svg::number(w) + "v" + svg::number(-part) + "h" +
                        svg::number(-w) + "z";
                tops[c] -= part;
            }
            if (!bars.empty()) {
                out += svg::path(bars, style_of(kind).colour.hex());
                kinds_.insert(kind);
            }
        }
        return out;
    }

    std::string draw_box(const Box& box, double y, double height, bool with_number) {
        kinds_.insert(box.kind);
        const bool has_number = has_numbers_ && with_number && numbered(box.kind);
        // Later chunks of a stage are lighter.
        const svg::Colour colour = style_of(box.kind).colour.towards_white(has_number ? std::min(0.5, 0.3 * box.chunk) : 0);
        const double x = x_of(box.start), width = std::max(0.4, x_of(box.end) - x);
        const double seam = width > 4 ? 0.7 : 0;  // neighbours stay apart
        const std::string label = std::to_string(box.micro_batch);
        std::string tip;
        if (++boxes_ <= most_tips) {
            tip = std::string(name_of_kind(box.kind)) + (has_number ? " of micro-batch " + label : "");
            tip += ", " + to_text(box.end - box.start) + " from " + to_text(box.start, 5);
        }
        std::string out = svg::rectangle(x, y, width - seam, height, colour.hex(), tip);
        constexpr double legible = 6.5;
        const double size = std::min({12.0, height * 0.6, (width - 2) / widest_number_});
        if (!has_number || size < legible) return out;
        shows_numbers_ = true;
        return out + svg::text(x + (width - seam) / 2, y + height / 2 + size * 0.36, label,
                               {.size = size, .fill = colour.text_on_it(), .anchor = svg::Anchor::middle});
    }

    [[nodiscard]] std::string name_of_stage(int stage) const {
        const auto of = std::ranges::find_if(trace_.ranks, [&](const TraceRank& r) { return !r.server && r.stage == stage; });
        return of == trace_.ranks.end() ? "stage " + std::to_string(stage) : label_of(*of);
    }

    std::string draw_memory() {
        const std::vector<std::size_t> curves = evenly_spread(options_.memory.size(), most_memory_curves);
        Bytes top;
        for (const MemoryTimeline& m : options_.memory) top = max(top, m.peak());
        const bool limit_shown = options_.device_memory && *options_.device_memory < 3 * top;
        if (limit_shown) top = max(top, *options_.device_memory);
        if (top <= Bytes{}) return {};

        constexpr double curve_height = 46, gap = 22;
        double y = height_ + 24;
        std::string heading = "Memory over time: gray is held all the time, blue are activations and what is in use for a while";
        if (limit_shown) heading += "; the red line is the device's " + to_text(*options_.device_memory);
        if (curves.size() < options_.memory.size())
            heading += ". " + std::to_string(curves.size()) + " of " + std::to_string(options_.memory.size()) + " stages";
        std::string out;
        for (const std::string& text : svg::wrapped(heading, note_size, right_ - margin)) {
            out += svg::text(margin, y, text, {.size = note_size, .fill = grey});
            y += 18;
        }
        y += 4;
        for (const std::size_t i : curves) {
            out += draw_curve(options_.memory[i], y, curve_height, top);
            if (limit_shown) {
                const double at = y + curve_height * (1 - *options_.device_memory / top);
                out += svg::line(left_, at, right_, at, "#c0392b");
            }
            y += curve_height + gap;
        }
        height_ = y;
        return out;
    }

    std::string draw_curve(const MemoryTimeline& m, double y, double height, Bytes top) const {
        const double bottom = y + height, base = bottom - height * (m.base.total() / top);
        std::string out = svg::rectangle(left_, y, right_ - left_, height, "#fafafa");
        out += svg::text(left_ - 8, y + height / 2, name_of_stage(m.stage), {.size = 12, .anchor = svg::Anchor::end});
        out += svg::rectangle(left_, base, right_ - left_, bottom - base, "#d0d0d0");
        std::string path = "M" + svg::number(left_) + " " + svg::number(base);
        const auto columns = static_cast<std::size_t>(right_ - left_);
        const std::vector<Bytes> highest = highest_by_interval(m, end_, columns);
        const double column = (right_ - left_) / static_cast<double>(columns);
        Bytes before;
        for (std::size_t c = 0; c < columns; ++c) {
            if (highest[c] == before) continue;
            path += "H" + svg::number(left_ + static_cast<double>(c) * column) + "V" + svg::number(base - height * (highest[c] / top));
            before = highest[c];
        }
        path += "H" + svg::number(right_) + "V" + svg::number(base) + "Z";
        out += svg::path(path, "#8fb3d6");
        const std::string peak = "peak " + to_text(m.peak()) + " at " + to_text(m.highest_at);
        return out + svg::text(right_, y - 5, peak, {.size = 11, .fill = grey, .anchor = svg::Anchor::end});
    }

    const Trace& trace_;
    const TimelinePicture& options_;
    std::vector<Row> rows_;
    std::array<bool, lane_count> lane_used_{};
    double left_ = 0, right_ = 0, height_ = 0, heading_height_ = 0;
    Seconds end_, pixel_;
    std::vector<std::string> notes_;
    std::set<SpanKind> kinds_;
    std::size_t boxes_ = 0;
    bool has_numbers_ = false, shows_numbers_ = false;
    double widest_number_ = 1;  // of a micro-batch, in a font of size 1: either all boxes of a width have room for theirs or none
};

}  // namespace

TimelinePicture picture_of(const SimulationReport& r) {
    TimelinePicture picture{.title = r.report.scenario, .memory = r.memory, .device_memory = r.report.estimate.device_memory};
    const Scenario& job = r.report.job;
    if (job.has_slow_devices()) {
        const std::string device = job.cluster.node.device.name;
        const auto& slow = job.straggler->device;
        picture.kinds = {job.straggler->devices, slow ? slow->name : device + " at " + percent_text(job.straggler->speed), device};
    }
    return picture;
}

std::string timeline_svg(const Trace& trace, const TimelinePicture& options) { return Picture(trace, options).draw(); }

}  // namespace sextant
