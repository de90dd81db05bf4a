// What updates the weights: what each optimizer keeps of a parameter and moves for it, in one table.
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"

#include <optional>
#include <string_view>

namespace sextant {

enum class Optimizer { sgd, momentum, adam, adamw, adamw_8bit, lamb, lion, adafactor, muon };
inline constexpr int optimizer_count = static_cast<int>(Optimizer::muon) + 1;
inline constexpr auto all_optimizers = enumerators<Optimizer, optimizer_count>();

// Of an optimizer that brings its kernels along, whatever those of the framework do.
struct OwnKernels {
    bool fused;         // reads and writes everything once
    double per_tensor;  // launches for each tensor of parameters
};

struct OptimizerFacts {
    std::string_view name;         // in a scenario
    int states;                    // tensors as large as the parameters
    double reads_per_parameter;    // elements read and written for each parameter where the update is not fused
    int norm_passes = 0;           // passes over weights or gradients before the update, for norms
    int spared_states = 0;         // of its states, those that matrices inside layers have none of
    std::optional<Bytes> state{};  // one state of one parameter; absent: as the plan's precision has it
    std::optional<OwnKernels> own{};
};

// Tensors of the size of the parameters that one update reads or writes (parameter p, gradient g, momenta m and v, LAMB's update u):
// - SGD: p, g; p. Momentum adds m read and written.
// - Adam: p, g, m, v; p, m, v (Kingma and Ba, arXiv 1412.6980, algorithm 1).
// - Adam with states of 8 bits (Dettmers et al., arXiv 2110.02861): each state is a byte, and an fp32 scale for each block of 256, and one
//   kernel for each tensor does it all (bitsandbytes at 95f9af30, bitsandbytes/optim/optimizer.py, Optimizer2State). Neglects that tensors
//   of fewer than 4096 elements keep states in fp32.
// - LAMB (You et al., arXiv 1904.00962, algorithm 2) has three passes: p, g, m, v; m, v, u. Then the norms: p, u. Then the step: p, u; p.
// - Lion (Chen et al., arXiv 2302.06675, algorithm 2): p, g, m; p, m.
// - Adafactor without a first moment (Shazeer and Stern, arXiv 1804.04235, algorithm 4) keeps of the second moment of a matrix the means of
//   its rows and of its columns alone, which are neglected: at 4096 x 4096 one element for 2048. Nobody fuses it: torch.optim.Adafactor
//   (_single_tensor_adafactor, PyTorch at 051d6a09, torch/optim/_adafactor.py) launches twenty kernels for a matrix. Of its own size these
//   read or write: norm of p 1, decay 2, rows 1, columns 1, their product 1, scaled 2, bounded 2, root 2, times g 3, norm 1, step 3.
// - Muon (Jordan et al., kellerjordan.github.io/posts/muon, 2024) is Adam but for matrices inside layers, which keep one momentum; what it
//   makes of that is newton_schulz_time() of model/predict/update.cpp.
inline constexpr EnumArray<Optimizer, OptimizerFacts, optimizer_count> optimizer_facts{{{
    {.name = "sgd", .states = 0, .reads_per_parameter = 3},
    {.name = "momentum", .states = 1, .reads_per_parameter = 5},
    {.name = "adam", .states = 2, .reads_per_parameter = 7},
    {.name = "adamw", .states = 2, .reads_per_parameter = 7},
    {.name = "adamw_8bit", .states = 2, .reads_per_parameter = 7, .state = (1 + 4.0 / 256) * units::B, .own = OwnKernels{true, 1}},
    {.name = "lamb", .states = 2, .reads_per_parameter = 12, .norm_passes = 2},
    {.name = "lion", .states = 1, .reads_per_parameter = 5},
    {.name = "adafactor", .states = 0, .reads_per_parameter = 19, .own = OwnKernels{false, 20}},
    {.name = "muon", .states = 2, .reads_per_parameter = 7, .spared_states = 1},
}}};
constexpr const OptimizerFacts& facts_of(Optimizer o) { return optimizer_facts[o]; }

// All states of one parameter, where those whose type the plan chooses have this one.
constexpr Bytes size_of_states(Optimizer o, DataType type) {
    const OptimizerFacts& facts = facts_of(o);
    return facts.states * facts.state.value_or(size_of(type));
}

}  // namespace sextant
