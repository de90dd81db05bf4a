#include "model/base/quantity_text.hpp"
#include "model/io/format/chart.hpp"
#include "model/io/search/plan_answer_writer.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Those of the timelines: compute, exchanges, what is in the way.
constexpr svg::Colour front_colour{112, 168, 84}, best_colour{76, 130, 184}, own_colour{233, 159, 88}, limit_colour{192, 57, 43};

svg::ChartPoint place(Bytes memory, Frequency throughput) { return {memory / units::GB, throughput.si()}; }

std::string tip_of(const PlanChoice& c) { return plan_line(c.plan) + ": " + to_text(c.step) + " a step, " + to_text(c.memory); }

}  // namespace

std::string plan_answer_svg(const PlanAnswer& a) {
    const Scenario& job = a.request.job;
    const std::string samples = std::string(job.workload.sample_word()) + "s/s";
    const Bytes limit = job.cluster.node.device.memory.value;
    // An own plan that is too large by far is drawn at the edge.
    const Bytes edge = 1.3 * limit;
    Bytes most = limit;
    Frequency fastest;
    const auto see = [&](Bytes memory, Frequency throughput) { most = max(most, memory), fastest = max(fastest, throughput); };
    for (const PlanChoice& c : a.front) see(c.memory, c.samples_per_s);
    for (const RankedPlan& r : a.best) see(r.choice.memory, r.choice.samples_per_s);
    if (a.own.estimate) see(min(a.own.estimate->peak_memory, edge), a.own.samples_per_s());

    const std::string note = a.best.empty() ? "No plan fits." : "Plan 1: " + plan_line(a.best.front().choice.plan);
    svg::Chart chart(job.name, note, {"peak memory of a device in GB", 0, 1.04 * (most / units::GB)},
                     {samples, 0, 1.08 * std::max(fastest.si(), 1e-9)});
    std::vector<svg::ChartPoint> steps;
    for (const PlanChoice& c : a.front) {
        if (!steps.empty()) steps.push_back({steps.back().x, c.samples_per_s.si()});
        steps.push_back(place(c.memory, c.samples_per_s));
    }
    chart.line(steps, front_colour.towards_white(0.35));
    chart.mark_x(limit / units::GB, limit_colour, "a device has " + to_text(limit));
    for (const PlanChoice& c : a.front) chart.point(place(c.memory, c.samples_per_s), front_colour, 4, tip_of(c));
    for (std::size_t i = a.best.size(); i-- > 0;) {
        const PlanChoice& c = a.best[i].choice;
        chart.point(place(c.memory, c.samples_per_s), best_colour, i == 0 ? 7 : 4.5, tip_of(c), i == 0 ? "plan 1" : "");
    }
    if (a.own.estimate)
        chart.point(place(min(a.own.estimate->peak_memory, edge), a.own.samples_per_s()), own_colour, 6,
                    plan_line(a.own.plan) + ": " + to_text(a.own.estimate->step) + " a step, " + to_text(a.own.estimate->peak_memory),
                    a.own.fits() ? "the scenario's own" : "the scenario's own, does not fit");
    chart.legend("front of throughput, memory and cost", front_colour);
    chart.legend("best plans", best_colour);
    chart.legend("the scenario's own", own_colour);
    return chart.document();
}

}  // namespace sextant
