// Moves arrays from rank to rank while a rank does something else. An engine has one beside its ComputeDevice.
#pragma once

#include "backend/exec/array.hpp"
#include "model/graph/task_graph.hpp"

#include <variant>
#include <vector>

namespace sextant {

// Every member of a communicator of the graph starts the same calls in the same order; the compute stream and the other streams have an
// order each. all_reduce: `from` and `to` are the same. all_gather: `from` may be this rank's part of `to`. Where parts differ in size,
// `sends` says how many elements of `from` each rank gets, or sums into its part (all_to_all, reduce_scatter), and `receives` how many of
// `to` come from each rank (all_to_all, all_gather). Empty: parts are equal.
struct CollectiveCall {
    ExchangeKind kind = ExchangeKind::all_reduce;
    CommunicatorIndex communicator = 0;
    Stream stream = Stream::compute;
    Array from, to;
    std::vector<std::int64_t> sends{}, receives{};
};

// Tags tell messages between two ranks apart, beside their order. From `transfers` on, each transfer of a step has some of its own.
namespace message_tag {
inline constexpr int tied_gradients = 1, pushed_gradients = 2, pulled_weights = 3, samples = 4, transfers = 16;
}

// A message to or from one rank of the job, with elements of any type.
struct MessageCall {
    int peer = 0, tag = 0;
    bool receives = false;
    Array data;
};

struct SumCall {  // over all ranks, in place
    Array sum;
};

struct BarrierCall {};  // of all ranks

using Call = std::variant<CollectiveCall, MessageCall, SumCall, BarrierCall>;

using Ticket = std::uint32_t;

// One thread makes all calls. Throws BackendError when the machine refuses.
class Transport {
public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    // Arrays must live until the ticket is done.
    virtual Ticket start(const Call&) = 0;
    // Advances the calls under way, and appends those that are done.
    virtual void poll(std::vector<Ticket>& done) = 0;
};

}  // namespace sextant
