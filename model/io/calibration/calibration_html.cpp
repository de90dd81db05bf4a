#include "model/base/quantity_text.hpp"
#include "model/io/calibration/calibration_picture.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/format/html.hpp"
#include "model/io/format/svg.hpp"
#include "model/io/format/text_table.hpp"

namespace sextant {
namespace {

constexpr std::string_view style = R"(
svg { display: block; max-width: 880px; height: auto; margin: 12px 0; background: #ffffff; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
)";

std::string numbers_table(const CalibrationStamp& stamp) {
    html::Rows rows{{"", "", "prior", "uncertainty", "fitted", "uncertainty"}};
    for (const CalibratedNumber& n : stamp.numbers)
        rows.push_back({n.owner, n.name, n.before, percent_text(n.spread_before, 2), n.after, percent_text(n.spread, 2)});
    return html::table(rows);
}

std::string terms_table(const CalibrationStamp& stamp) {
    html::Rows rows{{"", "", "measured", "predicted", "off by", "noise"}};
    std::string of;
    for (const CalibratedTerm& t : stamp.terms) {
        const double off = t.predicted / t.measured - 1;
        rows.push_back({t.of == of ? "" : t.of, t.size ? t.name : words(t.name), to_text(t.measured), to_text(t.predicted),
                        signed_percent_text(off, 2) + (t.left_out ? ", left out" : ""), percent_text(t.noise, 2)});
        of = t.of;
    }
    return html::table(rows);
}

}  // namespace

std::string calibration_html(const Cluster& cluster) {
    const CalibrationStamp& stamp = *cluster.calibration;
    std::string body = "<h1>" + svg::escaped(cluster.title) + "</h1>\n<p>" + svg::escaped(stamp_line(stamp)) + "</p>\n";
    for (const std::string& chart : calibration_charts(cluster)) body += chart;
    body += "<h2>The profile</h2>\n" + numbers_table(stamp);
    body += "<h2>Measured and predicted</h2>\n" + terms_table(stamp);
    return html::page("Sextant: " + cluster.title, style, body);
}

}  // namespace sextant
