// Exports a scenario's plan to the files of other systems, by running `sextant export` as a child process.
#pragma once

#include "gui/models/session.hpp"

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace sextant::gui {

// A system into whose settings a plan can be exported.
struct PlanLanguage {
    QString name;       // "Megatron-LM"
    QString ending;     // of the file
    QString word;       // for `sextant export`
    QString starter{};  // what a script for Slurm starts, where that is not torchrun
};
const std::vector<PlanLanguage>& plan_languages();

// The outcome: whether there is a file, with the messages of the export.
struct PlanExported {
    bool written = false;
    QString said;
};
// The child process ends with `owner`.
void export_plan(const QString& path, const PlanLanguage&, const Session&, QObject* owner, std::function<void(const PlanExported&)> then);

}  // namespace sextant::gui
