#include "backend/exec/block_exchanges.hpp"

#include "backend/exec/span_kinds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

// Elements of each rank's rows.
std::vector<std::int64_t> elements_of(const RankCommunicator::Rows& rows) {
    const std::int64_t all = std::accumulate(rows.of_ranks.begin(), rows.of_ranks.end(), std::int64_t{0});
    std::vector<std::int64_t> elements(rows.of_ranks.begin(), rows.of_ranks.end());
    for (std::int64_t& e : elements) e *= all > 0 ? rows.array.elements / all : 0;
    return elements;
}

}  // namespace

std::optional<CommunicatorIndex> BlockExchanges::communicator_of(ParallelGroup group) const {
    return graph_.ranks()[rank_].communicators[group];
}

int BlockExchanges::ranks(ParallelGroup group) const {
    const auto communicator = communicator_of(group);
    return communicator ? static_cast<int>(graph_.communicators()[*communicator].members.size()) : 1;
}

void BlockExchanges::call(ExchangeKind kind, ParallelGroup group, const Array& from, const Array& to) {
    const auto communicator = communicator_of(group);
    if (!communicator) return;  // alone in the group: networks that are not cut have no exchanges
    call({CollectiveCall{kind, *communicator, Stream::compute, from, to}});
}

void BlockExchanges::call(const std::vector<Call>& calls) {
    recorder_.end();
    const Mark came = device_.mark();
    loop_.run(calls, came);
    const Seconds start = std::exchange(begun_, {}).value_or(device_.time_of(came));
    RecordedSpan span = exchange_span(graph_, recorder_.segment(), calls, start, now());
    span.stream = Stream::compute;
    recorder_.add(span);
}

void BlockExchanges::exchange_rows(ExchangeKind kind, ParallelGroup group, std::span<const Rows> from, std::span<const Rows> to) {
    const auto communicator = communicator_of(group);
    if (!communicator) return;
    std::vector<Call> calls;
    for (std::size_t i = 0; i < from.size(); ++i)
        calls.emplace_back(
            CollectiveCall{kind, *communicator, Stream::compute, from[i].array, to[i].array, elements_of(from[i]), elements_of(to[i])});
    call(calls);
}

std::vector<std::int64_t> BlockExchanges::gather_counts(ParallelGroup group, std::span<const std::int64_t> mine) {
    const auto communicator = communicator_of(group);
    if (!communicator) return {mine.begin(), mine.end()};
    recorder_.end();
    const auto count = static_cast<std::int64_t>(mine.size());
    const Array part = device_.allocate(count, Element::index), whole = device_.allocate(count * ranks(group), Element::index);
    device_.upload(mine.data(), part);
    const Mark came = device_.mark();
    loop_.run({CollectiveCall{ExchangeKind::all_gather, *communicator, Stream::compute, part, whole}}, came);
    if (!begun_) begun_ = device_.time_of(came);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(whole.elements));
    device_.download(whole, counts.data());
    return counts;
}

void BlockExchanges::sum_counts(ParallelGroup group, std::span<std::int64_t> counts) {
    const std::optional<Seconds> begun = begun_;
    const std::vector<std::int64_t> of_all = gather_counts(group, counts);
    begun_ = begun;
    std::ranges::fill(counts, 0);
    for (std::size_t i = 0; i < of_all.size(); ++i) counts[i % counts.size()] += of_all[i];
}

}  // namespace sextant
