#include "backend/exec/operator_times.hpp"

#include <map>
#include <tuple>

namespace sextant {

std::vector<RecordedOperator> OperatorTimes::take() {
    std::map<std::tuple<int, int, SpanKind>, RecordedOperator> sums;
    for (const Noted& n : noted_) {
        const RecordedOperator& of = n.what;
        const RecordedOperator nothing{of.block_template, of.index, 0, of.kind, {}};
        RecordedOperator& sum = sums.try_emplace({of.block_template, of.index, of.kind}, nothing).first->second;
        sum.calls += of.calls;
        sum.time += device_.time_of(n.end) - device_.time_of(n.start);
    }
    noted_.clear();
    std::vector<RecordedOperator> taken;
    taken.reserve(sums.size());
    for (const auto& [which, sum] : sums) taken.push_back(sum);
    return taken;
}

}  // namespace sextant
