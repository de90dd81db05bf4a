#include "model/base/quantity_text.hpp"
#include "model/io/format/chart.hpp"
#include "model/io/search/plan_answer_writer.hpp"
#include "model/io/search/plan_axis.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Those of the timelines: compute, exchanges, what is in the way.
constexpr svg::Colour front_colour{112, 168, 84}, best_colour{76, 130, 184}, own_colour{233, 159, 88}, limit_colour{192, 57, 43};

std::string tip_of(const Plan& plan, Seconds step, Bytes memory) {
    return plan_line(plan) + ": " + to_text(step) + " a step, " + to_text(memory);
}
std::string tip_of(const PlanChoice& c) { return tip_of(c.plan, c.step, c.memory); }

// What a process can use, as the plans' own estimates have it.
Bytes device_memory(const PlanAnswer& a) {
    if (!a.best.empty()) return a.best.front().report.estimate.device_memory;
    return a.own.estimate ? a.own.estimate->device_memory : a.request.job.cluster.node.device.memory.value;
}

class PlanPicture {
public:
    explicit PlanPicture(const PlanAnswer& answer) : a_(answer), memory_{device_memory(answer)} {
        for (const PlanChoice& c : a_.front) see(c.memory, c.samples_per_s);
        for (const RankedPlan& r : a_.best) see(r.choice.memory, r.choice.samples_per_s);
        if (a_.own.estimate) see(a_.own.estimate->peak_memory, a_.own.samples_per_s());
        has_limit_ = memory_.shows_device(most_);
        if (has_limit_) most_ = max(most_, memory_.device);
    }

    [[nodiscard]] std::string draw() const {
        const Scenario& job = a_.request.job;
        const std::string note = a_.best.empty() ? "No plan fits." : "Plan 1: " + plan_line(a_.best.front().choice.plan);
        svg::Chart chart(job.name, note, memory_axis(),
                         {std::string(job.workload.sample_word()) + "s/s", 0, 1.15 * std::max(fastest_.si(), 1e-9)});
        add_front(chart);
        add_points(chart);
        chart.legend("best plans", best_colour);
        chart.legend("front of throughput, memory and cost", front_colour);
        if (a_.own.estimate) chart.legend("the scenario's own", own_colour);
        return chart.document();
    }

private:
    void see(Bytes memory, Frequency throughput) {
        most_ = max(most_, memory_.place_of(memory));
        fastest_ = max(fastest_, throughput);
        has_beyond_ = has_beyond_ || memory_.is_beyond(memory);
    }

    [[nodiscard]] svg::Axis memory_axis() const {
        const std::string unlimited = "peak memory in GB of a device that has " + to_text(memory_.device);
        svg::Axis axis{has_limit_ ? "peak memory of a device in GB" : unlimited, 0, 1.06 * (most_ / units::GB)};
        if (has_beyond_) axis.broken_at = memory_.broken_at() / units::GB;
        return axis;
    }

    [[nodiscard]] svg::ChartPoint place(Bytes memory, Frequency throughput) const {
        return {memory_.place_of(memory) / units::GB, throughput.si()};
    }
    [[nodiscard]] svg::ChartPoint place(const PlanChoice& c) const { return place(c.memory, c.samples_per_s); }

    void add_front(svg::Chart& chart) const {
        std::vector<svg::ChartPoint> steps;
        for (const PlanChoice& c : a_.front) {
            if (!steps.empty()) steps.push_back({steps.back().x, c.samples_per_s.si()});
            steps.push_back(place(c));
        }
        chart.line(std::move(steps), front_colour.towards_white(0.35));
        if (has_limit_) chart.mark_x(memory_.device / units::GB, limit_colour, "a device has " + to_text(memory_.device));
    }

    void add_points(svg::Chart& chart) const {
        if (!a_.best.empty()) chart.point(place(a_.best.front().choice), best_colour, 7, tip_of(a_.best.front().choice), "plan 1");
        if (const auto& e = a_.own.estimate)
            chart.point(place(e->peak_memory, a_.own.samples_per_s()), own_colour, 6, tip_of(a_.own.plan, e->step, e->peak_memory),
                        e->peak_memory > memory_.device ? "needs " + to_text(e->peak_memory) : "the scenario's own");
        for (std::size_t i = 1; i < a_.best.size(); ++i) chart.point(place(a_.best[i].choice), best_colour, 4.5, tip_of(a_.best[i].choice));
        for (const PlanChoice& c : a_.front) chart.point(place(c), front_colour, 4, tip_of(c));
    }

    const PlanAnswer& a_;
    PlanMemoryAxis memory_;
    Bytes most_;
    Frequency fastest_;
    bool has_limit_ = false, has_beyond_ = false;
};

}  // namespace

std::string plan_answer_svg(const PlanAnswer& a) { return PlanPicture(a).draw(); }

}  // namespace sextant
