// The words of a plan in a scenario file: read and written alike. Where two words mean the same, the first is written.
#pragma once

#include "model/io/json_reader.hpp"
#include "model/plan/plan.hpp"

#include <algorithm>
#include <iterator>

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
                                                    {"sequential", Schedule::sequential}};

// The fourth, some blocks, is written {"blocks": 4}.
inline constexpr Word<Recompute> recompute_words[] = {
    {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};

inline constexpr Word<Offload> offload_words[] = {
    {"none", Offload::none}, {"optimizer", Offload::optimizer}, {"optimizer_and_parameters", Offload::optimizer_and_parameters}};

inline constexpr Word<DataType> precision_words[] = {{"fp64", DataType::fp64}, {"fp32", DataType::fp32},   {"tf32", DataType::tf32},
                                                     {"bf16", DataType::bf16}, {"fp16", DataType::fp16},   {"fp8", DataType::fp8},
                                                     {"int8", DataType::int8}, {"mxfp8", DataType::mxfp8}, {"nvfp4", DataType::nvfp4}};

inline constexpr Word<PlanDimension> dimension_words[] = {{"tensor", PlanDimension::tensor},
                                                          {"context", PlanDimension::context},
                                                          {"expert", PlanDimension::expert},
                                                          {"data", PlanDimension::data},
                                                          {"pipeline", PlanDimension::pipeline}};

template <class E, std::size_t N>
std::string_view word_of(E value, const Word<E> (&words)[N]) {
    const auto* found = std::ranges::find(words, value, &Word<E>::value);
    return found == std::end(words) ? std::string_view{} : found->text;
}

}  // namespace sextant
