#include "backend/exec/block_exchanges.hpp"

#include "backend/exec/span_kinds.hpp"

namespace sextant {

int BlockExchanges::ranks(ParallelGroup group) const {
    const auto& communicator = graph_.ranks()[rank_].communicators[static_cast<std::size_t>(group)];
    return communicator ? static_cast<int>(graph_.communicators()[*communicator].members.size()) : 1;
}

void BlockExchanges::call(ExchangeKind kind, ParallelGroup group, const Array& from, const Array& to) {
    const auto& communicator = graph_.ranks()[rank_].communicators[static_cast<std::size_t>(group)];
    if (!communicator) return;  // alone in the group: networks that are not cut have no exchanges
    recorder_.end();
    const std::vector<Call> calls{CollectiveCall{kind, *communicator, Stream::compute, from, to}};
    const Mark came = device_.mark();
    loop_.run(calls, came);
    RecordedSpan span = exchange_span(graph_, recorder_.segment(), calls, device_.time_of(came), now());
    span.stream = Stream::compute;
    recorder_.add(span);
}

}  // namespace sextant
