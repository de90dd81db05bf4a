#include "model/io/trace/profiler_reader.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/spelling.hpp"
#include "model/io/format/text_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>

namespace sextant {
namespace {

// Of an object; nothing where it has none of that type.
std::string text_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
}
bool is_number(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number();
}
double number_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
std::int64_t whole_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}
const nlohmann::json& object_of(const nlohmann::json& object, const char* key) {
    static const nlohmann::json none = nlohmann::json::object();
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : none;
}

// Times of the document are microseconds, of host and device alike: 285 years, beyond which a double misses some.
constexpr double latest = 1LL << 53;
struct Period {
    double start = 0, end = 0;
};

// What the host was at when it launched something.
enum class Phase { optimizer, backward, recompute };
struct PhaseInterval : Period {
    Phase phase;
    std::ptrdiff_t around = -1;  // the interval of its thread that it lies in, if any
};

struct Launch {
    double at = 0;
    std::size_t thread = 0;
};

// A kernel or a copy on the device.
struct DeviceWork : Period {
    std::string name, group;                   // group: what its collective and its process group are called
    std::int64_t correlation = 0, stream = 0;  // correlation: with what launched it; 0: nobody knows
    double bytes = 0;
    SpanKind kind = SpanKind::forward;
    double launched = 0;
};

bool is_exchange_kernel(const DeviceWork& w) { return w.name.find("nccl") != std::string::npos; }

// The events of the document that count, each taken when it is complete: a trace may have millions.
class Events {
public:
    std::vector<DeviceWork> work;
    std::unordered_map<std::int64_t, Launch> launches;  // by correlation
    std::vector<std::vector<PhaseInterval>> phases;     // by thread
    std::vector<Period> steps, loading;
    bool out_of_range = false, without_times = false;

    void take(const nlohmann::json& e) {
        if (text_of(e, "ph") != "X") return;
        const std::string category = lower_case(text_of(e, "cat")), name = text_of(e, "name");
        const Period at{number_of(e, "ts"), number_of(e, "ts") + std::max(0.0, number_of(e, "dur"))};
        const nlohmann::json& args = object_of(e, "args");
        out_of_range = out_of_range || at.start < -latest || at.end > latest;
        if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" || category == "memcpy" || category == "memset") {
            DeviceWork w{at, name, text_of(args, "Collective name") + " " + text_of(args, "Process Group Description")};
            w.correlation = whole_of(args, "correlation");
            w.stream = whole_of(args, "stream");
            w.bytes = std::max(0.0, number_of(args, "bytes"));
            work.push_back(std::move(w));
        } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "runtime") {
            if (const std::int64_t launched = whole_of(args, "correlation"); launched != 0)
                launches.insert_or_assign(launched, Launch{at.start, thread(e)});
        } else if (name.starts_with("ProfilerStep#") && !category.starts_with("gpu")) {
            steps.push_back(at);
        } else if (name.starts_with("enumerate(DataLoader)")) {
            loading.push_back(at);
        } else if (name.starts_with("Optimizer.")) {
            phases[thread(e)].push_back({at, Phase::optimizer});
        } else if (name.starts_with("autograd::engine::evaluate_function")) {
            phases[thread(e)].push_back({at, Phase::backward});
        } else if (name == "CheckpointFunctionBackward") {
            phases[thread(e)].push_back({at, Phase::recompute});
        } else {
            return;
        }
        without_times = without_times || !is_number(e, "ts") || !is_number(e, "dur") || number_of(e, "dur") < 0;
    }

private:
    // Processes and threads are numbers, or names.
    std::size_t thread(const nlohmann::json& e) {
        const std::string key = e.value("pid", nlohmann::json()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "/" +
                                e.value("tid", nlohmann::json()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        const auto [at, is_new] = threads_.emplace(key, threads_.size());
        if (is_new) phases.emplace_back();
        return at->second;
    }

    std::map<std::string, std::size_t> threads_;
};

// The last that began no later than number `i` and goes on at `t`; -1 for none. Of thousands that lie behind each other one is asked.
std::ptrdiff_t going_on(const std::vector<PhaseInterval>& phases, std::ptrdiff_t i, double t) {
    while (i >= 0 && phases[static_cast<std::size_t>(i)].end <= t) i = phases[static_cast<std::size_t>(i)].around;
    return i;
}

// Innermost first: an optimizer's step runs in no backward, a checkpoint in a node of autograd, whose own nodes run in it.
SpanKind phase_at(const std::vector<PhaseInterval>& phases, double t) {
    const auto after = std::ranges::upper_bound(phases, t, {}, &PhaseInterval::start);
    const std::ptrdiff_t innermost = going_on(phases, after - phases.begin() - 1, t);
    if (innermost < 0) return SpanKind::forward;
    constexpr SpanKind kinds[] = {SpanKind::optimizer, SpanKind::backward, SpanKind::recompute};
    return kinds[static_cast<int>(phases[static_cast<std::size_t>(innermost)].phase)];
}

// Megatron calls its groups "TENSOR_MODEL_PARALLEL_GROUP" and the like, meshes of PyTorch "mesh_tp".
SpanKind exchange_of(const DeviceWork& w, const Plan& plan) {
    const auto named = [&](std::string_view words, std::string_view mesh) { return mentions(w.group, words) || mentions(w.group, mesh); };
    if (named("tensor", "mesh_tp")) return SpanKind::tensor_exchange;
    if (named("pipeline", "mesh_pp")) return SpanKind::pipeline_transfer;
    if (named("expert_data", "mesh_efsdp")) return SpanKind::data_exchange;  // gradients of experts
    if (named("expert", "mesh_ep") || named("all_to_all", "alltoall")) return SpanKind::expert_exchange;
    if (named("data", "mesh_dp") || mentions(w.group, "mesh_fsdp")) return SpanKind::data_exchange;
    if (named("context", "mesh_cp")) return SpanKind::context_exchange;
    const bool messages = w.name.find("SendRecv") != std::string::npos;
    if (messages && plan.pp > 1) return SpanKind::pipeline_transfer;
    if (messages && plan.ep > 1) return SpanKind::expert_exchange;
    if (plan.dp > 1 && !(plan.tp > 1 && w.kind == SpanKind::forward)) return SpanKind::data_exchange;
    return plan.tp > 1 ? SpanKind::tensor_exchange : plan.cp > 1 ? SpanKind::context_exchange : SpanKind::data_exchange;
}

// On which stream of the device most of the work is.
std::int64_t main_stream(const std::vector<DeviceWork>& work) {
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

void set_phases(Events& events, const Plan& plan) {
    std::ranges::sort(events.loading, {}, &Period::start);
    for (auto& thread : events.phases) {
        std::ranges::stable_sort(thread, {}, &PhaseInterval::start);
        for (std::size_t i = 0; i < thread.size(); ++i)
            thread[i].around = going_on(thread, static_cast<std::ptrdiff_t>(i) - 1, thread[i].start);
    }
    for (DeviceWork& w : events.work) {
        const auto launch = events.launches.find(w.correlation);
        w.launched = launch == events.launches.end() ? w.start : launch->second.at;
        if (launch != events.launches.end()) w.kind = phase_at(events.phases[launch->second.thread], w.launched);
        if (is_exchange_kernel(w))
            w.kind = exchange_of(w, plan);
        else if (w.name.find("HtoD") != std::string::npos)
            w.kind = SpanKind::device_copy;
    }
}

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

std::string device_of(const nlohmann::json& root, int rank) {
    const auto devices = root.find("deviceProperties");
    if (devices == root.end() || !devices->is_array() || devices->empty()) return {};
    const nlohmann::json& device = (*devices)[static_cast<std::size_t>(std::max(0, rank)) % devices->size()];
    return device.is_object() ? text_of(device, "name") : std::string();
}

// Of the lesser of two in the middle.
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
    Events events;
    bool in_events = false;
    const auto take = [&](int depth, nlohmann::json::parse_event_t what, nlohmann::json& parsed) {
        if (depth == 1 && what == nlohmann::json::parse_event_t::key) in_events = parsed == "traceEvents";
        if (depth != 2 || what != nlohmann::json::parse_event_t::object_end || !in_events) return true;
        events.take(parsed);
        return false;  // nothing is kept of it
    };
    const nlohmann::json root = nlohmann::json::parse(text, take, false);
    if (!root.is_object()) throw InputError(Diagnostic{name, "", "is no JSON, or was cut off", "a trace of torch.profiler"});

    if (events.out_of_range)
        throw InputError(Diagnostic{name, "/traceEvents", "has times more than 285 years away", "ts and dur are microseconds"});
    if (events.without_times)
        throw InputError(Diagnostic{name, "/traceEvents", "has events without a time, or that end before they begin",
                                    "ts and dur are numbers of microseconds"});

    set_phases(events, plan);
    const std::vector<Period> windows = windows_of(events.work, events.steps);
    if (events.work.empty())
        throw InputError(Diagnostic{name, "/traceEvents", "has no kernels of a GPU", "profile with ProfilerActivity.CUDA"});
    if (windows.empty())
        throw InputError(Diagnostic{name, "/traceEvents", "does not say where steps begin", "call step() of the profiler after each step"});

    ProfilerRecord record;
    record.file = name;
    const nlohmann::json& job = object_of(root, "distributedInfo");
    constexpr std::int64_t most_ranks = 1'000'000;
    const std::int64_t rank = whole_of(job, "rank"), ranks = whole_of(job, "world_size");
    if (rank < 0 || rank >= most_ranks || ranks < 0 || ranks > most_ranks || (ranks > 0 && rank >= ranks))
        throw InputError(
            Diagnostic{name, "/distributedInfo", "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " is none", ""});
    record.rank = static_cast<int>(rank);
    if (ranks > 0) record.ranks = static_cast<int>(ranks);
    record.device = device_of(root, record.rank);
    for (const Period& w : windows) record.steps.push_back(Seconds::from_si((w.end - w.start) * 1e-6));
    record.traced_step = middle_of(record.steps);
    const Period window = windows[static_cast<std::size_t>(record.traced_step)];
    record.trace = StepTrace(window, main_stream(events.work)).make(events.work, events.loading, record.rank);
    return record;
}

ProfilerRecord load_profiler(const std::filesystem::path& file, const Plan& plan) {
    Diagnostics diagnostics;
    const auto text = read_packed_text(file, diagnostics);
    diagnostics.throw_if_any();
    return profiler_from_text(*text, file.string(), plan);
}

}  // namespace sextant
