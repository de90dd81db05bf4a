// The words that a plan is written in, each with what it means. Where several mean the same, the first is what a writer uses.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/plan.hpp"

#include <optional>

namespace sextant {

inline constexpr Word<DataParallel> data_parallel_words[] = {{"all_reduce", DataParallel::all_reduce},
                                                             {"zero1", DataParallel::zero1},
                                                             {"zero2", DataParallel::zero2},
                                                             {"zero3", DataParallel::zero3},
                                                             {"fsdp", DataParallel::zero3},
                                                             {"parameter_server", DataParallel::parameter_server},
                                                             {"async_parameter_server", DataParallel::async_parameter_server}};
inline constexpr Word<Schedule> schedule_words[] = {{"1f1b", Schedule::one_f_one_b},
                                                    {"gpipe", Schedule::gpipe},
                                                    {"interleaved", Schedule::interleaved},
                                                    {"zero_bubble", Schedule::zero_bubble},
                                                    {"zero_bubble_v", Schedule::zero_bubble_v},
                                                    {"dual_pipe_v", Schedule::dual_pipe_v},
                                                    {"sequential", Schedule::sequential}};
// Of so many blocks, it is an object: {"blocks": 4}.
inline constexpr Word<Recompute> recompute_words[] = {
    {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};
// Of precision_policy().
inline constexpr Word<DataType> precision_words[] = {{"fp64", DataType::fp64}, {"fp32", DataType::fp32},   {"tf32", DataType::tf32},
                                                     {"bf16", DataType::bf16}, {"fp16", DataType::fp16},   {"fp8", DataType::fp8},
                                                     {"int8", DataType::int8}, {"mxfp8", DataType::mxfp8}, {"nvfp4", DataType::nvfp4},
                                                     {"int4", DataType::int4}, {"int1", DataType::int1},   {"binary", DataType::int1}};
// Their names, and "none": a plan without an optimizer.
inline constexpr struct OptimizerWords {
    Word<std::optional<Optimizer>> all[optimizer_count + 1]{};
    constexpr OptimizerWords() {
        for (const Optimizer o : all_optimizers) all[static_cast<std::size_t>(o)] = {facts_of(o).name, o};
        all[optimizer_count] = {"none", std::nullopt};
    }
} named_optimizers;
inline constexpr auto& optimizer_words = named_optimizers.all;
inline constexpr Word<Offload> offload_words[] = {
    {"none", Offload::none}, {"optimizer", Offload::optimizer}, {"optimizer_and_parameters", Offload::optimizer_and_parameters}};

inline constexpr Word<OffloadActivations> offload_activations_words[] = {
    {"none", OffloadActivations::none}, {"residuals", OffloadActivations::residuals}, {"all", OffloadActivations::all}};

inline constexpr Word<PlanDimension> dimension_words[] = {{"tensor", PlanDimension::tensor},
                                                          {"context", PlanDimension::context},
                                                          {"expert", PlanDimension::expert},
                                                          {"data", PlanDimension::data},
                                                          {"pipeline", PlanDimension::pipeline}};

}  // namespace sextant
