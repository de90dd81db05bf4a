#include "model/io/measurement/validation_reader.hpp"

#include "model/io/format/json_reader.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

template <class Q>
void read(const JsonNode& row, std::string_view key, std::optional<Q>& field) {
    double si = 0;
    if (const JsonNode n = row.child(key); n.value && read_value(n, si, not_negative)) field = Q::from_si(si);
}
void read(const JsonNode& row, std::string_view key, std::optional<bool>& field) {
    bool yes = false;
    if (const JsonNode n = row.child(key); n.value && read_value(n, yes)) field = yes;
}

RowResult read_row(const JsonNode& n) {
    RowResult row;
    if (const JsonNode id = n.child("id"); id.value)
        read_value(id, row.id);
    else
        n.complain("a row without an \"id\"");
    if (const JsonNode counted = n.child("counted"); counted.value) read_value(counted, row.counted);
    if (const JsonNode fitted = n.child("fitted"); fitted.value) read_value(fitted, row.fitted);
    read(n, "measured_step_time_s", row.measured_step);
    read(n, "predicted_step_time_s", row.predicted_step);
    read(n, "measured_memory_bytes", row.measured_memory);
    read(n, "predicted_memory_bytes", row.predicted_memory);
    read(n, "measured_fits", row.measured_fits);
    read(n, "predicted_fits", row.predicted_fits);
    std::string why;
    if (const JsonNode refused = n.child("refused"); refused.value && read_value(refused, why)) row.refused = why;
    return row;
}

}  // namespace

Validation load_validation(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    const JsonFile document = JsonFile::load(path, diagnostics);
    Validation validation;
    const JsonNode root = document.root();
    if (root.value) {
        const JsonNode files = root.child("files");
        if (!files.is_array()) root.complain("no list of \"files\"", "what `sextant validate --format json` writes");
        for (const JsonNode& file : files.elements()) {
            FileValidation& of_file = validation.files.emplace_back();
            if (const JsonNode name = file.child("file"); name.value) read_value(name, of_file.file);
            for (const JsonNode& row : file.child("results").elements()) of_file.results.push_back(read_row(row));
        }
    }
    diagnostics.throw_if_any();
    return validation;
}

}  // namespace sextant
