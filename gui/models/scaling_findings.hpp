// What more devices bring: asked as people type it, and what was found.
#pragma once

#include "gui/models/session.hpp"
#include "gui/models/table_model.hpp"

#include <QString>

namespace sextant::gui {

struct ScalingForm {
    QString sizes;  // "8..256", "8,16,24"
    bool strong = true, weak = true;
    bool operator==(const ScalingForm&) const = default;
};
ScalingForm scaling_form(const Scenario&);

// Throws InputError, in the words of the command line.
SearchRequest scaling_request(const ScalingForm&, const Scenario&);

struct ScalingFindings {
    ScalingForm form;
    std::vector<Scaling> kinds;  // strong, weak, or both
};

QString name_of(const Scaling&);  // "strong scaling"
// Every size of every kind, in the order of their points.
Table scaling_table(const ScalingFindings&);
// The point of a row of that table.
const ScalingPoint& scaling_point(const ScalingFindings&, std::size_t row);

}  // namespace sextant::gui
