// A validation as JSON for programs, as a table for a terminal, and as Markdown for the documentation.
#pragma once

#include "model/report/validation.hpp"

#include <string>

namespace sextant {

struct ValidationView {
    bool rows = false;     // text and Markdown: each row too. JSON always has them.
    std::string group_by;  // a label; empty: no groups
};

// {"files": [{"file", "rows", "predicted", "refused", "step_time", "memory", "results"}], "total": {...}}: errors are fractions,
// keys stand where a measurement or prediction exists.
std::string validation_json(const Validation&, const ValidationView& = {});
std::string validation_text(const Validation&, const ValidationView& = {});
std::string validation_markdown(const Validation&, const ValidationView& = {});

}  // namespace sextant
