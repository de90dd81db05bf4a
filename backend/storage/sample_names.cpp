#include "backend/storage/sample_names.hpp"

#include "backend/storage/npy.hpp"
#include "model/base/parse_number.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace sextant {
namespace {

constexpr std::string_view class_prefix = "class_";

std::string folder_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}
std::string_view last_part(std::string_view path) {
    const auto slash = path.rfind('/');
    return path.substr(slash == std::string_view::npos ? 0 : slash + 1);
}

std::string padded(std::int64_t number, std::size_t digits) {
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::optional<std::int64_t> class_in(std::string_view folder) {
    if (!folder.starts_with(class_prefix)) return std::nullopt;
    folder.remove_prefix(class_prefix.size());
    const auto label = parse_number<std::int64_t>(folder);
    return label && *label >= 0 ? label : std::nullopt;
}

}  // namespace

std::string class_folder(std::int64_t label) { return std::string(class_prefix) + padded(label, 4); }

std::string sample_name(std::int64_t index, std::int64_t label, std::string_view suffix) {
    return class_folder(label) + "/" + padded(index, 8) + "." + std::string(suffix);
}

bool is_class_folder(std::string_view name) { return class_in(name).has_value(); }

bool names_a_sample(std::string_view path) {
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos || last_part(path).starts_with('.')) return false;
    std::string suffix(path.substr(dot + 1));
    for (char& c : suffix) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return suffix == "png" || suffix == "jpg" || suffix == "jpeg" || suffix == "npy";
}

std::vector<std::int64_t> labels_of(const std::vector<std::string>& paths) {
    std::map<std::string, std::int64_t> classes;
    for (const std::string& path : paths) classes.emplace(folder_of(path), 0);
    const bool ours = std::ranges::all_of(classes, [](const auto& c) { return is_class_folder(last_part(c.first)); });
    std::int64_t rank = 0;
    for (auto& [folder, label] : classes) label = ours ? *class_in(last_part(folder)) : rank++;
    std::vector<std::int64_t> labels;
    labels.reserve(paths.size());
    for (const std::string& path : paths) labels.push_back(classes.at(folder_of(path)));
    return labels;
}

bool comes_before(const std::string& a, const std::string& b) { return std::tuple(last_part(a), a) < std::tuple(last_part(b), b); }

Blob as_file(const Sample& sample) { return sample.extents.empty() ? sample.bytes : npy_file(sample.extents, sample.bytes); }

}  // namespace sextant
