// Which stage holds each virtual stage of a pipeline. Virtual stages are numbered in the order of forward, p to each chunk.
//
//   most schedules     chunk c of stage s is virtual stage c p + s: after the last stage comes the first one again
//   those that turn    odd chunks go from the last stage to the first: chunk 1 of stage s is virtual stage 2 p - 1 - s; the last stage has
//                      two in a row and hands nothing on between them
#pragma once

#include "model/plan/plan.hpp"

#include <cstddef>

namespace sextant {

class VirtualStages {
public:
    VirtualStages(Schedule schedule, int stages, int chunks)
        : stages_(static_cast<std::size_t>(stages)), size_(stages_ * static_cast<std::size_t>(chunks)), turns_(turns_back(schedule)) {}
    explicit VirtualStages(const Plan& plan) : VirtualStages(plan.schedule, plan.pp, plan.vpp) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t chunk_of(std::size_t virtual_stage) const { return virtual_stage / stages_; }
    [[nodiscard]] std::size_t stage_of(std::size_t virtual_stage) const { return place(virtual_stage % stages_, chunk_of(virtual_stage)); }
    [[nodiscard]] std::size_t at(std::size_t stage, std::size_t chunk) const { return chunk * stages_ + place(stage, chunk); }

    // Whether activations of a chunk go to the stage before, and gradients to the one after.
    [[nodiscard]] bool goes_back(std::size_t chunk) const { return turns_ && chunk % 2 == 1; }
    // Whether another stage holds the next virtual stage.
    [[nodiscard]] bool hands_on(std::size_t virtual_stage) const {
        return virtual_stage + 1 < size_ && stage_of(virtual_stage) != stage_of(virtual_stage + 1);
    }
    // Whether another stage holds the virtual stage before.
    [[nodiscard]] bool is_handed(std::size_t virtual_stage) const { return virtual_stage > 0 && hands_on(virtual_stage - 1); }

private:
    [[nodiscard]] std::size_t place(std::size_t n, std::size_t chunk) const { return goes_back(chunk) ? stages_ - 1 - n : n; }

    std::size_t stages_, size_;
    bool turns_;
};

}  // namespace sextant
