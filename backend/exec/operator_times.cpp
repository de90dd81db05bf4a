#include "backend/exec/operator_times.hpp"

#include <map>
#include <tuple>

namespace sextant {

std::vector<RecordedOperator> added_up(std::span<const RecordedOperator> all) {
    std::map<std::tuple<int, int, SpanKind>, RecordedOperator> sums;
    for (const RecordedOperator& o : all) {
        const auto [sum, is_first] = sums.try_emplace({o.block_template, o.index, o.kind}, o);
        if (is_first) continue;
        sum->second.calls += o.calls;
        sum->second.time += o.time;
    }
    std::vector<RecordedOperator> list;
    list.reserve(sums.size());
    for (const auto& [which, sum] : sums) list.push_back(sum);
    return list;
}

std::vector<RecordedOperator> OperatorTimes::take() {
    std::vector<RecordedOperator> calls;
    calls.reserve(noted_.size());
    for (const Noted& n : noted_) {
        calls.push_back(n.what);
        calls.back().time = device_.time_of(n.end) - device_.time_of(n.start);
    }
    noted_.clear();
    return added_up(calls);
}

}  // namespace sextant
