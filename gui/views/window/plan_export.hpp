// A scenario's plan as files that others start it with: what `sextant export` writes, by a child.
#pragma once

#include "gui/models/session.hpp"

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace sextant::gui {

// Whose words a plan can be put into.
struct PlanLanguage {
    QString name;       // "Megatron-LM"
    QString ending;     // of the file
    QString word;       // for `sextant export`
    QString starter{};  // what a script for Slurm starts, where that is not torchrun
};
const std::vector<PlanLanguage>& plan_languages();

// What came of it: whether there is a file, and what was said of it or why there is none.
struct PlanExported {
    bool written = false;
    QString said;
};
// The child ends with `owner`.
void export_plan(const QString& path, const PlanLanguage&, const Session&, QObject* owner, std::function<void(const PlanExported&)> then);

}  // namespace sextant::gui
