#include "tests/simulate/reference/collective_flows.hpp"

#include "model/simulate/event_queue.hpp"

#include <algorithm>

namespace sextant {
namespace {

struct Arrival {
    std::uint32_t rank = 0, version = 0;
};

class RoundPlayer {
public:
    RoundPlayer(const RankNetwork& network, const CollectiveSchedule& schedule)
        : network_(network), schedule_(schedule), links_(network.capacities), ranks_(schedule.ranks) {
        // A round's row, once for all rounds alike.
        for (const Rounds& rounds : schedule.rounds)
            for (int i = 0; i < rounds.count; ++i) {
                awaited_.resize(awaited_.size() + ranks_.size());
                const std::size_t row = awaited_.size() - ranks_.size();
                for (std::size_t r = 0; r < ranks_.size(); ++r)
                    if (rounds.to[r] != static_cast<int>(r)) awaited_[row + rounds.to[r]] = true;
            }
    }

    PlayedCollective play() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) advance(r);
        tell_finishes();
        while (!queue_.empty()) {
            now_ = queue_.top().at;
            while (!queue_.empty() && queue_.top().at == now_) handle(queue_.pop().payload);
            tell_finishes();
        }
        return {now_, flows_, queue_.pushed()};
    }

private:
    struct Rank {
        std::uint32_t rounds = 0;  // index into the schedule's
        int round = 0;             // among those alike
        std::uint32_t step = 0;    // rounds so far
        std::uint32_t version = 0;
        FlowIndex flow = 0;
        enum { waiting, travelling, flowing } state = waiting;
        bool routed = false;  // `route` is that of the present rounds
        FlowRoute route;
    };

    // Starts the rank's next send if nothing is left to wait for.
    void advance(std::uint32_t index) {
        Rank& rank = ranks_[index];
        while (rank.state == Rank::waiting && rank.rounds < schedule_.rounds.size()) {
            if (rank.step > 0 && awaited_[(rank.step - 1) * ranks_.size() + index]) return;
            const int to = schedule_.rounds[rank.rounds].to[index];
            if (to == static_cast<int>(index))
                next_round(rank);
            else
                send(rank, index, to);
        }
    }

    void next_round(Rank& rank) {
        ++rank.step;
        if (++rank.round < schedule_.rounds[rank.rounds].count) return;
        rank.round = 0;
        ++rank.rounds;
        rank.routed = false;
    }

    void send(Rank& rank, std::uint32_t index, int to) {
        if (!rank.routed) rank.route = network_.route(static_cast<int>(index), to);
        rank.routed = true;
        ++flows_;
        rank.state = Rank::travelling;
        if (rank.route.latency > Seconds())
            queue_.push(now_ + rank.route.latency, {index, ++rank.version});
        else
            begin_flow(rank, index);
    }

    void begin_flow(Rank& rank, std::uint32_t index) {
        rank.flow = links_.start(now_, schedule_.rounds[rank.rounds].bytes, rank.route.uses, rank.route.limit);
        rank.state = Rank::flowing;
        if (rank.flow >= rank_of_.size()) rank_of_.resize(rank.flow + 1);
        rank_of_[rank.flow] = index;
    }

    void end_flow(Rank& rank, std::uint32_t index) {
        links_.stop(now_, rank.flow);
        const auto to = static_cast<std::uint32_t>(schedule_.rounds[rank.rounds].to[index]);
        awaited_[rank.step * ranks_.size() + to] = false;
        rank.state = Rank::waiting;
        next_round(rank);
        advance(index);
        advance(to);
    }

    void handle(Arrival event) {
        Rank& rank = ranks_[event.rank];
        if (event.version != rank.version) return;
        if (rank.state == Rank::travelling)
            begin_flow(rank, event.rank);
        else
            end_flow(rank, event.rank);
    }

    void tell_finishes() {
        for (const FluidNetwork::Finish& finish : links_.settle(now_)) {
            const std::uint32_t index = rank_of_[finish.flow];
            queue_.push(finish.at, {index, ++ranks_[index].version});
        }
    }

    const RankNetwork& network_;
    const CollectiveSchedule& schedule_;
    FluidNetwork links_;
    EventQueue<Arrival> queue_;
    std::vector<Rank> ranks_;
    std::vector<std::uint32_t> rank_of_;  // by flow
    std::vector<bool> awaited_;           // round by round, rank by rank: something is still to come
    Seconds now_;
    std::uint64_t flows_ = 0;
};

bool everyone_sends_and_receives(const Rounds& rounds) {
    std::vector<bool> receives(rounds.to.size());
    for (std::size_t r = 0; r < rounds.to.size(); ++r) {
        if (rounds.to[r] == static_cast<int>(r)) return false;
        receives[rounds.to[r]] = true;
    }
    return std::ranges::find(receives, false) == receives.end();
}

// What the flows of a round get when all are under way.
struct Round {
    bool alike = true;        // the same rate and latency for all
    bool undisturbed = true;  // each as fast as alone
    Seconds slowest;
};

Round try_round(const RankNetwork& network, FluidNetwork& links, const Rounds& rounds) {
    const int ranks = static_cast<int>(rounds.to.size());
    std::vector<FlowIndex> flows;
    std::vector<Bandwidth> alone;
    std::vector<Seconds> latencies;
    for (int r = 0; r < ranks; ++r) {
        const FlowRoute route = network.route(r, rounds.to[r]);
        flows.push_back(links.start(Seconds(), rounds.bytes, route.uses, route.limit));
        latencies.push_back(route.latency);
        alone.push_back(route.limit);
        for (const LinkUse& use : route.uses) alone.back() = min(alone.back(), network.capacities[use.link] / use.weight);
    }
    links.settle(Seconds());
    Round round;
    for (int r = 0; r < ranks; ++r) {
        const Bandwidth rate = links.rate(flows[r]);
        round.alike &= rate == links.rate(flows[0]) && latencies[r] == latencies[0];
        round.undisturbed &= rate == alone[r];
        round.slowest = max(round.slowest, latencies[r] + rounds.bytes / rate);
    }
    for (const FlowIndex flow : flows) links.stop(Seconds(), flow);
    links.settle(Seconds());
    return round;
}

}  // namespace

PlayedCollective play(const RankNetwork& network, const CollectiveSchedule& schedule) { return RoundPlayer(network, schedule).play(); }

std::optional<PlayedCollective> fold(const RankNetwork& network, const CollectiveSchedule& schedule) {
    FluidNetwork links(network.capacities);
    PlayedCollective played;
    for (const Rounds& rounds : schedule.rounds) {
        if (!everyone_sends_and_receives(rounds)) return std::nullopt;
        const Round round = try_round(network, links, rounds);
        const bool last = &rounds == &schedule.rounds.back();
        if (!round.alike && !(last && round.undisturbed)) return std::nullopt;
        played.end += rounds.count * round.slowest;
        played.flows += static_cast<std::uint64_t>(rounds.count) * rounds.to.size();
    }
    return played;
}

PlayedCollective simulate_collective(const RankNetwork& network, const CollectiveSchedule& schedule) {
    if (const auto folded = fold(network, schedule)) return *folded;
    return play(network, schedule);
}

}  // namespace sextant
