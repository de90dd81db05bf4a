#include "model/io/storage_benchmark/yaml_section.hpp"

#include "model/base/spelling.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant {
namespace {

constexpr Bounds mean_times{0, 1e6};

}  // namespace

std::string place_of(const YAML::Mark& mark) {
    return mark.is_null() ? std::string() : std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

std::string text_of(const YAML::Node& node) { return node.IsScalar() ? printable(node.Scalar()) : "?"; }

void YamlReading::complain(const YAML::Node& node, std::string what, std::string hint) {
    diagnostics.add({file, place_of(node.Mark()), std::move(what), std::move(hint)});
}

YamlSection::YamlSection(YamlReading& reading, const YAML::Node& node, std::string name, std::vector<std::string_view> keys)
    : reading_(reading), node_(node), name_(std::move(name)), keys_(std::move(keys)) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) reading_.complain(node_, "\"" + name_ + "\" is no mapping");
    if (!is_mapping()) return;
    std::set<std::string> keys_there;
    for (const auto& member : node_)
        if (member.first.IsScalar() && !keys_there.insert(member.first.Scalar()).second)
            reading_.complain(member.first, "\"" + member.first.Scalar() + "\" stands twice");
}

YamlSection::~YamlSection() {
    if (!is_mapping()) return;
    for (const auto& member : node_) {
        const std::string key = text_of(member.first);
        if (std::ranges::find(read_, key) != read_.end()) continue;
        const bool known = std::ranges::find(keys_, key) != keys_.end();
        (known ? reading_.unused : reading_.unknown).push_back(name_ + "." + key);
    }
}

bool YamlSection::is_mapping() const { return node_.IsDefined() && node_.IsMap(); }

YAML::Node YamlSection::get(const std::string& key) {
    read_.push_back(key);
    if (!is_mapping()) return YAML::Node(YAML::NodeType::Undefined);
    const YAML::Node& members = node_;
    const YAML::Node found = members[key];
    return found && !found.IsNull() ? found : YAML::Node(YAML::NodeType::Undefined);
}

std::optional<double> YamlSection::number(const std::string& key, Bounds bounds) { return number(get(key), key, bounds); }

std::optional<double> YamlSection::number(const YAML::Node& node, const std::string& key, Bounds bounds) {
    if (!node) return {};
    double value = 0;
    const bool is_number = node.IsScalar() && YAML::convert<double>::decode(node, value) && std::isfinite(value);
    if (is_number && value >= bounds.low && value <= bounds.high) return value;
    reading_.complain(node, "\"" + key + "\" must be " +
                                (is_number ? "between " + number_text(bounds.low) + " and " + number_text(bounds.high) : "a number"));
    return {};
}

std::optional<std::int64_t> YamlSection::integer(const std::string& key, Bounds bounds) {
    const YAML::Node node = get(key);
    const auto value = number(node, key, bounds);
    if (!value) return {};
    if (*value == std::floor(*value)) return static_cast<std::int64_t>(*value);
    reading_.complain(node, "\"" + key + "\" must be an integer");
    return {};
}

bool YamlSection::flag(const std::string& key, bool assumed) {
    const YAML::Node node = get(key);
    bool value = assumed;
    if (node && !(node.IsScalar() && YAML::convert<bool>::decode(node, value)))
        reading_.complain(node, "\"" + key + "\" must be true or false");
    return value;
}

std::string YamlSection::text(const std::string& key, std::string assumed) {
    const YAML::Node node = get(key);
    if (!node) return assumed;
    if (node.IsScalar()) return text_of(node);
    reading_.complain(node, "\"" + key + "\" must be a text");
    return assumed;
}

std::optional<double> YamlSection::time(const std::string& key) {
    const YAML::Node node = get(key);
    if (!node || !node.IsMap()) return number(node, key, mean_times);
    YamlSection of(reading_, node, name_ + "." + key, {"stdev"});
    const std::string type = of.text("type", "normal");
    std::optional<double> mean;
    if (type == "normal") mean = of.number("mean", mean_times);
    if (type == "uniform") {
        const auto low = of.number("min", mean_times), high = of.number("max", mean_times);
        if (low && high) mean = (*low + *high) / 2;
    }
    if (type == "gamma") {
        const auto shape = of.number("shape", mean_times), scale = of.number("scale", mean_times);
        if (shape && scale) mean = *shape * *scale;
    }
    if (type == "exponential") mean = of.number("scale", mean_times);
    if (type == "poisson") mean = of.number("lam", mean_times);
    if (!mean || *mean > mean_times.high)
        reading_.complain(
            node, "\"" + key + "\" has no mean",
            "normal with mean, uniform with min and max, gamma with shape and scale, exponential with scale, poisson with lam");
    return mean;
}

void YamlSection::complain(std::string what, std::string hint) const {
    const bool is_there = node_.IsDefined() && !node_.IsNull();
    reading_.diagnostics.add({reading_.file, is_there ? place_of(node_.Mark()) : "", std::move(what), std::move(hint)});
}

}  // namespace sextant
