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

bool runs_kernels(SpanKind k) {
    return k == SpanKind::forward || k == SpanKind::backward || k == SpanKind::weight_gradient || k == SpanKind::recompute ||
           k == SpanKind::optimizer;
}

}  // namespace sextant
