#include "model/graph/trace.hpp"

namespace sextant {

std::string_view to_text(SpanKind k) {
    static constexpr std::string_view names[span_kind_count] = {"forward",
                                                                "backward",
                                                                "weight_gradient",
                                                                "recompute",
                                                                "optimizer",
                                                                "tensor_exchange",
                                                                "context_exchange",
                                                                "expert_exchange",
                                                                "pipeline_transfer",
                                                                "data_exchange",
                                                                "launch",
                                                                "offload",
                                                                "overhead",
                                                                "serve",
                                                                "input",
                                                                "read",
                                                                "decode",
                                                                "copy"};
    return names[static_cast<std::size_t>(k)];
}

SpanKind span_kind(Payload payload) {
    const bool of_weights = payload == Payload::gradients || payload == Payload::weights;
    return of_weights ? SpanKind::data_exchange : SpanKind::pipeline_transfer;
}

SpanKind span_kind(ParallelGroup group) {
    switch (group) {
        case ParallelGroup::tensor:
        case ParallelGroup::expert_tensor: return SpanKind::tensor_exchange;
        case ParallelGroup::context: return SpanKind::context_exchange;
        case ParallelGroup::expert: return SpanKind::expert_exchange;
        case ParallelGroup::pipeline: return SpanKind::pipeline_transfer;
        case ParallelGroup::data:
        case ParallelGroup::expert_data:
        case ParallelGroup::shard:
        case ParallelGroup::replicas: break;
    }
    return SpanKind::data_exchange;
}

bool is_exchange(SpanKind k) {
    switch (k) {
        case SpanKind::tensor_exchange:
        case SpanKind::context_exchange:
        case SpanKind::expert_exchange:
        case SpanKind::pipeline_transfer:
        case SpanKind::data_exchange: return true;
        default: return false;
    }
}

bool runs_kernels(SpanKind k) {
    return k == SpanKind::forward || k == SpanKind::backward || k == SpanKind::weight_gradient || k == SpanKind::recompute ||
           k == SpanKind::optimizer;
}

std::string name_of(const TraceRank& r) { return (r.server ? "server " : "rank ") + std::to_string(r.rank); }

}  // namespace sextant
