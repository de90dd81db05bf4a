// What is said about an execution trace that was played on another machine.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/graph/execution_trace.hpp"
#include "model/report/condition.hpp"
#include "model/simulate/simulate.hpp"

#include <string>
#include <vector>

namespace sextant {

// Where the time of a rank goes: each instant belongs to the first of these that is so.
enum class ReplayTerm : std::uint8_t {
    kernels,
    host,         // the device waits for work of its host
    copies,       // for memory outside the device
    collectives,  // for a collective that is under way
    transfers,    // for a message that is
    waiting,      // for other ranks
};
inline constexpr int replay_term_count = static_cast<int>(ReplayTerm::waiting) + 1;
inline constexpr auto all_replay_terms = enumerators<ReplayTerm, replay_term_count>();
std::string_view to_text(ReplayTerm);
std::string_view replay_name(SpanKind);  // the time of what it is

using ReplayTerms = EnumArray<ReplayTerm, Seconds, replay_term_count>;

struct ReplayReport {
    std::string trace_name, hardware, library;
    std::size_t nodes = 0;  // of all ranks
    Seconds step;
    struct OfRank {
        int rank = 0;
        Seconds end;             // of its last node
        ReplayTerms terms;       // sum to the step
        ReplayTerms overlapped;  // exchanges and copies behind something else
    };
    std::vector<OfRank> ranks;  // some of many, evenly spread, the last to end among them
    std::size_t all_ranks = 0;
    std::size_t last = 0;  // of `ranks`: who ends last
    struct Calls {
        std::string what;  // "all_reduce", "send"
        std::size_t calls = 0;
        Bytes bytes;   // as the trace has them
        Seconds time;  // under way
    };
    std::vector<Calls> communication;  // of that rank
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    std::uint64_t events = 0;
};

ReplayReport make_replay_report(const RecordedGraph&, Simulation);

// Everything that a condition may ask about, in the order of the report; terms are those of the rank that ends last.
std::vector<NamedQuantity> named_quantities(const ReplayReport&);

}  // namespace sextant
