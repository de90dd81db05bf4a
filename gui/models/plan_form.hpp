// What a search for plans is asked, as people type it: the words of the command line.
#pragma once

#include "gui/models/session.hpp"

#include <QString>

#include <map>

namespace sextant::gui {

enum class PlanFormField { devices, batches, pins, where };

struct PlanForm {
    Objective objective = Objective::throughput;
    int top = 10;
    QString devices;            // "64", "8,16", "8..64"; of devices, or
    bool counts_nodes = false;  // of nodes
    QString batches;            // empty: the job's
    QString pins, where;        // several are separated by commas

    friend bool operator==(const PlanForm&, const PlanForm&) = default;
};

// What the scenario says.
PlanForm plan_form(const Scenario&);

// With another scenario: what was not typed, and so is as `before` has it, becomes as `now` has it.
PlanForm followed(PlanForm form, const PlanForm& before, const PlanForm& now);

// What is wrong with a form, in the words of the command line, by field.
using PlanFormProblems = std::map<PlanFormField, QString>;

// The question; or none, and the problems of every field.
struct ReadPlanForm {
    std::optional<PlanQuestion> question;
    PlanFormProblems problems;
};
ReadPlanForm read_plan_form(const PlanForm&, const Scenario&);

}  // namespace sextant::gui
