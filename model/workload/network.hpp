// A network as the plan sees it: a sequence of blocks, each an instance of one of a few templates.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <string>
#include <vector>

namespace sextant {

enum class BlockRole { input, layer, head };  // head: final norm, output projection, loss

struct Block {
    std::string name;  // "transformer layer", "moe layer", "stage 3 bottleneck"
    BlockRole role = BlockRole::layer;
    OperatorGraph graph;
    friend bool operator==(const Block&, const Block&) = default;
};

struct Network {
    std::vector<Block> templates;
    std::vector<int> sequence;  // template of each block, in order of forward

    [[nodiscard]] const Block& block(std::size_t place) const { return templates[static_cast<std::size_t>(sequence[place])]; }
    [[nodiscard]] double parameters() const;  // over the whole sequence, local to one shard, tied ones once
    friend bool operator==(const Network&, const Network&) = default;
};

// How one micro-batch of the network is cut over devices. 1 everywhere: the serial network.
struct Shard {
    std::int64_t micro_batch = 1;          // samples
    int tensor = 1;                        // heads, MLP columns, vocabulary; convolutions by output channel
    int context = 1;                       // sequence
    int expert = 1;                        // experts
    int expert_tensor = 0;                 // tensor parallelism inside an expert; 0: as `tensor`
    std::int64_t vocabulary_multiple = 1;  // rows of the vocabulary on a rank are padded to a multiple of this
    bool sequence_parallel = false;        // normalization, dropout and residuals cut over the tensor group by sequence
    bool flash_attention = true;           // else scores are written out
    bool training = true;                  // dropout masks and loss exist
};

}  // namespace sextant
