#include "gui/models/plan_form.hpp"

#include "gui/models/text.hpp"
#include "model/io/format/number_list.hpp"
#include "model/io/profile/processor_info.hpp"
#include "model/io/scenario/pin_reader.hpp"

#include <QStringList>

namespace sextant::gui {
namespace {

// At commas, but for those inside brackets: "tp=8, placement=[\"tp\", \"dp\"]" are two.
std::vector<std::string> parts_of(const QString& text) {
    std::vector<std::string> parts;
    int depth = 0;
    QString part;
    for (const QChar c : text + QLatin1Char(',')) {
        depth += c == QLatin1Char('[') ? 1 : c == QLatin1Char(']') ? -1 : 0;
        if (c != QLatin1Char(',') || depth > 0) {
            part += c;
            continue;
        }
        if (const QString plain = part.trimmed(); !plain.isEmpty()) parts.push_back(plain.toStdString());
        part.clear();
    }
    if (const QString rest = part.trimmed(); !rest.isEmpty()) parts.push_back(rest.toStdString());  // a bracket that is not closed
    return parts;
}

std::string without_spaces(QString text) { return text.remove(QLatin1Char(' ')).toStdString(); }

}  // namespace

PlanForm plan_form(const Scenario& s) {
    QStringList pins;
    for (const std::string& pin : s.pinned) pins += q(pin);
    PlanForm form;
    form.devices = QString::number(s.plan.devices());
    form.pins = pins.join(QStringLiteral(", "));
    return form;
}

PlanForm followed(PlanForm form, const PlanForm& before, const PlanForm& now) {
    if (form.devices == before.devices && !form.counts_nodes) form.devices = now.devices;
    if (form.pins == before.pins) form.pins = now.pins;
    return form;
}

ReadPlanForm read_plan_form(const PlanForm& form, const Scenario& job) {
    PlanQuestion question{{}, job.plan, true};
    SearchRequest& r = question.search;
    r.job = job;
    r.objective = form.objective;
    r.top = form.top;
    r.threads = usable_cores();
    PlanFormProblems problems;
    const auto read = [&](PlanFormField field, const auto& what) {
        try {
            what();
        } catch (const InputError& e) {
            QStringList lines;
            for (const Diagnostic& d : e.diagnostics()) lines += capitalized(sentence(d));
            problems[field] = lines.join(QLatin1Char('\n'));
        }
    };
    read(PlanFormField::devices, [&] {
        const std::string numbers = without_spaces(form.devices);
        r.devices = form.counts_nodes ? numbers_in(numbers, "--nodes", 1) : numbers_in(numbers, "--gpus");
        if (form.counts_nodes)
            for (int& n : r.devices) n *= run_layout(job).ranks_per_node;
        if (r.devices != std::vector{job.plan.devices()}) r.job.reserved_devices = 0;
    });
    read(PlanFormField::batches, [&] {
        if (form.batches.trimmed().isEmpty()) return;
        for (const int n : numbers_in(without_spaces(form.batches), "--batch")) r.global_batches.push_back(n);
    });
    read(PlanFormField::pins, [&] {
        for (const std::string& pin : parts_of(form.pins)) r.pinned.insert(read_pin(pin, r.job.plan));
        follow_pins(r.job.plan, r.pinned, job.plan.devices());
    });
    read(PlanFormField::where, [&] {
        for (const std::string& condition : parts_of(form.where)) r.where.push_back(parse_condition(condition, "--where"));
        // Is it about what is known of a plan?
        const PlanChoice any = plan_choice(job, {}, {});
        for (const Condition& c : r.where) static_cast<void>(holds(c, named_quantities(any)));
    });
    if (!problems.empty()) return {std::nullopt, problems};
    return {std::move(question), {}};
}

}  // namespace sextant::gui
