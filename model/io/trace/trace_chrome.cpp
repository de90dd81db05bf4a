#include "model/io/trace/trace_chrome.hpp"

#include "model/io/format/json_text.hpp"

#include <array>
#include <charconv>
#include <ostream>
#include <string>
#include <vector>

namespace sextant {
namespace {

std::string fixed(double value, int decimals) {
    std::array<char, 400> text;
    char* const end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals).ptr;
    return {text.data(), end};
}

constexpr std::array<std::string_view, stream_count> thread_names = {
    "compute", "communication", "send to the next stage", "send to the previous stage", "copy to and from the host", "server", "loader"};
// Slices of a thread must nest. The part of an exchange that goes on behind the kernels after it would not: it has a thread of its own.
constexpr int behind_kernels = stream_count;
constexpr std::string_view behind_kernels_name = "exchanges behind kernels";

std::string process_name(const TraceRank& r) {
    std::string name = name_of(r);
    if (!r.server) name += " (stage " + std::to_string(r.stage) + ")";
    if (r.multiplicity > 1) name += ", stands for " + std::to_string(r.multiplicity) + " ranks";
    if (!r.host.empty()) name += " on " + r.host;
    return name;
}

// The thread on which each span is drawn.
std::vector<int> threads_of(const Trace& trace) {
    std::vector<int> threads(trace.spans.size());
    std::vector<SpanIndex> previous(trace.ranks.size() * stream_count, static_cast<SpanIndex>(trace.spans.size()));
    for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
        const Span& s = trace.spans[i];
        threads[i] = static_cast<int>(s.stream);
        SpanIndex& before = previous[std::size_t{s.rank} * stream_count + static_cast<std::size_t>(s.stream)];
        if (s.stream == Stream::compute && before < i && trace.spans[before].end > s.start) threads[before] = behind_kernels;
        before = i;
    }
    return threads;
}

class EventList {
public:
    explicit EventList(std::ostream& out) : out_(out) {
        out_ << R"({"displayTimeUnit":"ms","otherData":{"schema":"trace/1","made_by":"sextant"},"traceEvents":[)";
    }
    std::ostream& next() {
        out_ << (first_ ? "\n" : ",\n");
        first_ = false;
        return out_;
    }
    void end() { out_ << "\n]}\n"; }

    // Numbers that no trace before used.
    std::size_t processes = 0, arrows = 0;

private:
    std::ostream& out_;
    bool first_ = true;
};

class ChromeWriter {
public:
    ChromeWriter(EventList& events, const LabelledTrace& labelled)
        : events_(events),
          trace_(*labelled.trace),
          prefix_(labelled.label.empty() ? "" : labelled.label + " "),
          threads_(threads_of(trace_)),
          first_process_(events.processes),
          first_arrow_(events.arrows) {}

    void write(const ChromeTraceView& view) {
        name_everything();
        for (SpanIndex i = 0; i < trace_.spans.size(); ++i) slice(i);
        if (trace_.spans.size() <= view.arrows_up_to)
            for (SpanIndex i = 0; i < trace_.spans.size(); ++i) arrow(i);
        for (const MemoryTimeline& m : view.memory) memory(m);
        if (!view.utilization.empty()) utilization(view.utilization);
        events_.processes += trace_.ranks.size() + 1;
        events_.arrows += trace_.spans.size();
    }

private:
    std::ostream& event() { return events_.next(); }
    [[nodiscard]] std::size_t process_of(std::size_t rank) const { return first_process_ + rank; }
    void name(std::string_view what, std::size_t process, int thread, const std::string& value) {
        event() << R"({"ph":"M","name":")" << what << R"(","pid":)" << process << R"(,"tid":)" << thread << R"(,"args":{)" << value << "}}";
    }
    static std::string in_us(Seconds t) { return fixed(t.si() * 1e6, 4); }

    void name_everything() {
        std::vector<std::array<bool, stream_count + 1>> used(trace_.ranks.size());
        for (SpanIndex i = 0; i < trace_.spans.size(); ++i) used[trace_.spans[i].rank][static_cast<std::size_t>(threads_[i])] = true;
        for (std::size_t r = 0; r < trace_.ranks.size(); ++r) {
            const std::size_t process = process_of(r);
            name("process_name", process, 0, R"("name":)" + json_text(prefix_ + process_name(trace_.ranks[r])));
            name("process_sort_index", process, 0, R"("sort_index":)" + std::to_string(process));
            for (int t = 0; t <= stream_count; ++t) {
                if (!used[r][static_cast<std::size_t>(t)]) continue;
                const std::string_view label = t == behind_kernels ? behind_kernels_name : thread_names[static_cast<std::size_t>(t)];
                name("thread_name", process, t, R"("name":)" + json_text(label));
                name("thread_sort_index", process, t, R"("sort_index":)" + std::to_string(t));
            }
        }
    }

    void slice(SpanIndex i) {
        const Span& s = trace_.spans[i];
        event() << R"({"ph":"X","name":)" << json_text(trace_.names[s.name]) << R"(,"cat":")" << to_text(s.kind) << R"(","pid":)"
                << process_of(s.rank) << R"(,"tid":)" << threads_[i] << R"(,"ts":)" << in_us(s.start) << R"(,"dur":)"
                << in_us(s.end - s.start) << R"(,"args":{"micro_batch":)" << s.micro_batch << R"(,"chunk":)" << s.chunk << R"(,"bytes":)"
                << fixed(s.bytes.si(), 0) << R"(,"gflop":)" << fixed(s.flops.si() / 1e9, 6) << "}}";
    }

    // From the end of a cause on another rank to the start of its effect. An arrow hangs on the slice around its time, so that it leaves
    // just before the end.
    void arrow(SpanIndex i) {
        const Span& effect = trace_.spans[i];
        const Span& cause = trace_.spans[effect.cause];
        if (cause.rank == effect.rank) return;
        const Seconds leaves = max(cause.start, cause.end - 1e-3 * (cause.end - cause.start));
        event() << R"({"ph":"s","name":"lets begin","cat":"cause","id":)" << first_arrow_ + i << R"(,"pid":)" << process_of(cause.rank)
                << R"(,"tid":)" << threads_[effect.cause] << R"(,"ts":)" << in_us(leaves) << "}";
        event() << R"({"ph":"f","bp":"e","name":"lets begin","cat":"cause","id":)" << first_arrow_ + i << R"(,"pid":)"
                << process_of(effect.rank) << R"(,"tid":)" << threads_[i] << R"(,"ts":)" << in_us(effect.start) << "}";
    }

    void counter(const std::string& json_name, std::size_t process, Seconds at, std::string_view unit, const std::string& value) {
        event() << R"({"ph":"C","name":)" << json_name << R"(,"pid":)" << process << R"(,"ts":)" << in_us(at) << R"(,"args":{")" << unit
                << R"(":)" << value << "}}";
    }

    void memory(const MemoryTimeline& m) {
        const std::string name = json_text("memory of stage " + std::to_string(m.stage));
        for (const MemoryPoint& p : m.curve) counter(name, process_of(m.rank), p.at, "bytes", fixed((m.base.total() + p.held).si(), 0));
    }

    void utilization(std::span<const UtilizationSeries> all) {
        const std::size_t process = process_of(trace_.ranks.size());
        name("process_name", process, 0, R"("name":)" + json_text(prefix_ + "utilization"));
        name("process_sort_index", process, 0, R"("sort_index":)" + std::to_string(process));
        for (const UtilizationSeries& series : all) {
            const std::string name = json_text(series.count > 1 ? series.name + " x" + std::to_string(series.count) : series.name);
            const double intervals = static_cast<double>(series.busy.size());
            for (std::size_t i = 0; i < series.busy.size(); ++i)
                counter(name, process, trace_.end * (static_cast<double>(i) / intervals), "percent", fixed(100 * series.busy[i], 2));
        }
    }

    EventList& events_;
    const Trace& trace_;
    std::string prefix_;
    std::vector<int> threads_;
    std::size_t first_process_, first_arrow_;
};

}  // namespace

void write_chrome_traces(std::ostream& out, std::span<const LabelledTrace> traces) {
    EventList events(out);
    for (const LabelledTrace& t : traces) ChromeWriter(events, t).write(t.view);
    events.end();
}

void write_chrome_trace(std::ostream& out, const Trace& trace, const ChromeTraceView& view) {
    const LabelledTrace one{{}, &trace, view};
    write_chrome_traces(out, {&one, 1});
}

}  // namespace sextant
