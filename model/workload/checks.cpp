#include "model/workload/builders.hpp"

namespace sextant {
namespace {

constexpr int largest_degree = 1'000'000;

}  // namespace

void require_between(Diagnostics& problems, std::string pointer, std::string_view name, std::int64_t value, std::int64_t low,
                     std::int64_t high) {
    if (value >= low && value <= high) return;
    problems.add({.file = {},
                  .pointer = std::move(pointer),
                  .what = std::string(name) + " is " + std::to_string(value),
                  .hint = "from " + std::to_string(low) + " to " + std::to_string(high)});
}

void require_divides(Diagnostics& problems, std::string pointer, std::string_view name, std::int64_t divisor, std::string_view extent_name,
                     std::int64_t extent) {
    if (divisor < 1 || extent % divisor == 0) return;  // a divisor out of range is reported by require_between
    problems.add({.file = {},
                  .pointer = std::move(pointer),
                  .what = std::string(name) + " must divide the " + std::string(extent_name) + ": " + std::to_string(divisor) +
                          " does not divide " + std::to_string(extent),
                  .hint = {}});
}

void check_shard(Diagnostics& problems, const Shard& shard) {
    require_between(problems, "/plan/micro_batch", "micro_batch", shard.micro_batch, 1, largest_micro_batch);
    require_between(problems, "/plan/tp", "tp", shard.tensor, 1, largest_degree);
    require_between(problems, "/plan/cp", "cp", shard.context, 1, largest_degree);
    require_between(problems, "/plan/ep", "ep", shard.expert, 1, largest_degree);
    require_between(problems, "/plan/expert_tp", "expert_tp", shard.expert_tensor, 0, largest_degree);
}

void refuse_transformer_cuts(Diagnostics& problems, const Shard& shard, std::string_view family) {
    const auto refuse = [&](std::string pointer, std::string_view cut) {
        problems.add({.file = {},
                      .pointer = std::move(pointer),
                      .what = std::string(cut) + " parallelism needs a transformer; this is " + std::string(family),
                      .hint = {}});
    };
    if (shard.context != 1) refuse("/plan/cp", "context");
    if (shard.expert != 1) refuse("/plan/ep", "expert");
    if (shard.sequence_parallel) refuse("/plan/sequence_parallel", "sequence");
}

}  // namespace sextant
