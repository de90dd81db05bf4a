#include "model/io/trace/profiler_reader.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/trace/profiler_events.hpp"
#include "model/io/trace/profiler_fields.hpp"
#include "model/io/trace/profiler_step.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace sextant {
namespace {

using profiler::DeviceWork, profiler::Period;
using profiler::object_of, profiler::text_of, profiler::whole_of;

// The steps on the device, each until the next begins; the last only where it is alone.
std::vector<Period> windows_of(const std::vector<DeviceWork>& work, std::vector<Period> steps) {
    std::ranges::sort(steps, {}, &Period::start);
    std::vector<std::optional<Period>> found(steps.size());
    for (const DeviceWork& w : work) {
        const auto after = std::ranges::upper_bound(steps, w.launched, {}, &Period::start);
        if (after == steps.begin() || w.launched >= (after - 1)->end) continue;
        auto& window = found[static_cast<std::size_t>(after - steps.begin()) - 1];
        window = window ? Period{std::min(window->start, w.start), std::max(window->end, w.end)} : Period{w.start, w.end};
    }
    std::vector<Period> windows;
    for (const auto& window : found)
        if (window) windows.push_back(*window);
    for (std::size_t i = 0; i + 1 < windows.size(); ++i) windows[i].end = windows[i + 1].start;
    if (windows.size() > 1) windows.pop_back();
    std::erase_if(windows, [](const Period& w) { return w.end <= w.start; });
    return windows;
}

// Gives `events` those of the file as they are parsed, and returns the document without them.
nlohmann::json take_events(std::string_view text, const std::string& name, profiler::Events& events) {
    bool in_events = false;
    const auto take = [&](int depth, nlohmann::json::parse_event_t what, nlohmann::json& parsed) {
        if (depth == 1 && what == nlohmann::json::parse_event_t::key) in_events = parsed == "traceEvents";
        if (depth != 2 || what != nlohmann::json::parse_event_t::object_end || !in_events) return true;
        events.take(parsed);
        return false;  // nothing is kept of it
    };
    nlohmann::json rest = nlohmann::json::parse(text, take, false);
    if (!rest.is_object()) throw InputError(Diagnostic{name, "", "is no JSON, or was cut off", "a trace of torch.profiler"});
    if (events.out_of_range)
        throw InputError(Diagnostic{name, "/traceEvents", "has times more than 285 years away", "ts and dur are microseconds"});
    if (events.without_times)
        throw InputError(Diagnostic{name, "/traceEvents", "has events without a time, or that end before they begin",
                                    "ts and dur are numbers of microseconds"});
    return rest;
}

// Which rank was traced, and of how many.
void read_ranks(const nlohmann::json& root, ProfilerRecord& record) {
    constexpr std::int64_t most_ranks = 1'000'000;
    const nlohmann::json& job = object_of(root, "distributedInfo");
    const std::int64_t rank = whole_of(job, "rank"), ranks = whole_of(job, "world_size");
    if (rank < 0 || rank >= most_ranks || ranks < 0 || ranks > most_ranks || (ranks > 0 && rank >= ranks))
        throw InputError(
            Diagnostic{record.file, "/distributedInfo", "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " is none", ""});
    record.rank = static_cast<int>(rank);
    if (ranks > 0) record.ranks = static_cast<int>(ranks);
}

std::string device_of(const nlohmann::json& root, int rank) {
    const auto devices = root.find("deviceProperties");
    if (devices == root.end() || !devices->is_array() || devices->empty()) return {};
    const nlohmann::json& device = (*devices)[static_cast<std::size_t>(std::max(0, rank)) % devices->size()];
    return device.is_object() ? text_of(device, "name") : std::string();
}

// The index of the median, of two middle ones the shorter.
int middle_of(const std::vector<Seconds>& steps) {
    std::vector<int> order(steps.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int i) { return steps[static_cast<std::size_t>(i)]; });
    return order[(order.size() - 1) / 2];
}

}  // namespace

bool looks_like_profiler(const std::filesystem::path& file) {
    const std::string start = start_of_packed_text(file, 4096);
    return start.find("\"traceEvents\"") != std::string::npos || start.find("\"deviceProperties\"") != std::string::npos;
}

ProfilerRecord profiler_from_text(std::string_view text, const std::string& name, const Plan& plan) {
    profiler::Events events;
    const nlohmann::json rest = take_events(text, name, events);
    events.classify(plan);
    const std::vector<Period> windows = windows_of(events.work, events.steps);
    if (events.work.empty())
        throw InputError(Diagnostic{name, "/traceEvents", "has no kernels of a GPU",
                                    "profile with ProfilerActivity.CUDA; of a run of sextant take what --out wrote, not --trace"});
    if (windows.empty())
        throw InputError(Diagnostic{name, "/traceEvents", "does not say where steps begin", "call step() of the profiler after each step"});

    ProfilerRecord record;
    record.file = name;
    read_ranks(rest, record);
    record.device = device_of(rest, record.rank);
    for (const Period& w : windows) record.steps.push_back(Seconds::from_si((w.end - w.start) * 1e-6));
    record.traced_step = middle_of(record.steps);
    const Period window = windows[static_cast<std::size_t>(record.traced_step)];
    record.trace = profiler::step_trace(events.work, window, events.loading, record.rank);
    return record;
}

ProfilerRecord load_profiler(const std::filesystem::path& file, const Plan& plan) {
    Diagnostics diagnostics;
    const auto text = read_packed_text(file, diagnostics);
    diagnostics.throw_if_any();
    return profiler_from_text(*text, file.string(), plan);
}

}  // namespace sextant
