#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/comparison_cells.hpp"
#include "model/io/report/comparison_writer.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant {
namespace {

constexpr std::size_t most_ranks = 16, most_operators = 12;
constexpr double worth_a_line = 0.02;  // of a difference in memory, relative

std::string rank_text(const RankComparison& r) {
    return r.server ? "server " + std::to_string(r.rank) : "rank " + std::to_string(r.rank) + ", stage " + std::to_string(r.stage);
}

// "712→631 ms": both in the unit of the larger.
template <int... Exponents>
std::string then(Quantity<Exponents...> simulated, Quantity<Exponents...> measured) {
    const auto larger = max(simulated, measured);
    if (larger.si() <= 0) return "";
    const std::string text = to_text(larger), unit = text.substr(text.find(' ') + 1);
    const auto& units = unit_table<Quantity<Exponents...>>().accepted;
    const double si = std::ranges::find(units, unit, &UnitName::name)->si;
    const auto in_unit = [&](double value) { return value > 0 ? number_text(value / si) : "0"; };
    return in_unit(simulated.si()) + "→" + in_unit(measured.si()) + " " + unit;
}

std::string run_text(const Comparison& c) {
    std::set<std::string> hosts, processors;
    for (const RankComparison& r : c.ranks) hosts.insert(r.host), processors.insert(r.processor);
    const std::size_t ranks = c.ranks.size();
    TextTable table;
    table.row({"run", counted(c.steps.count, "step") + " on " + counted(ranks, "rank") + ", " +
                          (hosts.size() == 1 ? "host " + *hosts.begin() : std::to_string(hosts.size()) + " hosts") +
                          (processors.size() == 1 ? ", " + *processors.begin() : "")});
    table.row({"plan", c.prediction.plan});
    if (c.steps.first)
        table.row(
            {"steps", to_text(c.steps.fastest) + " to " + to_text(c.steps.slowest) + ", the first, a warm-up, " + to_text(*c.steps.first)});
    table.row({"80 % interval", interval_text(c.prediction, c.step.measured)});
    const auto loss = [](double value) { return std::isfinite(value) ? number_text(value, 4) : std::string("no number, it diverged"); };
    if (c.first_loss) table.row({"loss", loss(*c.first_loss) + " → " + loss(*c.last_loss)});
    return table.text();
}

std::string step_text(const Comparison& c) {
    TextTable table("  ", Align::right);
    table.row({"", "predicted", "simulated", "measured", "ratio", ""});
    table.row({"step time", to_text(c.step.predicted), to_text(c.step.simulated), to_text(c.step.measured),
               ratio_text(ratio(c.step.measured.si(), c.step.predicted.si())), ""});
    const auto rates = [&](const std::string& name, const ComparedValue<Frequency>& rate) {
        table.row({name, grouped_digits(rate.predicted.si(), 3), grouped_digits(rate.simulated.si(), 3),
                   grouped_digits(rate.measured.si(), 3), ratio_text(ratio(rate.measured.si(), rate.predicted.si())), ""});
    };
    rates(c.prediction.sample_word + "s/s", c.samples_per_s);
    if (c.tokens_per_s) rates("tokens/s", *c.tokens_per_s);
    const auto percent = [](std::optional<double> share) {
        return share ? percent_text(*share < worth_telling ? 0 : *share) : std::string();
    };
    if (c.hidden.predicted || c.hidden.simulated || c.hidden.measured)
        table.row({"communication hidden", percent(c.hidden.predicted), percent(c.hidden.simulated), percent(c.hidden.measured), "", ""});
    if (std::max({c.bubble.predicted, c.bubble.simulated, c.bubble.measured}) > 0)
        table.row({"bubble", percent(c.bubble.predicted), percent(c.bubble.simulated), percent(c.bubble.measured), "", ""});
    if (c.input) {
        const auto phase = [&](const char* name, Seconds predicted, Seconds measured, const char* what) {
            if (!(measured > Seconds{}) && !(predicted > Seconds{})) return;
            table.row({name, or_nothing(predicted), "", or_nothing(measured), ratio_text(ratio(measured.si(), predicted.si())), what});
        };
        phase("reading", c.input->predicted_reading, c.input->reading, "of a sample by a worker");
        phase("decoding", c.input->predicted_decoding, c.input->decoding, "of a sample by a worker");
        phase("staging", c.input->predicted_staging, c.input->staging, "of all samples, once");
    }
    if (c.staleness)
        table.row({"staleness", "", number_text(c.staleness->simulated), number_text(c.staleness->measured), "", "updates by others"});
    return "\n" + table.text();
}

Seconds difference(const Comparison& c, Term t) { return c.terms.measured[t] - c.terms.predicted[t]; }

std::string last_of_its_stage(const Comparison& c) {
    if (c.ranks.size() == 1) return "";
    const bool one_stage = c.prediction.estimate.memory.size() == 1;
    return one_stage ? ", the last to finish" : ", the last of stage " + std::to_string(c.stage) + " to finish";
}

std::string terms_text(const Comparison& c) {
    Seconds full;
    for (const Term t : all_terms) {
        const Seconds off = difference(c, t);
        full = max(full, max(off, -off));
    }
    TextTable table("  ", Align::right);
    table.row({"", "predicted", "simulated", "measured", "ratio", bar_header(full)});
    const auto row = [&](const std::string& name, Seconds predicted, Seconds simulated, Seconds measured, const std::string& last) {
        table.row({name, or_nothing(predicted), or_nothing(simulated), or_nothing(measured),
                   ratio_text(ratio(measured.si(), predicted.si())), last});
    };
    for (const Term t : all_terms) {
        const Seconds predicted = c.terms.predicted[t], simulated = c.terms.simulated[t], measured = c.terms.measured[t];
        if (max(predicted, max(simulated, measured)) / c.step.measured < worth_telling) continue;
        row(words(to_text(t)), predicted, simulated, measured, difference_bar(difference(c, t), full));
    }
    row("sum", c.terms.predicted.total(), c.terms.simulated.total(), c.terms.measured.total(), "");
    for (const Term t : all_terms) {
        const ComparedValue<Seconds> hidden{c.overlapped.predicted[t], c.overlapped.simulated[t], c.overlapped.measured[t]};
        if (max(hidden.predicted, max(hidden.simulated, hidden.measured)) / c.step.measured < worth_telling_hidden) continue;
        row("hidden " + words(to_text(t)), hidden.predicted, hidden.simulated, hidden.measured, "");
    }
    return "\nWhere the time goes (on rank " + std::to_string(c.measured_rank) + last_of_its_stage(c) + ", in the step of median time)\n" +
           table.text();
}

// A column of what ranks spend their time on; of exchanges both what is exposed and what is hidden.
struct RankColumn {
    std::string name;
    Seconds (*of)(const RankTimes&);
};
template <Term T>
RankColumn exposed(std::string name) {
    return {std::move(name), [](const RankTimes& t) { return t.terms[T]; }};
}
template <Term T>
RankColumn hidden(std::string name) {
    return {std::move(name), [](const RankTimes& t) { return t.overlapped[T]; }};
}

// Those in which some rank has something.
std::vector<RankColumn> rank_columns(const std::vector<RankComparison>& ranks) {
    std::vector<RankColumn> all = {{"ends", [](const RankTimes& t) { return t.end; }},
                                   exposed<Term::forward>("forward"),
                                   exposed<Term::backward>("backward"),
                                   exposed<Term::recompute>("recompute"),
                                   exposed<Term::optimizer>("optimizer"),
                                   exposed<Term::tensor_communication>("tensor"),
                                   hidden<Term::tensor_communication>("(hidden)"),
                                   exposed<Term::context_communication>("context"),
                                   hidden<Term::context_communication>("(hidden)"),
                                   exposed<Term::expert_communication>("expert"),
                                   hidden<Term::expert_communication>("(hidden)"),
                                   exposed<Term::pipeline_communication>("pipeline"),
                                   hidden<Term::pipeline_communication>("(hidden)"),
                                   exposed<Term::data_communication>("data"),
                                   hidden<Term::data_communication>("(hidden)"),
                                   {"waits", [](const RankTimes& t) { return waiting_of(t.terms); }},
                                   {"host", [](const RankTimes& t) { return t.terms[Term::launch] + t.terms[Term::overhead]; }}};
    std::erase_if(all, [&](const RankColumn& c) {
        return std::ranges::none_of(ranks, [&](const RankComparison& r) { return max(c.of(r.simulated), c.of(r.measured)) > Seconds{}; });
    });
    return all;
}

std::vector<std::string> memory_cells(const RankComparison& r) {
    const RankMemoryUse &p = r.predicted_memory, &m = r.measured_memory;
    if (r.server) return {rank_text(r), to_text(m.arrays), "", to_text(m.process), ""};
    return {rank_text(r), then(p.arrays, m.arrays), ratio_text(ratio(m.arrays.si(), p.arrays.si())), then(p.process, m.process),
            ratio_text(ratio(m.process.si(), p.process.si()))};
}

std::string ranks_text(const Comparison& c) {
    const std::vector<RankColumn> columns = rank_columns(c.ranks);
    TextTable times, memory;
    std::vector<std::string> header{""};
    for (const RankColumn& column : columns) header.push_back(column.name);
    times.row(std::move(header));
    memory.row({"", "arrays", "ratio", "process", "ratio"});
    for (std::size_t i = 0; i < std::min(most_ranks, c.ranks.size()); ++i) {
        const RankComparison& r = c.ranks[i];
        std::vector<std::string> cells{rank_text(r)};
        for (const RankColumn& column : columns) cells.push_back(then(column.of(r.simulated), column.of(r.measured)));
        times.row(std::move(cells));
        memory.row(memory_cells(r));
    }
    if (c.ranks.size() > most_ranks) memory.row({"and " + std::to_string(c.ranks.size() - most_ranks) + " ranks more"});
    return "\nRank by rank (simulated→measured)\n" + times.text() + "\nPeak memory (predicted→measured)\n" + memory.text();
}

std::string rates_text(const Comparison& c) {
    TextTable table("  ", Align::right);
    table.row({"", "simulated", "measured", "ratio", ""});
    for (const KernelRate& k : c.kernels)
        table.row(
            {words(to_text(k.kind)), to_text(k.simulated), to_text(k.measured), ratio_text(ratio(k.measured.si(), k.simulated.si())), ""});
    for (const ExchangeRate& e : c.exchanges)
        table.row({words(to_text(e.kind)), to_text(e.simulated), to_text(e.measured), ratio_text(ratio(e.measured.si(), e.simulated.si())),
                   to_text(e.bytes) + " in all"});
    return c.kernels.empty() && c.exchanges.empty() ? "" : "\nRates, over all ranks\n" + table.text();
}

std::string operators_text(const Comparison& c) {
    if (c.operators.empty()) return "";
    const std::size_t shown = std::min(most_operators, c.operators.size());
    const Seconds first = c.operators.front().difference(), full = max(first, -first);
    TextTable table("  ", Align::right);
    table.row({"", "", "calls", "predicted", "measured", "ratio", bar_header(full)});
    Seconds predicted, measured;
    for (std::size_t i = 0; i < c.operators.size(); ++i) {
        const OperatorComparison& o = c.operators[i];
        predicted += o.calls * o.predicted;
        measured += o.calls * o.measured;
        if (i < shown)
            table.row({o.name + " of " + o.block, words(to_text(o.kind)), grouped_digits(o.calls, 3), or_nothing(o.predicted),
                       to_text(o.measured), ratio_text(ratio(o.measured.si(), o.predicted.si())), difference_bar(o.difference(), full)});
    }
    table.row({"all " + std::to_string(c.operators.size()), "", "", or_nothing(predicted), to_text(measured),
               ratio_text(ratio(measured.si(), predicted.si())), ""});
    return "\nOperators, largest difference first (time per call, calls per rank and step)\n" + table.text();
}

std::string input_text(const InputUsed& i) {
    return i.name + ": " + i.value + ", " + std::string(to_text(i.kind)) + (i.source.empty() ? "" : " (" + i.source + ")");
}

// "80.1 ms less than predicted"
template <int... Exponents>
std::string off_by(Quantity<Exponents...> difference) {
    return to_text(max(difference, -difference)) + (difference.si() < 0 ? " less" : " more") + " than predicted";
}

}  // namespace

std::vector<std::string> residual_lines(const Comparison& c) {
    const TermResidual& r = c.residual;
    std::vector<std::string> lines{off_by(r.seconds) + ", " + percent_text(r.share) + " of all differences between terms"};
    const bool is_input = r.input && r.input->name == r.points_to;
    lines.push_back("points to " + (is_input ? input_text(*r.input) : r.points_to));
    if (r.input && !is_input) lines.push_back("which rests on " + input_text(*r.input));
    if (r.input && (r.explained_at || is_input))
        lines.push_back(r.explained_at ? "at " + number_text(*r.explained_at) + " times this value the prediction would match"
                                       : "and no value of it alone would make the prediction match");
    if (const auto& m = c.memory_residual; m && max(m->bytes, -m->bytes) / m->predicted > worth_a_line)
        lines.push_back("memory of rank " + std::to_string(m->rank) + ": " + off_by(m->bytes) + "; points to " +
                        (m->input ? input_text(*m->input) : m->points_to));
    for (const std::string& note : c.notes) lines.push_back("note: " + note);
    return lines;
}

std::string comparison_to_text(const Comparison& c) {
    std::string residual = "\nLargest difference between prediction and measurement: " + words(to_text(c.residual.term)) + "\n";
    for (const std::string& line : residual_lines(c)) residual += "  " + line + "\n";
    return c.prediction.scenario + ": predicted and measured\n" + run_text(c) + step_text(c) + terms_text(c) + ranks_text(c) +
           rates_text(c) + operators_text(c) + residual;
}

}  // namespace sextant
