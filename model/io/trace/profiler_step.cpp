#include "model/io/trace/profiler_step.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sextant::profiler {
namespace {

// On which stream of the device most of the work is.
std::int64_t main_stream(std::span<const DeviceWork> work) {
    std::map<std::int64_t, double> busy;
    for (const DeviceWork& w : work)
        if (!is_exchange_kernel(w)) busy[w.stream] += w.end - w.start;
    const auto most = std::ranges::max_element(busy, {}, [](const auto& s) { return s.second; });
    return most == busy.end() ? 0 : most->first;
}

// One step: its work, from `window.start` to `window.end`.
class StepTrace {
public:
    StepTrace(Period window, std::int64_t main_stream) : window_(window), main_stream_(main_stream) {}

    Trace make(std::span<const DeviceWork> work, const std::vector<Period>& loading, int rank) {
        trace_.ranks = {{rank, 0, 1, false, {}}};
        trace_.end = since(window_.end);
        for (const DeviceWork& w : work) add(w);
        std::ranges::stable_sort(trace_.spans, {}, &Span::start);
        fill_idle(loading);
        set_causes();
        return std::move(trace_);
    }

private:
    [[nodiscard]] Seconds since(double t) const { return Seconds::from_si((t - window_.start) * 1e-6); }

    void add(const DeviceWork& w) {
        const double start = std::max(w.start, window_.start), end = std::min(w.end, window_.end);
        if (end <= start) return;
        Span s;
        s.start = since(start);
        s.end = since(end);
        s.bytes = Bytes::from_si(w.bytes);
        s.kind = w.kind;
        s.stream = w.stream == main_stream_ ? Stream::compute : stream_of(w.kind);
        s.name = name_of(w.name);
        trace_.spans.push_back(s);
    }
    static Stream stream_of(SpanKind k) {
        return k == SpanKind::device_copy ? Stream::copy : runs_kernels(k) ? Stream::compute : Stream::communication;
    }

    // Where nothing runs the device waits: for samples, if that is what its host does, else for its host.
    void fill_idle(const std::vector<Period>& loading) {
        std::vector<Span> waits;
        Seconds busy;
        auto next = loading.begin();
        const auto fill = [&](Seconds until) {
            while (next != loading.end() && since(next->end) <= busy) ++next;
            for (auto l = next; l != loading.end() && since(l->start) < until; ++l) {
                const Seconds start = max(busy, since(l->start)), end = min(until, since(l->end));
                if (start >= end) continue;
                wait(waits, busy, start, SpanKind::launch);
                wait(waits, start, end, SpanKind::input);
                busy = end;
            }
            wait(waits, busy, until, SpanKind::launch);
        };
        for (const Span& s : trace_.spans) {
            fill(s.start);
            busy = max(busy, s.end);
        }
        fill(trace_.end);
        trace_.spans.insert(trace_.spans.end(), waits.begin(), waits.end());
        std::ranges::stable_sort(trace_.spans, {}, &Span::start);
    }
    void wait(std::vector<Span>& waits, Seconds from, Seconds until, SpanKind kind) {
        if (from >= until) return;
        Span s;
        s.start = from;
        s.end = until;
        s.kind = kind;
        s.name = name_of(std::string(to_text(kind)));
        waits.push_back(s);
    }
    std::uint32_t name_of(const std::string& name) {
        const auto [at, is_new] = names_.emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
        if (is_new) trace_.names.push_back(name);
        return at->second;
    }

    // A kernel that comes after a pause began when what ran beside ended last, if that was in the pause. What runs beside itself comes
    // behind what ended before it, so that of several one behind the other none is taken for a wait.
    void set_causes() {
        std::vector<SpanIndex> beside;
        for (SpanIndex i = 0; i < trace_.spans.size(); ++i) {
            trace_.spans[i].cause = i;
            if (trace_.spans[i].stream != Stream::compute) beside.push_back(i);
        }
        std::optional<SpanIndex> before;
        for (const SpanIndex i : beside) {  // in order of their starts
            const bool behind = before && trace_.spans[*before].end <= trace_.spans[i].start;
            if (behind) trace_.spans[i].cause = *before;
            if (!before || behind || trace_.spans[i].end > trace_.spans[*before].end) before = i;
        }
        std::ranges::sort(beside, {}, [&](SpanIndex i) { return trace_.spans[i].end; });
        Seconds busy;
        auto next = beside.begin();
        for (Span& s : trace_.spans) {
            if (s.stream != Stream::compute) continue;
            while (next != beside.end() && trace_.spans[*next].end <= s.start) ++next;
            if (next != beside.begin() && trace_.spans[*(next - 1)].end > busy) s.cause = *(next - 1);
            busy = max(busy, s.end);
        }
    }

    Period window_;
    std::int64_t main_stream_;
    Trace trace_;
    std::map<std::string, std::uint32_t> names_;
};

}  // namespace

Trace step_trace(std::span<const DeviceWork> work, Period window, const std::vector<Period>& loading, int rank) {
    return StepTrace(window, main_stream(work)).make(work, loading, rank);
}

}  // namespace sextant::profiler
