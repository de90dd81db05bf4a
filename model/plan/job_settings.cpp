#include "model/plan/job_settings.hpp"

#include "model/plan/partition.hpp"

#include <cmath>

namespace sextant {
namespace {

std::string in_words(const Workload& w) {
    std::string text = w.name + " of " + std::to_string(std::llround(size_of(w).parameters)) + " parameters";
    if (const std::int64_t tokens = w.tokens_per_sample(); tokens > 0) text += ", " + std::to_string(tokens) + " tokens a sample";
    return text;
}

std::string in_words(const Precision& p) {
    const auto of = [](const char* what, DataType type) { return std::string(to_text(type)) + what; };
    const bool tensor_cores = p.compute == DataType::fp32 && p.tf32;
    return of(tensor_cores ? " (or TF32) products, " : " products, ", p.compute) + of(" activations, ", p.activation) +
           of(" weights, ", p.parameter) + of(" gradients, ", p.gradient_type()) + of(" on the wire, ", p.reduction_type()) +
           of(" states, ", p.optimizer_state) + (p.master_weights ? "master weights" : "no master weights");
}

}  // namespace

JobSettings job_settings(const Scenario& s) {
    return {{"/workload", in_words(s.workload)},
            {"/plan/micro_batch", std::to_string(s.plan.micro_batch)},
            {"/plan/global_batch", std::to_string(s.plan.global_batch)},
            {"/plan/precision", in_words(kept_precision(s.plan, s.framework))},
            {"/plan/optimizer", s.plan.without_optimizer ? "none" : std::string(facts_of(s.plan.optimizer).name)}};
}

}  // namespace sextant
