#include "model/report/condition.hpp"

#include "model/base/list_text.hpp"
#include "model/base/parse_number.hpp"
#include "model/base/spelling.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

[[noreturn]] void refuse(const Condition& c, std::string what, std::string hint) {
    throw InputError(Diagnostic{c.option + " '" + c.text + "'", "", std::move(what), std::move(hint)});
}

double plain_number(const Condition& c, std::string hint = "a plain number or a percentage, as in 0.4 or 40 %") {
    std::string_view digits = c.value;
    const bool is_percentage = digits.ends_with('%');
    if (is_percentage) digits.remove_suffix(1);
    const auto value = parse_number<double>(trimmed(digits));
    if (!value) refuse(c, "\"" + c.value + "\" is not a number", std::move(hint));
    return is_percentage ? *value / 100 : *value;
}

double truth(const Condition& c) {
    if (c.value == "true") return 1;
    if (c.value == "false") return 0;
    return plain_number(c, "true or false, as in '" + c.quantity + " == false'");
}

// As JSON has it, with units in the names: "input.staging_s.copy" is input.staging.copy in seconds.
std::string without_units(std::string_view name) {
    std::string out;
    while (!name.empty()) {
        std::string_view part = name.substr(0, name.find('.'));
        name.remove_prefix(std::min(name.size(), part.size() + 1));
        for (const std::string_view unit : {"_s", "_bytes", "_j", "_usd"})
            if (part.ends_with(unit)) part.remove_suffix(unit.size());
        append_to_list(out, part, ".");
    }
    return out;
}

// What it is called elsewhere: in JSON, which has groups, or for short. Those that end in a point are the beginnings of names.
constexpr struct {
    std::string_view theirs, ours;
} other_names[] = {{"throughput.", ""},
                   {"goodput", "run.goodput"},
                   {"bottleneck.kind", "bottleneck"},
                   {"checkpoint.", "checkpoints."},
                   {"checkpoints.bytes", "checkpoints.size_bytes"},
                   {"input.samples_per_s", "input.later_epochs.node_samples_per_s"},
                   {"input.load_step", "input.later_epochs.load_step"},
                   {"input.first_epoch", "input.first_epoch.load_step"},
                   {"input.later_epochs", "input.later_epochs.load_step"}};
std::string as_listed(std::string_view name) {
    for (const auto& [theirs, ours] : other_names)
        if (name == theirs || (theirs.ends_with('.') && name.starts_with(theirs)))
            return std::string(ours).append(name.substr(theirs.size()));
    return std::string(name);
}

double word_in(const Condition& c, const NamedQuantity& q) {
    if (c.relation != Relation::equal && c.relation != Relation::not_equal)
        refuse(c, "\"" + c.quantity + "\" is a word, neither more nor less than another", "== or !=");
    const auto word = std::ranges::find(q.words, c.value);
    if (word == q.words.end()) refuse(c, "\"" + c.quantity + "\" is never \"" + c.value + "\"", hint_for(c.value, q.words));
    return static_cast<double>(word - q.words.begin());
}

double value_in(const Condition& c, const NamedQuantity& q) {
    if (q.yes_or_no) return truth(c);
    if (!q.words.empty()) return word_in(c, q);
    if (!q.table || as_listed(c.quantity) != q.name) return plain_number(c);  // the unit is in the name
    const ParsedQuantity parsed = parse_quantity(c.value, *q.table);
    if (!parsed.si) refuse(c, parsed.error, {});
    if (!std::isfinite(*parsed.si)) refuse(c, "\"" + c.value + "\" is beyond any number", {});
    return *parsed.si;
}

// What is reported of those scenarios alone that state something for it.
constexpr struct {
    std::string_view part, statement;
} stated_for[] = {{"run.", "\"run\": {\"tokens\": 300e9}"},
                  {"cost", "\"run\": {\"price\": \"2.50 USD/h\"}"},
                  {"input.", "\"data\": {\"storage\": \"local\"}"}};

[[noreturn]] void refuse_unknown(const Condition& c, const std::vector<NamedQuantity>& quantities) {
    std::vector<std::string_view> names;
    names.reserve(quantities.size());
    for (const NamedQuantity& q : quantities) names.push_back(q.name);
    for (const auto& [part, statement] : stated_for) {
        const auto has_part = [part = part](std::string_view name) { return name.find(part) != std::string_view::npos; };
        if (has_part(c.quantity) && std::ranges::none_of(names, has_part))
            refuse(c, "\"" + c.quantity + "\" is not reported of this scenario", "it needs, for example, " + std::string(statement));
    }
    refuse(c, "\"" + c.quantity + "\" is not reported", hint_for(c.quantity, names));
}

}  // namespace

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
    std::optional<std::vector<NamedQuantity>> quantities;
    if (known) diagnostics.collect([&] { quantities = known(); });
    std::vector<Condition> conditions;
    for (const std::string& text : texts)
        diagnostics.collect([&] {
            conditions.push_back(parse_condition(text, option));
            if (quantities) static_cast<void>(holds(conditions.back(), *quantities));
        });
    return conditions;
}

bool holds(const Condition& c, const Report& r) { return holds(c, named_quantities(r)); }

const NamedQuantity* quantity_of(const Condition& c, const std::vector<NamedQuantity>& quantities) {
    const std::string listed = as_listed(c.quantity);
    for (const std::string& name : {c.quantity, listed, without_units(listed)}) {
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
        case Relation::less: return q->si < value;
        case Relation::less_equal: return q->si <= value;
        case Relation::greater: return q->si > value;
        case Relation::greater_equal: return q->si >= value;
        case Relation::equal: return q->si == value;
        case Relation::not_equal: return q->si != value;
    }
    return false;
}

}  // namespace sextant
