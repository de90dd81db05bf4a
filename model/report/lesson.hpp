// A lesson: a question, scenarios that answer it once something in them is changed, and what is seen then. Lessons are data
// (lessons/*.json); the numbers in them are computed from the model, and a test checks what they claim.
#pragma once

#include "model/report/condition.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

struct LessonStep {
    std::string scenario;                                      // file name of a bundled one, without .json
    std::vector<std::pair<std::string, std::string>> earlier;  // changes that the steps before this one left in it
    std::string view, look;                                    // where to look, and at what
    std::string task;                                          // the change, as a person makes it in the window
    std::vector<std::pair<std::string, std::string>> changes;  // "plan.dp", "64": JSON, as --set takes it
    std::vector<std::string> seen;                             // what happened, with the names of numbers in braces
    std::vector<Condition> checks;                             // what has to hold for that to be true
};

struct Lesson {
    std::filesystem::path file;
    std::string title, question, source;
    std::vector<LessonStep> steps;
    std::string remember;
};

// The numbers that a step may mention: "before.step_time", "after.share.bubble", and "ratio.samples_per_s" for the second over the first.
std::vector<NamedQuantity> lesson_quantities(const Report& before, const Report& after);

// "{ratio.step_time} times as long" with the number in place; "{after.mfu %}" is a percentage. A name that is not known stays as it is.
std::string told(std::string_view text, const std::vector<NamedQuantity>&);

// Whether both give the same answer, by whatever words they came to it.
bool same_answer(const Report&, const Report&);

}  // namespace sextant
