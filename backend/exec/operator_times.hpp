// What each operator of a rank takes on its device, where a run is asked for that.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

// Calls of an operator in one kind of pass. Travels between processes as it is.
struct RecordedOperator {
    std::int32_t block_template = 0;  // into Network::templates
    std::int32_t index = 0;           // in the graph of the block, or `gradient_sums`
    std::int32_t calls = 0;
    SpanKind kind = SpanKind::forward;
    Seconds time;
};
// Which add up the gradients of a tensor that several operators read.
inline constexpr std::int32_t gradient_sums = -1;

// Those of one operator in one kind of pass as one, in order of their blocks.
std::vector<RecordedOperator> added_up(std::span<const RecordedOperator>);

// Marks stand around each call, and become times when they are taken: the device must be through by then.
class OperatorTimes {
public:
    explicit OperatorTimes(ComputeDevice& device) : device_(device) {}

    // Whose operators come next; of none, nothing is noted.
    void enter(std::optional<int> block_template) { block_template_ = block_template; }

    // `calls`: none where the work is a part of one.
    template <class Work>
    void around(std::int32_t index, SpanKind kind, int calls, const Work& work) {
        if (!block_template_) return work();
        const Mark start = device_.mark();
        work();
        noted_.push_back({{*block_template_, index, calls, kind, {}}, start, device_.mark()});
    }
    std::vector<RecordedOperator> take();  // added up

private:
    struct Noted {
        RecordedOperator what;
        Mark start, end;
    };

    ComputeDevice& device_;
    std::optional<int> block_template_;
    std::vector<Noted> noted_;
};

}  // namespace sextant
