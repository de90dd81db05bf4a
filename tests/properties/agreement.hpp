// How far the closed form and the event simulator are apart, over lists of plans.
#pragma once

#include "tests/predict/mlp_job.hpp"
#include "tests/properties/random_plans.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>

namespace sextant {

// The seed of plans that nobody looked at while the formulas were made; docs/model/agreement.md says which effects are missing.
inline constexpr std::uint64_t unseen = 401;

// How far the step of predict is from that of simulate, as a fraction.
inline double difference(const Scenario& s) { return estimate(prepare(s)).step / simulate(s).report.estimate.step - 1; }

struct Difference {
    double value = 0;
    std::string of;
};

// Of overrides, as they are typed.
inline std::string words(const std::vector<std::string>& overrides) {
    std::string text;
    for (const std::string& o : overrides) text += o + ' ';
    return text;
}

inline double percentile(const std::vector<Difference>& sorted, double share) {
    return std::abs(sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))].value);
}

inline void sort_and_print(std::vector<Difference>& list, const std::string& what) {
    std::ranges::sort(list, {}, [](const Difference& d) { return std::abs(d.value); });
    std::cout << std::fixed << std::setprecision(2) << "    " << list.size() << ' ' << what << ": median " << 100 * percentile(list, 0.5)
              << " %, 95th percentile " << 100 * percentile(list, 0.95) << " %, worst\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(5, list.size()); ++i) {
        const Difference& d = list[list.size() - 1 - i];
        std::cout << "      " << std::setw(7) << 100 * d.value << " %  " << d.of << '\n';
    }
}

// A plan that is fed from storage so that loading takes `ratio` times the step without it, for one reason or another.
enum class Reason { workers, total_bandwidth, operations };
inline constexpr Reason reasons[] = {Reason::workers, Reason::total_bandwidth, Reason::operations};

inline Scenario fed(Scenario s, double ratio, Reason reason) {
    constexpr int workers = 4;
    constexpr Bytes sample = 100 * units::KB;
    const Seconds loading = ratio * estimate(prepare(s)).step;
    const double of_rank = static_cast<double>(s.plan.global_batch) / s.plan.dp, all = static_cast<double>(s.plan.global_batch);
    StorageClass storage;
    storage.kind = StorageKind::parallel;
    storage.shared = true;
    storage.open_latency = storage.seek_latency = round_machine::given(1 * units::ns);
    storage.read_bandwidth = round_machine::given(1e6 * units::TB / units::s);
    if (reason == Reason::workers) storage.seek_latency = round_machine::given(workers * loading / of_rank);
    if (reason == Reason::total_bandwidth) storage.total_read_bandwidth = round_machine::given(all * sample / loading);
    if (reason == Reason::operations) storage.random_read_rate = round_machine::given(all / loading);
    s.data.synthetic = false;
    s.data.storage = storage;
    s.data.format = DataFormat::npy;
    s.data.sample_bytes = sample;
    s.data.workers = workers;
    s.cluster.node.host.cores = 10'000;
    return s;
}

}  // namespace sextant
