#include "model/calibrate/storage_fit.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/list_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

std::optional<Seconds> mean_of(std::vector<Seconds> times) {
    if (times.empty()) return {};
    std::ranges::sort(times);
    times.resize(times.size() - times.size() / 100);
    return std::accumulate(times.begin(), times.end(), Seconds{}) / static_cast<double>(times.size());
}

// What is left of it without its first bytes, which come like others; noise leaves a tenth.
std::optional<Seconds> opening_of(std::optional<Seconds> open, std::optional<Seconds> seek) {
    if (open && seek) *open = max(*open - *seek, 0.1 * *open);
    return open;
}

// Files are opened with their first bytes, which storage brings as it does others: what is left bounds the opens.
std::optional<Frequency> opens_alone(std::optional<Frequency> opens, std::optional<Frequency> seeks) {
    if (!opens || !seeks) return opens;
    return 1 / max(1 / *opens - 1 / *seeks, 0.1 / *opens);
}

// Their bytes are counted beside them: of a slow link these are all that bounds small reads.
std::optional<Frequency> reads_alone(std::optional<Frequency> reads, std::optional<Bandwidth> stream) {
    if (!reads || !stream) return reads;
    return 1 / max(1 / *reads - StorageProbe::few / *stream, 0.1 / *reads);
}

template <class Rates>
auto of_one_thread(const Rates& rates) -> std::optional<decltype(rates.front().rate)> {
    std::vector<decltype(rates.front().rate)> passes;
    for (const auto& r : rates)
        if (r.threads == 1) passes.push_back(r.rate);
    if (passes.empty()) return {};
    std::ranges::sort(passes);
    return passes[passes.size() / 2];
}

template <class Rates>
auto most(const Rates& rates) -> std::optional<decltype(rates.front().rate)> {
    if (rates.empty()) return {};
    return std::ranges::max_element(rates, {}, [](const auto& r) { return r.rate; })->rate;
}

}  // namespace

StorageClass fit_storage(const StorageProbe& probe, const std::string& name, const std::string& source) {
    StorageClass s;
    s.name = name;
    s.kind = probe.kind;
    s.shared = probe.shared;
    bool any = false;
    const auto set = [&](auto& field, const auto& measured) {
        if (!measured || !(measured->si() > 0) || !std::isfinite(measured->si())) return;
        field = {*measured, SourceKind::measured, source};
        any = true;
    };
    const std::optional<Seconds> few = mean_of(probe.seeks), many = mean_of(probe.pieces);
    set(s.open_latency, opening_of(mean_of(probe.opens), few));
    std::optional<Bandwidth> by_pieces;
    if (few && many && *many > *few) by_pieces = (StorageProbe::piece - StorageProbe::few) / (*many - *few);
    set(s.random_read_bandwidth, by_pieces);
    set(s.seek_latency, by_pieces ? max(*few - StorageProbe::few / *by_pieces, 0.1 * *few) : few);
    set(s.read_ahead, probe.read_ahead);
    set(s.create_latency, mean_of(probe.creates));
    set(s.remove_latency, mean_of(probe.removes));
    set(s.remove_unwritten_latency, mean_of(probe.removes_unwritten));
    set(s.read_bandwidth, of_one_thread(probe.reads));
    set(s.write_bandwidth, of_one_thread(probe.writes));
    set(s.random_read_rate, reads_alone(most(probe.seek_rates), most(probe.reads)));
    set(s.metadata_rate, opens_alone(most(probe.open_rates), most(probe.seek_rates)));
    set(s.client_read_bandwidth, most(probe.reads));
    set(s.client_write_bandwidth, most(probe.writes));
    set(s.capacity, probe.capacity);
    if (!any) throw InputError(Diagnostic{probe.where, "", "nothing in it says how fast a storage is", {}});
    for (const std::string& note : probe.notes) append_to_list(s.notes, note, "; ");
    return s;
}

}  // namespace sextant
