// The time that each operator of a rank takes on its device, where a run is asked for it.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

// The calls of an operator in one kind of pass. Sent between processes byte by byte.
struct RecordedOperator {
    std::int32_t block_template = 0;  // into Network::templates
    std::int32_t index = 0;           // in the graph of the block, or `gradient_sums`
    std::int32_t calls = 0;
    SpanKind kind = SpanKind::forward;
    Seconds time;
};
// The index of additions: they sum the gradients of a tensor that several operators read.
inline constexpr std::int32_t gradient_sums = -1;

// Merges the records of one operator in one kind of pass. Sorted by block.
std::vector<RecordedOperator> added_up(std::span<const RecordedOperator>);

// Puts marks around each call. take() turns them into times, and the device must have reached them by then.
class OperatorTimes {
public:
    explicit OperatorTimes(ComputeDevice& device) : device_(device) {}

    // Sets the block whose operators come next; none: nothing is recorded.
    void enter(std::optional<int> block_template) { block_template_ = block_template; }

    // `calls`: 0 where the work is a part of a call that was counted already.
    template <class Work>
    void around(std::int32_t index, SpanKind kind, int calls, const Work& work) {
        if (!block_template_) return work();
        const Mark start = device_.mark();
        work();
        noted_.push_back({{*block_template_, index, calls, kind, {}}, start, device_.mark()});
    }
    std::vector<RecordedOperator> take();  // merged, see added_up()

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
