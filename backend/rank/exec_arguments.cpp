#include "backend/rank/exec_arguments.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace sextant {
namespace {

constexpr auto usage =
    "mpirun -n N sextant-exec-cpu|cuda SCENARIO [--set PATH=VALUE]... [--profiles DIR] [--steps N] [--seed N] [--threads N] "
    "[--learning-rate X] [--clip-norm X] [--loss-scale X] [--hang-timeout SECONDS] [--data PATH] [--data-workers N] [--bad-samples "
    "fail|skip] "
    "[--stage DIR] [--stage-mode copy|untar] "
    "[--parameters] [--operators] [--check] [--here] [--out FILE]";

// An option and what stands behind it.
struct Option {
    const std::string &name, &value;

    template <class Number>
    [[nodiscard]] Number number(Number least) const {
        const auto found = parse_number<Number>(value);
        if (!found || *found < least) throw InputError(Diagnostic{name, "", "\"" + value + "\" is no number that it can be", usage});
        return *found;
    }
    // Of two words. `what`: what any other is not.
    [[nodiscard]] bool is_second(const std::string& first, const std::string& second, const std::string& what) const {
        if (value != first && value != second)
            throw InputError(Diagnostic{name, "", "\"" + value + "\" is no " + what, first + " or " + second});
        return value == second;
    }
};

using Arguments = ExecArguments;
struct OptionTaker {
    std::string_view name;
    void (*take)(const Option&, Arguments&);
};
constexpr OptionTaker options[] = {
    {"--set", [](const Option& o, Arguments& a) { a.overrides.push_back(o.value); }},
    {"--profiles", [](const Option& o, Arguments& a) { a.profiles = o.value; }},
    {"--steps", [](const Option& o, Arguments& a) { a.steps = o.number<int>(1); }},
    {"--seed", [](const Option& o, Arguments& a) { a.seed = o.number<std::uint64_t>(0); }},
    {"--threads", [](const Option& o, Arguments& a) { a.threads = o.number<int>(1); }},
    {"--learning-rate", [](const Option& o, Arguments& a) { a.training.learning_rate = o.number<double>(0); }},
    {"--clip-norm", [](const Option& o, Arguments& a) { a.training.clip_norm = o.number<double>(0); }},
    {"--loss-scale", [](const Option& o, Arguments& a) { a.training.loss_scale = o.number<double>(1); }},
    {"--hang-timeout", [](const Option& o, Arguments& a) { a.hang_timeout = o.number<double>(1) * units::s; }},
    {"--data", [](const Option& o, Arguments& a) { a.data = o.value; }},
    {"--data-workers", [](const Option& o, Arguments& a) { a.data_workers = o.number<int>(1); }},
    {"--bad-samples", [](const Option& o, Arguments& a) { a.skip_bad_samples = o.is_second("fail", "skip", "policy"); }},
    {"--stage", [](const Option& o, Arguments& a) { a.stage = o.value; }},
    {"--stage-mode", [](const Option& o, Arguments& a) { a.unpack = o.is_second("copy", "untar", "way to stage"); }},
    {"--out", [](const Option& o, Arguments& a) { a.out = o.value; }},
};

struct Flag {
    std::string_view name;
    bool Arguments::*is_given;
};
constexpr Flag flags[] = {
    {"--here", &Arguments::runs_here}, {"--parameters", &Arguments::parameters}, {"--operators", &Arguments::operators}};

// OpenMP takes a number for each level of nesting, "4,2". What is empty says nothing.
std::optional<int> threads_of_environment() {
    const std::string name = "OMP_NUM_THREADS";
    const char* stated = std::getenv(name.c_str());
    if (stated == nullptr || *stated == '\0') return std::nullopt;
    const std::string_view levels = stated;
    const std::string outermost(levels.substr(0, levels.find(',')));
    return Option{name, outermost}.number<int>(1);
}

}  // namespace

ExecArguments parse_exec_arguments(const std::vector<std::string>& words) {
    ExecArguments a;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto* option = std::ranges::find(options, word, &OptionTaker::name);
        const auto* flag = std::ranges::find(flags, word, &Flag::name);
        if (option != std::end(options)) {
            if (++i == words.size()) throw InputError(Diagnostic{word, "", "a value is missing behind it", usage});
            option->take({word, words[i]}, a);
        } else if (flag != std::end(flags)) {
            a.*flag->is_given = true;
        } else if (word.starts_with("-") || !a.scenario.empty()) {
            throw InputError(Diagnostic{word, "", "is no argument that it takes", usage});
        } else {
            a.scenario = word;
        }
    }
    if (a.scenario.empty()) throw InputError(Diagnostic{"", "", "no scenario is given", usage});
    if (!a.threads) a.threads = threads_of_environment();
    return a;
}

}  // namespace sextant
