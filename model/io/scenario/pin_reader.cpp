#include "model/io/scenario/pin_reader.hpp"

#include "model/base/enum_names.hpp"
#include "model/base/spelling.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/scenario/plan_reader.hpp"
#include "model/search/plan_fields.hpp"

namespace sextant {
namespace {

PlanField field_named(const std::string& name, const std::string& pin) {
    if (const auto field = plan_field(name)) return *field;
    throw InputError(Diagnostic{"--pin " + pin, "", "\"" + name + "\" is nothing that a search chooses",
                                hint_for(name, enumerator_names(all_plan_fields))});
}

}  // namespace

std::set<PlanField> pinned_fields(const Scenario& scenario) {
    std::set<PlanField> fields;
    for (const std::string& name : scenario.pinned) fields.insert(field_named(name, name));
    return fields;
}

PlanField read_pin(const std::string& pin, Plan& plan) {
    const auto equals = pin.find('=');
    const PlanField field = field_named(pin.substr(0, equals), pin);
    if (equals == std::string::npos) return field;
    // As a scenario's plan would be read, with nothing else in it.
    Diagnostics diagnostics;
    JsonFile file = JsonFile::from_text(R"({"micro_batch": 1, "dp": 1, "grad_accum": 1})", "--pin " + pin, diagnostics);
    file.set(pin);
    const std::optional<Plan> read = read_plan(file.root(), {});
    diagnostics.throw_if_any();
    copy_field(field, *read, plan);
    return field;
}

void follow_pins(Plan& plan, const std::set<PlanField>& pinned, int devices) {
    const std::int64_t of_a_copy = std::int64_t{plan.tp} * plan.pp * plan.cp;
    if (!pinned.contains(PlanField::dp) && devices % of_a_copy == 0) plan.dp = static_cast<int>(devices / of_a_copy);
}

}  // namespace sextant
