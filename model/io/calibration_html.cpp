#include "model/base/quantity_text.hpp"
#include "model/io/calibration_picture.hpp"
#include "model/io/calibration_writer.hpp"
#include "model/io/svg.hpp"
#include "model/io/text_table.hpp"

namespace sextant {
namespace {

constexpr std::string_view style = R"(
body { margin: 0 auto; max-width: 880px; padding: 28px 24px 60px; color: #1c2127; background: #ffffff; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 4px; } p { color: #5b6570; margin: 4px 0 16px; }
svg { display: block; width: 100%; height: auto; margin: 12px 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px; }
th, td { padding: 4px 12px; text-align: right; border-bottom: 1px solid #dde2e7; white-space: nowrap; } th { color: #5b6570; font-weight: 600; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; } tr.out td { color: #9aa5b1; }
)";

std::string row(std::string_view tag, const std::vector<std::string>& cells, std::string_view kind = {}) {
    std::string out = kind.empty() ? "<tr>" : "<tr class=\"" + std::string(kind) + "\">";
    for (const std::string& c : cells) out += "<" + std::string(tag) + ">" + svg::escaped(c) + "</" + std::string(tag) + ">";
    return out + "</tr>\n";
}

std::string numbers_table(const CalibrationStamp& stamp) {
    std::string out = "<div class=\"wide\"><table>" + row("th", {"", "", "before", "sure to", "after", "sure to"});
    for (const CalibratedNumber& n : stamp.numbers)
        out += row("td", {n.owner, n.name, n.before, percent_text(n.spread_before, 2), n.after, percent_text(n.spread, 2)});
    return out + "</table></div>\n";
}

std::string terms_table(const CalibrationStamp& stamp) {
    std::string out = "<div class=\"wide\"><table>" + row("th", {"", "", "measured", "predicted", "off by", "noise"});
    std::string of;
    for (const CalibratedTerm& t : stamp.terms) {
        const double off = t.predicted / t.measured - 1;
        out += row("td",
                   {t.of == of ? "" : t.of, t.size ? t.name : words(t.name), to_text(t.measured), to_text(t.predicted),
                    (off > 0 ? "+" : "") + percent_text(off, 2) + (t.left_out ? ", left out" : ""), percent_text(t.noise, 2)},
                   t.left_out ? "out" : "");
        of = t.of;
    }
    return out + "</table></div>\n";
}

}  // namespace

std::string calibration_html(const Cluster& cluster) {
    const CalibrationStamp& stamp = *cluster.calibration;
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
        "<title>Sextant: " +
        svg::escaped(cluster.title) + "</title><style>" + std::string(style) + "</style></head><body>\n<h1>" + svg::escaped(cluster.title) +
        "</h1>\n<p>" + svg::escaped(stamp_line(stamp)) + "</p>\n";
    for (const std::string& chart : calibration_charts(cluster)) out += chart;
    out += "<h2>The profile</h2>\n" + numbers_table(stamp);
    out += "<h2>What was measured, and as the profile predicts it</h2>\n" + terms_table(stamp);
    return out + "</body></html>\n";
}

}  // namespace sextant
