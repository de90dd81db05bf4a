#include "model/report/condition.hpp"

#include "model/base/spelling.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sextant {
namespace {

std::string trimmed(std::string_view t) {
    const auto first = t.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string(t.substr(first, t.find_last_not_of(" \t") - first + 1));
}

[[noreturn]] void refuse(const Condition& c, std::string what, std::string hint) {
    throw InputError(Diagnostic{c.option + " '" + c.text + "'", "", std::move(what), std::move(hint)});
}

double plain_number(const Condition& c, std::string hint = "a plain number or a percentage, as in 0.4 or 40 %") {
    double value = 0;
    const char* end = c.value.data() + c.value.size();
    const auto [rest, error] = std::from_chars(c.value.data(), end, value);
    const std::string unit = trimmed({rest, static_cast<std::size_t>(end - rest)});
    if (error != std::errc{} || !std::isfinite(value) || !(unit.empty() || unit == "%"))
        refuse(c, "\"" + c.value + "\" is not a number", std::move(hint));
    return unit == "%" ? value / 100 : value;
}

double truth(const Condition& c) {
    if (c.value == "true") return 1;
    if (c.value == "false") return 0;
    return plain_number(c, "true or false, as in '" + c.quantity + " == false'");
}

// As JSON has it, with the unit in its name, and in groups: "step_time_s" is step_time in seconds, "throughput.samples_per_s"
// samples_per_s.
std::string_view without_unit(std::string_view name) {
    for (const std::string_view unit : {"_s", "_bytes", "_j"})
        if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
    return name;
}
std::string_view without_group(std::string_view name) {
    constexpr std::string_view group = "throughput.";
    return name.starts_with(group) ? name.substr(group.size()) : name;
}

double value_in(const Condition& c, const NamedQuantity& q) {
    if (q.yes_or_no) return truth(c);
    if (!q.table || c.quantity != q.name) return plain_number(c);
    const ParsedQuantity parsed = parse_quantity(c.value, *q.table);
    if (!parsed.si) refuse(c, parsed.error, {});
    if (!std::isfinite(*parsed.si)) refuse(c, "\"" + c.value + "\" is beyond any number", {});
    return *parsed.si;
}

[[noreturn]] void refuse_unknown(const Condition& c, const std::vector<NamedQuantity>& quantities) {
    std::vector<std::string_view> names;
    for (const NamedQuantity& q : quantities) names.push_back(q.name);
    refuse(c, "\"" + c.quantity + "\" is not reported", hint_for(c.quantity, names));
}

}  // namespace

std::vector<NamedQuantity> named_quantities(const Report& r) {
    const Estimate& e = r.estimate;
    const UnitTable* time = &unit_table<Seconds>();
    const UnitTable* size = &unit_table<Bytes>();
    std::vector<NamedQuantity> list = {{"step_time", e.step.si(), time},
                                       {"step_time_low", r.low.si(), time},
                                       {"step_time_high", r.high.si(), time},
                                       {"samples_per_s", r.samples_per_s.si(), nullptr},
                                       {"memory", e.peak_memory.si(), size},
                                       {"device_memory", e.device_memory.si(), size},
                                       {"host_memory", e.host.total().si(), size},
                                       {"fits", e.fits() ? 1.0 : 0.0, nullptr, true},
                                       {"mfu", r.mfu, nullptr},
                                       {"hfu", r.hfu, nullptr},
                                       {"scaling_efficiency", r.scaling_efficiency, nullptr},
                                       {"utilization", r.utilization, nullptr},
                                       {"devices", static_cast<double>(r.devices), nullptr},
                                       {"reserved_devices", static_cast<double>(r.reserved_devices), nullptr},
                                       {"effective_batch", static_cast<double>(r.batch.effective_batch), nullptr},
                                       {"largest_micro_batch", static_cast<double>(r.batch.largest_micro_batch), nullptr}};
    if (r.tokens_per_s) list.push_back({"tokens_per_s", r.tokens_per_s->si(), nullptr});
    for (int i = 0; i < term_count; ++i) {
        const Term t = static_cast<Term>(i);
        list.push_back({"terms." + std::string(to_text(t)), e.terms[t].si(), time});
        list.push_back({"overlapped." + std::string(to_text(t)), e.overlapped[t].si(), time});
        list.push_back({"share." + std::string(to_text(t)), e.terms[t] / e.step, nullptr});
    }
    const auto fullest = std::ranges::max_element(e.memory, {}, &StageMemory::total);
    for (int i = 0; i < memory_kind_count; ++i) {
        const auto kind = static_cast<MemoryKind>(i);
        list.push_back({"memory." + std::string(to_text(kind)), fullest == e.memory.end() ? 0 : (*fullest)[kind].si(), size});
    }
    if (r.input) {
        list.push_back({"input.samples_per_s", r.input->later.samples.si(), nullptr});
        list.push_back({"input.load_step", r.input->later_loading.si(), time});
        list.push_back({"input.staging", r.input->staging.total().si(), time});
    }
    if (r.checkpoints) list.push_back({"checkpoint.wait", r.checkpoints->wait.si(), time});
    if (r.run) {
        list.push_back({"run.steps", r.run->steps, nullptr});
        list.push_back({"run.goodput", r.run->goodput, nullptr});
        list.push_back({"run.time", r.run->time.si(), time});
        list.push_back({"run.device_hours", r.run->device_time / units::hour, nullptr});
        list.push_back({"run.energy", r.run->energy.si(), &unit_table<Joules>()});
        if (r.run->cost) list.push_back({"run.cost", r.run->cost->si(), &unit_table<Money>()});
    }
    return list;
}

Condition parse_condition(std::string_view text, std::string_view option) {
    static constexpr struct {
        std::string_view sign;
        Relation meaning;
    } signs[] = {{"<=", Relation::less_equal}, {">=", Relation::greater_equal}, {"==", Relation::equal},
                 {"!=", Relation::not_equal},  {"<", Relation::less},           {">", Relation::greater}};
    Condition c;
    c.text = std::string(text);
    c.option = std::string(option);
    for (const auto& [sign, meaning] : signs) {
        const auto at = text.find(sign);
        if (at == std::string_view::npos) continue;
        c.quantity = trimmed(text.substr(0, at));
        c.relation = meaning;
        c.value = trimmed(text.substr(at + sign.size()));
        if (!c.quantity.empty() && !c.value.empty()) return c;
    }
    refuse(c, "not a comparison", "as in 'step_time > 500 ms' or 'mfu < 0.4'");
}

std::vector<Condition> read_conditions(const std::vector<std::string>& texts, std::string_view option, const KnownQuantities& known,
                                       Diagnostics& diagnostics) {
    if (texts.empty()) return {};
    const std::vector<NamedQuantity> quantities = known();
    std::vector<Condition> conditions;
    for (const std::string& text : texts)
        diagnostics.collect([&] {
            conditions.push_back(parse_condition(text, option));
            static_cast<void>(holds(conditions.back(), quantities));
        });
    return conditions;
}

bool holds(const Condition& c, const Report& r) { return holds(c, named_quantities(r)); }

const NamedQuantity* quantity_of(const Condition& c, const std::vector<NamedQuantity>& quantities) {
    for (const std::string_view name : {std::string_view(c.quantity), without_group(c.quantity), without_unit(c.quantity)}) {
        const auto found = std::ranges::find(quantities, name, &NamedQuantity::name);
        if (found != quantities.end()) return &*found;
    }
    return nullptr;
}

bool asks_for_less(const Condition& c) { return c.relation == Relation::less || c.relation == Relation::less_equal; }

std::optional<double> nearer(const Condition& c, std::optional<double> a, std::optional<double> b) {
    if (c.relation == Relation::equal || c.relation == Relation::not_equal) return {};
    if (!a || !b) return a ? a : b;
    return asks_for_less(c) ? std::min(*a, *b) : std::max(*a, *b);
}

bool holds(const Condition& c, const std::vector<NamedQuantity>& quantities) {
    const NamedQuantity* q = quantity_of(c, quantities);
    if (!q) refuse_unknown(c, quantities);
    const double value = value_in(c, *q);
    switch (c.relation) {
        case Relation::less:
            return q->si < value;
        case Relation::less_equal:
            return q->si <= value;
        case Relation::greater:
            return q->si > value;
        case Relation::greater_equal:
            return q->si >= value;
        case Relation::equal:
            return q->si == value;
        case Relation::not_equal:
            return q->si != value;
    }
    return false;
}

}  // namespace sextant
