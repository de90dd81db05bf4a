#include "gui/models/scaling_findings.hpp"

#include "gui/models/text.hpp"
#include "model/io/number_list.hpp"
#include "model/io/pin_reader.hpp"
#include "model/io/plan_columns.hpp"
#include "model/io/scaling_writer.hpp"

#include <thread>

namespace sextant::gui {

ScalingForm scaling_form(const Scenario& job) {
    const std::vector<int> sizes = usual_sizes(job);
    if (sizes.empty()) return {QString::number(job.plan.devices())};
    return {sizes.size() == 1 ? QString::number(sizes.front()) : QStringLiteral("%1..%2").arg(sizes.front()).arg(sizes.back())};
}

SearchRequest scaling_request(const ScalingForm& form, const Scenario& job) {
    SearchRequest r;
    r.job = job;
    r.job.reserved_devices = 0;
    r.pinned = pinned_fields(job);
    r.devices = numbers_in(QString(form.sizes).remove(QLatin1Char(' ')).toStdString(), "--gpus");
    r.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return r;
}

QString name_of(const Scaling& s) { return s.request.weak ? QStringLiteral("weak scaling") : QStringLiteral("strong scaling"); }

Table scaling_table(const ScalingFindings& f) {
    if (f.kinds.empty()) return {};
    const Scenario& job = f.kinds.front().request.search.job;
    Table t{{QStringLiteral("scaling"), QStringLiteral("devices"), QStringLiteral("batch"), QStringLiteral("step"),
             q(job.workload.sample_word()) + QStringLiteral("s/s"), QStringLiteral("efficiency"), QStringLiteral("memory"),
             q(price_unit(job)), QStringLiteral("held back by"), QStringLiteral("longest wait"), QStringLiteral("best plan")},
            {},
            {1, 2, 3, 4, 5, 6, 7}};
    for (const Scaling& s : f.kinds)
        for (const ScalingPoint& p : s.points) {
            std::vector<QVariant> row{s.request.weak ? QStringLiteral("weak") : QStringLiteral("strong"), p.devices,
                                      static_cast<qlonglong>(p.global_batch)};
            if (p.best) {
                for (const QString& cell :
                     {quantity(p.best->step), number(p.best->samples_per_s.si()), percent(p.efficiency, 2), quantity(p.best->memory),
                      p.best->cost_per_sample ? q(price_text(job, *p.best->cost_per_sample)) : QStringLiteral("-"),
                      words_of(p.report->bottleneck.kind), q(longest_wait(p.report->estimate)), q(plan_line(p.best->plan))})
                    row.emplace_back(cell);
            } else {
                row.resize(static_cast<std::size_t>(t.headings.size()) - 1, QStringLiteral("-"));
                row.emplace_back(QStringLiteral("no plan fits, or can be"));
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
