// A validation as JSON for programs, as a table for a terminal, as Markdown for the documentation, and as a page to look at; and what a
// change moved.
#pragma once

#include "model/report/validation_diff.hpp"

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
// One file that needs no other: for each group predicted over measured, and errors over the size of the job; then the tables.
std::string validation_html(const Validation&);

// By group and by file, then the rows that grew worse or better most; with `rows`, all that moved.
std::string validation_diff_text(const ValidationDiff&, const ValidationView& = {});
std::string validation_diff_json(const ValidationDiff&);

}  // namespace sextant
