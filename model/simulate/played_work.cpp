#include "model/simulate/played_work.hpp"

#include <variant>

namespace sextant {

double played_work(const TaskGraph& graph, const CostTable& table) {
    constexpr double links_of_a_way = 16, looked_at_in_a_piece = 160;
    double work = 0, looked_at = 0;
    for (const Communicator& c : graph.communicators()) {
        if (!c.with_server) continue;
        const auto ways = static_cast<double>(c.sets.size());
        work += ways;
        looked_at += links_of_a_way + ways;
    }
    for (const Segment& s : graph.segments()) {
        work += static_cast<double>(table.works[s.work].pieces.size());
        const bool transfers = std::holds_alternative<TransferWork>(graph.works()[s.work]);
        if (transfers && graph.communicators()[s.communicator].with_server) work += looked_at / looked_at_in_a_piece;
    }
    return work;
}

}  // namespace sextant
