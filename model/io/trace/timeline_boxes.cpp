#include "model/io/trace/timeline_boxes.hpp"

#include <algorithm>

namespace sextant {
namespace {

Box box_of(const Span& s) { return {s.start, s.end, s.kind, s.micro_batch, s.chunk}; }

// Two pieces of the same thing, with next to nothing between them.
bool follows_closely(const Box& box, const Box& before) {
    return box.kind == before.kind && box.micro_batch == before.micro_batch && box.chunk == before.chunk &&
           box.start - before.end <= 0.05 * (before.end - before.start);
}

void join(std::vector<Box>& boxes) {
    std::size_t joined = 0;
    for (const Box& box : boxes)
        if (joined > 0 && follows_closely(box, boxes[joined - 1]))
            boxes[joined - 1].end = max(boxes[joined - 1].end, box.end);
        else
            boxes[joined++] = box;
    boxes.resize(joined);
}

}  // namespace

Detail detail_for(const std::vector<SpanRow>& rows, Seconds readable, std::size_t most) {
    for (const Detail detail : {Detail::spans, Detail::segments}) {
        std::size_t count = 0, longest_row = 0;
        Seconds time;
        for (const SpanRow& row : rows) {
            const std::vector<Box> boxes = boxes_of(row, detail);
            count += boxes.size();
            longest_row = std::max(longest_row, boxes.size());
            for (const Box& b : boxes) time += b.end - b.start;
        }
        if (longest_row <= most && time >= static_cast<double>(count) * readable) return detail;
    }
    return Detail::columns;
}

std::vector<Box> boxes_of(const SpanRow& row, Detail detail) {
    std::vector<Box> boxes;
    TimeByKind time;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const Span& s = *row[i];
        if (detail == Detail::spans || i == 0 || row[i - 1]->segment != s.segment) {
            boxes.push_back(box_of(s));
            time = {};
        }
        Box& box = boxes.back();
        time[s.kind] += s.end - s.start;
        box.kind = time.largest();
        box.end = max(box.end, s.end);
    }
    if (detail == Detail::segments) join(boxes);
    return boxes;
}

std::vector<TimeByKind> columns_of(const SpanRow& row, Seconds interval) {
    std::vector<TimeByKind> columns;
    for (const Span* s : row) {
        const auto last = static_cast<std::size_t>(s->end / interval);
        if (last >= columns.size()) columns.resize(last + 1);
        for (auto c = static_cast<std::size_t>(s->start / interval); c <= last; ++c) {
            const Seconds left = static_cast<double>(c) * interval;
            columns[c][s->kind] += max(Seconds{}, min(s->end, left + interval) - max(s->start, left));
        }
    }
    return columns;
}

}  // namespace sextant
