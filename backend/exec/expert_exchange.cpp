#include "backend/exec/expert_exchange.hpp"

#include "backend/exec/reals.hpp"

#include <numeric>

namespace sextant {
namespace {

using Counts = std::vector<std::int64_t>;

// Of each of so many ranks, what its numbers add up to.
Counts by_rank(const Counts& counts, int ranks) {
    const std::size_t each = counts.size() / static_cast<std::size_t>(ranks);
    Counts sums;
    for (auto at = counts.begin(); at != counts.end(); at += static_cast<std::ptrdiff_t>(each))
        sums.push_back(std::accumulate(at, at + static_cast<std::ptrdiff_t>(each), std::int64_t{0}));
    return sums;
}

Array on_device(ComputeDevice& device, const Counts& numbers) {
    const std::int64_t count = std::ssize(numbers);
    Array array = device.allocate(room_for(count), Element::index).part(0, count);
    device.upload(numbers.data(), array);
    return array;
}

// Ranks that have other tokens of the same sequences count them for each other.
Array pulls_of(ComputeDevice& device, RankCommunicator& communicator, Counts counts, const TokenPermute& p, const RoutedTokens& tokens,
               double loss_weight) {
    const std::int64_t experts = static_cast<std::int64_t>(counts.size()) / tokens.sequences;
    if (tokens.cut) communicator.sum_counts(ParallelGroup::tensor, counts);
    communicator.sum_counts(ParallelGroup::context, counts);
    const std::int64_t tokens_of_sequence = tokens.of_sequence * communicator.ranks(ParallelGroup::context);
    return uploaded(device, balance_pulls(counts, experts, p.copies, tokens_of_sequence, p.balance_loss * loss_weight), Element::real);
}

}  // namespace

Routing ExpertExchange::route(const OperatorCall& c, const RoutedTokens& tokens, double loss_weight) const {
    const auto& p = std::get<TokenPermute>(c.op.kind);
    const auto room = [&] { return device_.allocate(p.tokens * p.copies, Element::index); };
    Routing routing{.rows = room(), .scores = room(), .chosen = {}, .tokens = tokens};
    ExpertCounts counts = device_.choose_experts(c, tokens, routing.rows, routing.scores);
    routing.sent = rows_sent(counts.chosen, p);
    routing.chosen = std::move(counts.chosen);
    if (p.balance_loss > 0) routing.pulls = pulls_of(device_, communicator_, std::move(counts.of_sequences), p, tokens, loss_weight);
    return routing;
}

void ExpertExchange::share_counts(bool gathers, Routing& routing) const {
    const std::size_t experts = routing.sent.size(), here = experts / static_cast<std::size_t>(cut_.among.ranks);
    routing.experts_here = static_cast<std::int64_t>(here);
    const Counts of_all = cut_.among.ranks > 1 ? communicator_.gather_counts(ParallelGroup::expert, routing.sent) : routing.sent;
    for (auto at = of_all.begin(); at != of_all.end(); at += static_cast<std::ptrdiff_t>(experts)) {
        const auto first = at + static_cast<std::ptrdiff_t>(here) * cut_.among.rank;
        routing.arrived.insert(routing.arrived.end(), first, first + static_cast<std::ptrdiff_t>(here));
    }
    if (cut_.among.ranks > 1 && here > 1) routing.order = on_device(device_, order_by_expert(routing.arrived, routing.experts_here));
    routing.worked.resize(here);
    for (std::size_t i = 0; i < routing.arrived.size(); ++i) routing.worked[i % here] += routing.arrived[i];
    if (gathers) routing.worked = communicator_.gather_counts(ParallelGroup::expert_tensor, routing.worked);
}

void ExpertExchange::exchange_rows(ExchangeKind kind, ParallelGroup group, const Routing& routing, bool to_experts,
                                   std::span<const Array> from, std::span<const Array> to) const {
    Counts of_from, of_to;
    if (kind == ExchangeKind::all_to_all) {
        of_from = by_rank(routing.sent, cut_.among.ranks);
        of_to = by_rank(routing.arrived, cut_.among.ranks);
        if (!to_experts) std::swap(of_from, of_to);
    } else if (kind == ExchangeKind::all_gather) {
        of_to = by_rank(routing.worked, cut_.inside.ranks);
    } else if (kind == ExchangeKind::reduce_scatter) {
        of_from = by_rank(routing.worked, cut_.inside.ranks);
    } else {
        for (std::size_t i = 0; i < from.size(); ++i) device_.copy(from[i], to[i]);
        from = to;
    }
    std::vector<RankCommunicator::Rows> out, in;
    for (const Array& a : from) out.push_back({a, of_from});
    for (const Array& a : to) in.push_back({a, of_to});
    communicator_.exchange_rows(kind, group, out, in);
}

}  // namespace sextant
