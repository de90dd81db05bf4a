// What is fuzzed: functions that take any bytes and must come back without crashing, hanging or throwing.
//
// To add one: write it in a file of its own, declare it and name it here, and add both names to CMakeLists.txt.
// Files in corpus/<name>/ are where the fuzzer starts, and what the test FuzzCorpus replays: an input that once crashed is put there.
#pragma once

#include <array>
#include <string_view>

namespace sextant::fuzz {

void benchmark_log(std::string_view input);
void chakra(std::string_view input);
void condition(std::string_view input);
void dataset_hdf5(std::string_view input);
void dataset_lmdb(std::string_view input);
void dataset_npy(std::string_view input);
void dataset_raw(std::string_view input);
void dataset_tar(std::string_view input);
void dataset_tfrecord(std::string_view input);
void dataset_zip(std::string_view input);
void dlio(std::string_view input);
void framework(std::string_view input);
void hf_config(std::string_view input);
void json_quantity(std::string_view input);
void measurement(std::string_view input);
void onnx(std::string_view input);
void predict(std::string_view input);
void profile(std::string_view input);
void profiler(std::string_view input);
void run(std::string_view input);
void sample(std::string_view input);
void scenario(std::string_view input);
void torch(std::string_view input);
void trace(std::string_view input);

struct Target {
    std::string_view name;
    void (*run)(std::string_view input);
};
inline constexpr std::array targets = {
    Target{"benchmark_log", benchmark_log},
    Target{"chakra", chakra},
    Target{"condition", condition},
    Target{"dataset_hdf5", dataset_hdf5},
    Target{"dataset_lmdb", dataset_lmdb},
    Target{"dataset_npy", dataset_npy},
    Target{"dataset_raw", dataset_raw},
    Target{"dataset_tar", dataset_tar},
    Target{"dataset_tfrecord", dataset_tfrecord},
    Target{"dataset_zip", dataset_zip},
    Target{"dlio", dlio},
    Target{"framework", framework},
    Target{"hf_config", hf_config},
    Target{"json_quantity", json_quantity},
    Target{"measurement", measurement},
    Target{"onnx", onnx},
    Target{"predict", predict},
    Target{"profile", profile},
    Target{"profiler", profiler},
    Target{"run", run},
    Target{"sample", sample},
    Target{"scenario", scenario},
    Target{"torch", torch},
    Target{"trace", trace},
};

}  // namespace sextant::fuzz
