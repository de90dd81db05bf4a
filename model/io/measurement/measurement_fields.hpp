// What the readers of the kinds of rows share. Internal to measurement_reader.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/io/measurement/measurement_reader.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace sextant {

inline constexpr Bounds large_counts{0, 1e15};
inline constexpr Bounds rank_counts{1, 1e7};

// The fields of one object. Unlike ObjectReader it passes over keys that nobody asks for.
class RowFields {
public:
    explicit RowFields(JsonNode node) : node_(std::move(node)) {
        if (node_.value && !node_.is_object()) {
            node_.complain("expected an object");
            node_.value = nullptr;
        }
    }
    explicit operator bool() const { return node_.value; }

    // The child, value null when absent or JSON null.
    [[nodiscard]] JsonNode at(std::string_view key) const {
        JsonNode n = node_.child(key);
        if (n.value && n.value->is_null()) n.value = nullptr;
        return n;
    }
    template <class T, class... Rules>
    void optional(std::string_view key, T& field, const Rules&... rules) const {
        if (const JsonNode n = at(key); n.value) read_value(n, field, rules...);
    }
    template <class T, class... Rules>
    void optional(std::string_view key, std::optional<T>& field, const Rules&... rules) const {
        const JsonNode n = at(key);
        T value{};
        if (n.value && read_value(n, value, rules...)) field = value;
    }
    template <class T, class... Rules>
    void required(std::string_view key, T& field, const Rules&... rules) const {
        if (!node_.value) return;
        const JsonNode n = at(key);
        if (n.value)
            read_value(n, field, rules...);
        else
            node_.complain("\"" + std::string(key) + "\" is missing");
    }
    // A number in SI units, the unit being part of the key.
    template <class Q>
    void quantity(std::string_view key, std::optional<Q>& field, double unit = 1) const {
        std::optional<double> value;
        optional(key, value, positive);
        if (value) field = Q::from_si(*value * unit);
    }

private:
    JsonNode node_;
};

void read_hardware(const RowFields&, MeasuredHardware&);
TrainingRow read_training(const RowFields&, RowHeader);
LoadingRow read_loading(const RowFields&, RowHeader);

// The workloads that a source of loading rows defines, to every row that names one.
void define_workloads(const RowFields& source, std::vector<MeasurementRow>&);
// Which loading rows have the most accelerators of their system.
void compare_accelerators(std::vector<MeasurementRow>&);

}  // namespace sextant
