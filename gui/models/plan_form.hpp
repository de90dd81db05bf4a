// The question of a search for plans as text, in the syntax of the command line.
#pragma once

#include "gui/models/session.hpp"

#include <QString>

#include <map>

namespace sextant::gui {

enum class PlanFormField { devices, batches, pins, where };

struct PlanForm {
    Objective objective = Objective::throughput;
    int top = 10;
    QString devices;            // "64", "8,16", "8..64"
    bool counts_nodes = false;  // `devices` counts nodes
    QString batches;            // empty: the job's
    QString pins, where;        // several are separated by commas

    friend bool operator==(const PlanForm&, const PlanForm&) = default;
};

// The form for a scenario: its own values.
PlanForm plan_form(const Scenario&);

// Updates a form for another scenario: a field that still has its value of `before`, and so was not typed, gets that of `now`.
PlanForm followed(PlanForm form, const PlanForm& before, const PlanForm& now);

// What is wrong with a form, by field.
using PlanFormProblems = std::map<PlanFormField, QString>;

// The question; or none, and the problems of every field.
struct ReadPlanForm {
    std::optional<PlanQuestion> question;
    PlanFormProblems problems;
};
ReadPlanForm read_plan_form(const PlanForm&, const Scenario&);

}  // namespace sextant::gui
