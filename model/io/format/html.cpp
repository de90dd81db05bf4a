#include "model/io/format/html.hpp"

#include "model/io/format/svg.hpp"

namespace sextant::html {
namespace {

constexpr std::string_view common_style = R"(
:root { --ink: #1c2127; --soft: #5b6570; --rule: #dde2e7; --paper: #ffffff; --panel: #f7f9fa; }
body { margin: 0 auto; max-width: 1120px; padding: 28px 24px 60px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 6px; } h2 { font-size: 19px; margin: 44px 0 4px; } p { max-width: 76ch; margin: 6px 0 14px; color: var(--soft); }
figure { margin: 0; background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 10px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px; margin: 12px 0; }
th, td { padding: 4px 12px; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; } th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
)";

}  // namespace

std::string page(std::string_view title, std::string_view style, std::string_view body) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>";
    out += svg::escaped(title) + "</title><style>";
    out.append(common_style).append(style);
    out.append("</style></head><body>\n").append(body);
    return out + "</body></html>\n";
}

std::string table(const Rows& rows, std::string_view attributes) {
    std::string out;
    for (const std::vector<std::string>& r : rows) out += row(&r == &rows.front() ? "th" : "td", r);
    return table_of(out, attributes);
}

std::string table_of(std::string_view rows, std::string_view attributes) {
    std::string out = "<div class=\"wide\"><table";
    out.append(attributes).append(">").append(rows);
    return out + "</table></div>\n";
}

std::string row(std::string_view tag, const std::vector<std::string>& texts) {
    std::string out = "<tr>";
    for (const std::string& t : texts) out += "<" + std::string(tag) + ">" + svg::escaped(t) + "</" + std::string(tag) + ">";
    return out + "</tr>\n";
}

}  // namespace sextant::html
