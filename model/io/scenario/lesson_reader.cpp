#include "model/io/scenario/lesson_reader.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

void read_changes(const JsonNode& node, std::vector<std::pair<std::string, std::string>>& changes) {
    if (!node.value) return;
    if (!node.is_object()) return node.complain("not an object", R"(as in {"plan.tp": 8})");
    for (const auto& [path, value] : node.members()) changes.emplace_back(path, value.value->dump());
}

void read_checks(const JsonNode& node, std::vector<Condition>& checks) {
    std::string text;
    if (!read_value(node, text)) return;
    try {
        checks.push_back(parse_condition(text, "a check"));
    } catch (const InputError& e) {
        for (const Diagnostic& d : e.diagnostics()) node.complain(d.what, d.hint);
    }
}

LessonStep read_step(const JsonNode& node) {
    LessonStep step;
    ObjectReader r(node);
    r.optional("scenario", step.scenario);
    r.optional("view", step.view);
    r.required("look", step.look);
    r.required("task", step.task);
    read_changes(r.need("change", "what the task does, as --set would"), step.changes);
    r.required("seen", step.seen);
    r.each("checks", [&](const JsonNode& check) { read_checks(check, step.checks); });
    if (step.checks.empty()) r.need("checks", R"(what must hold for it to be true, as in "ratio.step_time < 0.5")");
    return step;
}

}  // namespace

std::optional<Lesson> load_lesson(const std::filesystem::path& path, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::load(path, diagnostics);
    if (!file.root().value) return std::nullopt;
    Lesson lesson{.file = path, .title = {}, .question = {}, .source = {}, .steps = {}, .remember = {}};
    ObjectReader r(file.root());
    if (!r.schema("lesson/1")) return std::nullopt;
    r.required("title", lesson.title);
    r.required("question", lesson.question);
    r.required("source", lesson.source);
    r.required("remember", lesson.remember);
    // A step goes on where the one before it left off, unless it opens a scenario.
    r.each("steps", [&](const JsonNode& node) {
        LessonStep step = read_step(node);
        if (step.scenario.empty() && lesson.steps.empty()) node.complain("the first step names no scenario", "a file name in scenarios/");
        if (step.scenario.empty() && !lesson.steps.empty()) {
            const LessonStep& last = lesson.steps.back();
            step.scenario = last.scenario;
            step.earlier = last.earlier;
            step.earlier.insert(step.earlier.end(), last.changes.begin(), last.changes.end());
        }
        lesson.steps.push_back(std::move(step));
    });
    if (lesson.steps.empty()) r.node().complain("a lesson without steps");
    return lesson;
}

}  // namespace sextant
