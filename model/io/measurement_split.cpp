#include "model/io/measurement_split.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

namespace sextant {
namespace {

// FNV-1a, 64 bits: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm", IETF draft.
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
    return hash;
}

std::string machine_of(const TrainingRow& row) { return row.hardware.gpu; }

std::set<std::string> every_other(const std::set<std::string>& units) {
    std::vector<std::string> order(units.begin(), units.end());
    std::ranges::sort(order, {}, hash_of);
    std::set<std::string> chosen;
    for (std::size_t i = 0; i < order.size(); i += 2) chosen.insert(order[i]);
    return chosen;
}

}  // namespace

std::string model_of(const TrainingRow& row) {
    return row.model.name + "/" + std::to_string(row.model.layers.value_or(0)) + "/" + std::to_string(row.model.hidden.value_or(0));
}

std::vector<bool> fitting_half(const MeasurementFile& file) {
    std::set<std::string> models, machines;
    for (const MeasurementRow& row : file.rows)
        if (const auto* training = std::get_if<TrainingRow>(&row)) {
            models.insert(model_of(*training));
            machines.insert(machine_of(*training));
        }
    const bool by_model = models.size() > 1;
    const std::set<std::string>& units = by_model ? models : machines;
    const std::set<std::string> chosen = units.size() > 1 ? every_other(units) : std::set<std::string>{};
    std::vector<bool> half;
    for (const MeasurementRow& row : file.rows) {
        const auto* training = std::get_if<TrainingRow>(&row);
        half.push_back(training != nullptr && chosen.contains(by_model ? model_of(*training) : machine_of(*training)));
    }
    return half;
}

}  // namespace sextant
