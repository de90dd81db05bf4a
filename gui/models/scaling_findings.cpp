#include "gui/models/scaling_findings.hpp"

#include "gui/models/text.hpp"
#include "model/io/format/number_list.hpp"
#include "model/io/profile/processor_info.hpp"
#include "model/io/scenario/pin_reader.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <algorithm>

namespace sextant::gui {

ScalingForm scaling_form(const Scenario& job) {
    const std::vector<int> sizes = usual_sizes(job);
    const bool doubled = std::ranges::adjacent_find(sizes, [](int a, int b) { return b != 2 * a; }) == sizes.end();
    if (sizes.size() > 1 && doubled) return {QStringLiteral("%1..%2").arg(sizes.front()).arg(sizes.back())};
    QStringList each;
    for (const int n : sizes) each += QString::number(n);
    return {each.join(QLatin1Char(','))};
}

SearchRequest scaling_request(const ScalingForm& form, const Scenario& job) {
    SearchRequest r;
    r.job = job;
    r.job.reserved_devices = 0;
    r.pinned = pinned_fields(job);
    r.devices = numbers_in(QString(form.sizes).remove(QLatin1Char(' ')).toStdString(), "--gpus");
    r.threads = usable_cores();
    return r;
}

QString name_of(const Scaling& s) { return s.request.weak ? QStringLiteral("weak scaling") : QStringLiteral("strong scaling"); }

Table scaling_table(const ScalingFindings& f) {
    if (f.kinds.empty()) return {};
    const Scenario& job = f.kinds.front().request.search.job;
    const bool has_price =
        std::ranges::any_of(f.kinds.front().points, [](const ScalingPoint& p) { return p.best && p.best->cost_per_sample; });
    Table t{{QStringLiteral("scaling"), QStringLiteral("devices"), QStringLiteral("batch"), QStringLiteral("step"),
             q(job.workload.sample_word()) + QStringLiteral("s/s"), QStringLiteral("efficiency"), QStringLiteral("memory")},
            {},
            {1, 2, 3, 4, 5, 6}};
    if (has_price) t.figures.insert(static_cast<int>(t.headings.size())), t.headings += q(price_unit(job));
    t.headings += {QStringLiteral("longest wait"), QStringLiteral("best plan")};
    for (const Scaling& s : f.kinds)
        for (const ScalingPoint& p : s.points) {
            std::vector<QVariant> row{s.request.weak ? QStringLiteral("weak") : QStringLiteral("strong"), p.devices,
                                      static_cast<qlonglong>(p.global_batch)};
            const auto add = [&](const QString& cell) { row.emplace_back(cell); };
            if (p.best) {
                add(quantity(p.best->step));
                add(number(p.best->samples_per_s.si()));
                add(percent(p.efficiency, 2));
                add(quantity(p.best->memory));
                if (has_price) add(q(price_text(job, *p.best->cost_per_sample)));
                add(q(longest_wait(p.report->estimate)));
                add(q(plan_line(p.best->plan)));
            } else {
                row.resize(static_cast<std::size_t>(t.headings.size()) - 1, QStringLiteral("-"));
                add(QStringLiteral("no plan: ") + q(why_no_plan(p)));
            }
            t.rows.push_back(std::move(row));
        }
    return t;
}

const ScalingPoint& scaling_point(const ScalingFindings& f, std::size_t row) {
    const std::size_t first = f.kinds.front().points.size();
    return row < first ? f.kinds.front().points[row] : f.kinds.back().points[row - first];
}

}  // namespace sextant::gui
