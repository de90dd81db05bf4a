#include "model/io/measurement/measurement_split.hpp"

#include "model/io/profile/fingerprint.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace sextant {
namespace {

std::string machine_of(const TrainingRow& row) { return row.hardware.gpu; }

std::set<std::string> every_other(const std::set<std::string>& units) {
    std::vector<std::string> order(units.begin(), units.end());
    std::ranges::sort(order, {}, [](const std::string& unit) { return hash_of(unit); });
    std::set<std::string> chosen;
    for (std::size_t i = 0; i < order.size(); i += 2) chosen.insert(order[i]);
    return chosen;
}

// What tells the rows of a file apart: the models of a file that has several, else the machines. None: the row may not be fitted to.
class Units {
public:
    explicit Units(const MeasurementFile& file) {
        std::set<std::string> models;
        for (const MeasurementRow& row : file.rows)
            if (const auto* training = std::get_if<TrainingRow>(&row)) models.insert(model_of(*training));
        by_model_ = models.size() > 1;
    }
    [[nodiscard]] std::optional<std::string> of(const MeasurementRow& row) const {
        if (const auto* training = std::get_if<TrainingRow>(&row)) return by_model_ ? model_of(*training) : machine_of(*training);
        if (const auto* call = std::get_if<CollectiveRow>(&row); call && call->header.counted()) return call->hardware.system;
        return std::nullopt;
    }

private:
    bool by_model_ = false;
};

}  // namespace

std::string model_of(const TrainingRow& row) {
    return row.model.name + "/" + std::to_string(row.model.layers.value_or(0)) + "/" + std::to_string(row.model.hidden.value_or(0));
}

std::vector<bool> fitting_half(const MeasurementFile& file) {
    const Units units(file);
    std::set<std::string> all;
    for (const MeasurementRow& row : file.rows)
        if (auto unit = units.of(row)) all.insert(std::move(*unit));
    const std::set<std::string> chosen = all.size() > 1 ? every_other(all) : std::set<std::string>{};
    std::vector<bool> half;
    for (const MeasurementRow& row : file.rows) {
        const auto unit = units.of(row);
        half.push_back(unit && chosen.contains(*unit));
    }
    return half;
}

}  // namespace sextant
