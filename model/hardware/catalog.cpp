#include "model/hardware/catalog.hpp"

namespace sextant {

std::string slug_of(std::string_view name) {
    std::string slug;
    bool gap = false;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            if (gap && !slug.empty()) slug += '-';
            slug += upper ? static_cast<char>(c - 'A' + 'a') : c;
            gap = false;
        } else {
            gap = true;
        }
    }
    return slug;
}

std::string key_of(std::string_view name) {
    constexpr std::string_view of_makers[] = {"nvidia-", "geforce-", "tesla-", "amd-", "instinct-", "intel-", "habana-"};
    std::string key = slug_of(name);
    for (const std::string_view word : of_makers)
        if (key.starts_with(word)) key.erase(0, word.size());
    std::erase(key, '-');
    return key;
}

}  // namespace sextant
