#include "model/lower/execution_trace.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

namespace sextant {
namespace {

using Kind = RecordedNode::Kind;

std::string pointer_of(const RecordedNode& node) { return "/node/" + std::to_string(node.id); }

// One of the ranks' nodes.
struct Place {
    std::uint32_t rank = 0, node = 0;
};

// What has to come together: a collective's call on all its ranks, a send and its receive. `places` in the order of their ranks; of a
// send it comes first.
struct Meeting {
    std::vector<Place> places;
    CommunicatorIndex communicator = 0;
    std::size_t here = 0;  // that have come
    Seconds at{};          // the last of them
};

class Lowering {
public:
    explicit Lowering(const ExecutionTrace& trace) : trace_(trace), builder_({}, {}) {}

    RecordedGraph lower() && {
        find_dependencies();
        find_calls();
        find_transfers();
        problems_.throw_if_any();
        for (std::size_t r = 0; r < trace_.ranks.size(); ++r)
            builder_.add(RankInfo{static_cast<int>(r), static_cast<int>(r), 1, false, {}});
        for (Communicator& c : communicators_) builder_.add(std::move(c));
        play();
        problems_.throw_if_any();
        return {std::move(builder_).build(), std::move(kinds_)};
    }

private:
    const RecordedNode& node(Place p) const { return trace_.ranks[p.rank].nodes[p.node]; }
    void complain(std::size_t rank, std::string pointer, std::string what, std::string hint = {}) {
        constexpr std::size_t enough = 20;
        if (problems_.list().size() < enough)
            problems_.add({trace_.ranks[rank].file, std::move(pointer), std::move(what), std::move(hint)});
    }

    void find_dependencies() {
        for (std::uint32_t r = 0; r < trace_.ranks.size(); ++r) {
            const std::vector<RecordedNode>& nodes = trace_.ranks[r].nodes;
            std::unordered_map<std::uint64_t, std::uint32_t> by_id;
            for (std::uint32_t n = 0; n < nodes.size(); ++n)
                if (!by_id.emplace(nodes[n].id, n).second) complain(r, pointer_of(nodes[n]), "two nodes have this id");
            Rank& rank = ranks_.emplace_back();
            rank.waits_for.resize(nodes.size());
            rank.followers.resize(nodes.size());
            rank.waiting.resize(nodes.size());
            rank.ready.resize(nodes.size());
            rank.meeting.resize(nodes.size(), none);
            rank.segment.resize(nodes.size(), none);
            for (std::uint32_t n = 0; n < nodes.size(); ++n) {
                for (const std::uint64_t id : nodes[n].waits_for) {
                    const auto found = by_id.find(id);
                    if (found == by_id.end()) {
                        complain(r, pointer_of(nodes[n]), "waits for node " + std::to_string(id) + ", which the file does not have");
                        continue;
                    }
                    rank.waits_for[n].push_back(found->second);
                }
                std::vector<std::uint32_t>& before = rank.waits_for[n];  // some by control and by data
                std::ranges::sort(before);
                before.erase(std::unique(before.begin(), before.end()), before.end());
                for (const std::uint32_t b : before) rank.followers[b].push_back(n);
                rank.waiting[n] = before.size();
            }
        }
    }

    // All nodes by what `key_of` says that they belong to, if anything, in the order of ranks and of their ids.
    template <class Key, class KeyOf>
    std::map<Key, std::vector<Place>> by_key(const KeyOf& key_of) const {
        std::map<Key, std::vector<Place>> found;
        for (std::uint32_t r = 0; r < trace_.ranks.size(); ++r)
            for (std::uint32_t n = 0; n < trace_.ranks[r].nodes.size(); ++n)
                if (const auto key = key_of(r, trace_.ranks[r].nodes[n])) found[*key].push_back({r, n});
        for (auto& [key, places] : found) std::ranges::sort(places, {}, [&](Place p) { return std::pair(p.rank, node(p).id); });
        return found;
    }

    void find_calls() {
        const auto group_of = [](std::uint32_t, const RecordedNode& n) {
            return n.kind == Kind::collective ? std::optional(n.group) : std::nullopt;
        };
        for (const auto& [group, places] : by_key<std::string>(group_of)) {
            std::vector<std::vector<Place>> calls(trace_.ranks.size());  // of each rank
            for (const Place p : places) calls[p.rank].push_back(p);
            const std::vector<int> members = members_of(group, calls);
            if (!are_same(group, members, calls)) continue;
            const auto communicator = static_cast<CommunicatorIndex>(communicators_.size());
            Communicator& c = communicators_.emplace_back();
            for (const int r : members) c.members.push_back(static_cast<GraphRank>(r));
            c.sets = {members};
            const std::size_t count = calls[c.members.front()].size();
            for (std::size_t i = 0; i < count; ++i) {
                Meeting meeting{{}, communicator};
                for (const GraphRank r : c.members) meeting.places.push_back(calls[r][i]);
                add(std::move(meeting));
            }
        }
    }

    std::vector<int> members_of(const std::string& group, const std::vector<std::vector<Place>>& calls) const {
        if (const auto known = trace_.groups.find(group); known != trace_.groups.end()) return known->second;
        std::vector<int> members;
        for (std::size_t r = 0; r < calls.size(); ++r)
            if (group.empty() || !calls[r].empty()) members.push_back(static_cast<int>(r));
        return members;
    }

    bool are_same(const std::string& group, const std::vector<int>& members, const std::vector<std::vector<Place>>& calls) {
        const std::string name = group.empty() ? "all ranks" : "process group \"" + group + "\"";
        const auto first = static_cast<std::size_t>(members.front());
        bool same = true;
        const auto differ = [&](std::size_t rank, std::string pointer, std::string what) {
            same = false;
            complain(rank, std::move(pointer), std::move(what), "every member comes to every call");
        };
        for (std::size_t r = 0; r < calls.size(); ++r)
            if (!calls[r].empty() && std::ranges::find(members, static_cast<int>(r)) == members.end())
                differ(r, pointer_of(node(calls[r].front())), "rank " + std::to_string(r) + " is no member of " + name);
        for (const int m : members) {
            const auto r = static_cast<std::size_t>(m);
            if (calls[r].size() != calls[first].size())
                differ(r, "",
                       "rank " + std::to_string(r) + " has " + std::to_string(calls[r].size()) + " collectives of " + name + ", rank " +
                           std::to_string(first) + " has " + std::to_string(calls[first].size()));
            for (std::size_t i = 0; i < std::min(calls[r].size(), calls[first].size()); ++i) {
                const RecordedNode &one = node(calls[r][i]), &other = node(calls[first][i]);
                const bool may_differ = one.collective == RecordedCollective::all_to_all;
                if (one.collective == other.collective && (one.bytes == other.bytes || may_differ)) continue;
                differ(r, pointer_of(one),
                       "call " + std::to_string(i) + " of " + name + " is " + call_text(one) + ", on rank " + std::to_string(first) +
                           " it is " + call_text(other) + " (node " + std::to_string(other.id) + ")");
                break;
            }
        }
        return same;
    }
    static std::string call_text(const RecordedNode& n) { return std::string(to_text(n.collective)) + " of " + to_text(n.bytes); }

    void find_transfers() {
        using Wire = std::tuple<int, int, std::int64_t>;  // sender, receiver, tag
        const auto sent = by_key<Wire>([&](std::uint32_t r, const RecordedNode& n) {
            return n.kind == Kind::send ? std::optional(Wire{static_cast<int>(r), n.peer, n.tag}) : std::nullopt;
        });
        const auto received = by_key<Wire>([&](std::uint32_t r, const RecordedNode& n) {
            return n.kind == Kind::receive ? std::optional(Wire{n.peer, static_cast<int>(r), n.tag}) : std::nullopt;
        });
        const auto on = [](const auto& nodes, const Wire& wire) {
            const auto found = nodes.find(wire);
            return found == nodes.end() ? std::vector<Place>() : found->second;
        };
        std::set<Wire> wires;
        for (const auto& [wire, places] : sent) wires.insert(wire);
        for (const auto& [wire, places] : received) wires.insert(wire);
        std::map<std::pair<int, int>, CommunicatorIndex> pairs;  // one for all tags
        for (const Wire& wire : wires) {
            const auto& [from, to, tag] = wire;
            const std::vector<Place> sends = on(sent, wire), receives = on(received, wire);
            if (sends.size() != receives.size()) {
                complain(static_cast<std::size_t>(sends.empty() ? to : from), "",
                         "rank " + std::to_string(from) + " sends " + std::to_string(sends.size()) + " messages of tag " +
                             std::to_string(tag) + " to rank " + std::to_string(to) + ", which receives " +
                             std::to_string(receives.size()));
                continue;
            }
            const auto [pair, is_new] = pairs.emplace(std::pair(from, to), static_cast<CommunicatorIndex>(communicators_.size()));
            // The sender starts it alone.
            if (is_new) communicators_.push_back(Communicator{ParallelGroup::pipeline, {static_cast<GraphRank>(from)}, {{from, to}}});
            const CommunicatorIndex communicator = pair->second;
            for (std::size_t i = 0; i < sends.size(); ++i) add({{sends[i], receives[i]}, communicator});
        }
    }

    void add(Meeting meeting) {
        for (const Place p : meeting.places) ranks_[p.rank].meeting[p.node] = static_cast<std::uint32_t>(meetings_.size());
        meetings_.push_back(std::move(meeting));
    }

    // Lets everything happen as if no stream were ever busy and communication took no time, and puts it down in that order.
    void play() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r)
            for (std::uint32_t n = 0; n < ranks_[r].waiting.size(); ++n)
                if (ranks_[r].waiting[n] == 0) come({r, n});
        while (!ready_.empty()) {
            const Place p = ready_.top().second;
            ready_.pop();
            happen(p);
        }
        if (problems_.list().empty()) explain_what_is_left();
    }
    void come(Place p) { ready_.push({{ranks_[p.rank].ready[p.node], node(p).id, p.rank}, p}); }

    void happen(Place p) {
        const std::uint32_t m = ranks_[p.rank].meeting[p.node];
        const Seconds now = ranks_[p.rank].ready[p.node];
        if (m == none) return finish(p, now + node(p).duration);
        Meeting& meeting = meetings_[m];
        meeting.at = max(meeting.at, now);
        if (node(p).kind == Kind::send) finish(p, now);
        if (++meeting.here < meeting.places.size()) return;
        for (const Place each : meeting.places)
            if (node(each).kind != Kind::send) finish(each, meeting.at);
    }

    void finish(Place p, Seconds end) {
        Rank& rank = ranks_[p.rank];
        const SegmentIndex s = add_segment(p);
        rank.segment[p.node] = s;
        for (const std::uint32_t before : rank.waits_for[p.node]) builder_.wait(s, rank.segment[before]);
        if (node(p).kind == Kind::receive) {
            const Place send = meetings_[rank.meeting[p.node]].places.front();
            builder_.wait(s, ranks_[send.rank].segment[send.node]);
        }
        for (const std::uint32_t next : rank.followers[p.node]) {
            rank.ready[next] = max(rank.ready[next], end);
            if (--rank.waiting[next] == 0) come({p.rank, next});
        }
    }

    SegmentIndex add_segment(Place p) {
        const RecordedNode& n = node(p);
        Segment segment;
        segment.rank = p.rank;
        Work work = OverheadWork{};
        segment.stream = Stream::server;
        const std::uint32_t m = ranks_[p.rank].meeting[p.node];
        if (m != none) segment.communicator = meetings_[m].communicator;
        switch (n.kind) {
            case Kind::kernel:
                segment.stream = Stream::compute;
                work = ComputeWork{Phase::forward, kind_of(n, 0), 1};
                break;
            case Kind::host:
                segment.stream = Stream::loader;
                work = ComputeWork{Phase::forward, kind_of(n, 0), 1};
                break;
            case Kind::memory:
                segment.stream = Stream::copy;
                work = ComputeWork{Phase::forward, kind_of(n, 0), 1};
                break;
            case Kind::collective:
                if (meetings_[m].places.size() == 1) break;  // alone in its group
                segment.stream = Stream::communication;
                work = exchange(n, Payload::gradients, segment.communicator);
                break;
            case Kind::send:
                segment.stream = n.peer > static_cast<int>(p.rank) ? Stream::send_next : Stream::send_previous;
                work = exchange(n, Payload::activations, segment.communicator);
                break;
            case Kind::receive:
            case Kind::nothing: break;
        }
        segment.work = builder_.work(work);
        return builder_.add(segment);
    }

    Work exchange(const RecordedNode& n, Payload payload, CommunicatorIndex communicator) {
        CollectiveWork work;
        work.kind = ExchangeKind::none;  // what it is stands with its kind
        work.payload = payload;
        work.elements = n.bytes / units::B;
        work.type = DataType::int8;
        work.first_block = kind_of(n, communicator);
        work.count = 1;
        return work;
    }

    int kind_of(const RecordedNode& n, CommunicatorIndex communicator) {
        const auto key = std::tuple(n.kind, n.collective, communicator, n.duration.si(), n.flops.si(), n.bytes.si(), n.name);
        const auto [found, is_new] = known_kinds_.emplace(key, static_cast<int>(kinds_.size()));
        if (is_new) kinds_.push_back(n);
        return found->second;
    }

    void explain_what_is_left() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            const Rank& rank = ranks_[r];
            const auto left = std::ranges::find(rank.segment, none);
            if (left == rank.segment.end()) continue;
            // A rank that has come to a call waits there; else something before it does.
            for (std::uint32_t n = 0; n < rank.segment.size(); ++n)
                if (rank.segment[n] == none && rank.waiting[n] == 0)
                    return complain(r, pointer_of(trace_.ranks[r].nodes[n]),
                                    "rank " + std::to_string(r) + " waits here for " + missing_text(rank.meeting[n]) +
                                        ", which wait for rank " + std::to_string(r) + " or each other",
                                    "ranks that come to their calls in different orders never get past them");
        }
        for (std::uint32_t r = 0; r < ranks_.size(); ++r)
            if (const auto left = std::ranges::find(ranks_[r].segment, none); left != ranks_[r].segment.end())
                return complain(r, pointer_of(trace_.ranks[r].nodes[static_cast<std::size_t>(left - ranks_[r].segment.begin())]),
                                "nodes wait for each other in a circle, this one in it or behind it");
    }
    std::string missing_text(std::uint32_t meeting) const {
        std::string text;
        for (const Place p : meetings_[meeting].places)
            if (ranks_[p.rank].segment[p.node] == none && ranks_[p.rank].waiting[p.node] > 0)
                text += (text.empty() ? "rank " : ", ") + std::to_string(p.rank) + " at node " + std::to_string(node(p).id);
        return text;
    }

    static constexpr std::uint32_t none = UINT32_MAX;
    struct Rank {
        std::vector<std::vector<std::uint32_t>> waits_for, followers;
        std::vector<std::size_t> waiting;
        std::vector<Seconds> ready;  // since when nothing holds it back
        std::vector<std::uint32_t> meeting;
        std::vector<SegmentIndex> segment;
    };
    // The earliest first, of those the lowest id.
    struct Later {
        template <class Entry>
        bool operator()(const Entry& a, const Entry& b) const {
            return a.first > b.first;
        }
    };

    const ExecutionTrace& trace_;
    TaskGraphBuilder builder_;
    std::vector<Rank> ranks_;
    std::vector<Communicator> communicators_;
    std::vector<Meeting> meetings_;
    std::vector<RecordedNode> kinds_;
    std::map<std::tuple<Kind, RecordedCollective, CommunicatorIndex, double, double, double, std::string>, int> known_kinds_;
    using Entry = std::pair<std::tuple<Seconds, std::uint64_t, std::uint32_t>, Place>;
    std::priority_queue<Entry, std::vector<Entry>, Later> ready_;
    Diagnostics problems_;
};

}  // namespace

RecordedGraph lower(const ExecutionTrace& trace) { return Lowering(trace).lower(); }

}  // namespace sextant
