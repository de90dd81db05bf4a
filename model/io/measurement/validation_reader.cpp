#include "model/io/measurement/validation_reader.hpp"

#include "model/io/measurement/measurement_fields.hpp"

namespace sextant {
namespace {

RowResult read_row(const JsonNode& n) {
    RowFields r(n);
    RowResult row;
    r.required("id", row.id);
    r.optional("counted", row.counted);
    r.optional("fitted", row.fitted);
    r.optional("measured_step_time_s", row.measured_step, InSi{});
    r.optional("predicted_step_time_s", row.predicted_step, InSi{});
    r.optional("measured_memory_bytes", row.measured_memory, InSi{});
    r.optional("predicted_memory_bytes", row.predicted_memory, InSi{});
    r.optional("measured_fits", row.measured_fits);
    r.optional("predicted_fits", row.predicted_fits);
    r.optional("refused", row.refused);
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
