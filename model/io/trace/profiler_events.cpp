#include "model/io/trace/profiler_events.hpp"

#include "model/base/spelling.hpp"
#include "model/io/trace/profiler_fields.hpp"

#include <algorithm>

namespace sextant::profiler {
namespace {

constexpr double latest = 1LL << 53;  // microseconds: 285 years, beyond which a double misses some

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

}  // namespace

bool is_exchange_kernel(const DeviceWork& w) { return w.name.find("nccl") != std::string::npos; }

void Events::take(const nlohmann::json& e) {
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
        phases[thread(e)].push_back({at, HostPhase::optimizer});
    } else if (name.starts_with("autograd::engine::evaluate_function")) {
        phases[thread(e)].push_back({at, HostPhase::backward});
    } else if (name == "CheckpointFunctionBackward") {
        phases[thread(e)].push_back({at, HostPhase::recompute});
    } else {
        return;
    }
    without_times = without_times || !is_number(e, "ts") || !is_number(e, "dur") || number_of(e, "dur") < 0;
}

// Processes and threads are numbers, or names.
std::size_t Events::thread(const nlohmann::json& e) {
    const std::string key = e.value("pid", nlohmann::json()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "/" +
                            e.value("tid", nlohmann::json()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const auto [at, is_new] = threads_.emplace(key, threads_.size());
    if (is_new) phases.emplace_back();
    return at->second;
}

void Events::classify(const Plan& plan) {
    std::ranges::sort(loading, {}, &Period::start);
    for (auto& intervals : phases) {
        std::ranges::stable_sort(intervals, {}, &PhaseInterval::start);
        for (std::size_t i = 0; i < intervals.size(); ++i)
            intervals[i].around = going_on(intervals, static_cast<std::ptrdiff_t>(i) - 1, intervals[i].start);
    }
    for (DeviceWork& w : work) {
        const auto launch = launches.find(w.correlation);
        w.launched = launch == launches.end() ? w.start : launch->second.at;
        if (launch != launches.end()) w.kind = phase_at(phases[launch->second.thread], w.launched);
        if (is_exchange_kernel(w))
            w.kind = exchange_of(w, plan);
        else if (w.name.find("HtoD") != std::string::npos)
            w.kind = SpanKind::device_copy;
    }
}

}  // namespace sextant::profiler
