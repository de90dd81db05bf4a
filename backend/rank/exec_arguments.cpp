#include "backend/rank/exec_arguments.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"

#include <cstdlib>

namespace sextant {
namespace {

constexpr auto usage =
    "mpirun -n N sextant-exec-cpu|cuda SCENARIO [--set PATH=VALUE]... [--profiles DIR] [--steps N] [--seed N] [--threads N] "
    "[--learning-rate X] [--clip-norm X] [--loss-scale X] [--hang-timeout SECONDS] [--data PATH] [--data-workers N] [--bad-samples "
    "fail|skip] "
    "[--stage DIR] [--stage-mode copy|untar] "
    "[--parameters] [--operators] [--check] [--here] [--out FILE]";

template <class Number>
Number number_in(const std::string& option, const std::string& text, Number least) {
    const auto value = parse_number<Number>(text);
    if (!value || *value < least) throw InputError(Diagnostic{option, "", "\"" + text + "\" is no number that it can be", usage});
    return *value;
}

bool is_skip(const std::string& option, const std::string& text) {
    if (text != "fail" && text != "skip") throw InputError(Diagnostic{option, "", "\"" + text + "\" is no policy", "fail or skip"});
    return text == "skip";
}

bool is_untar(const std::string& option, const std::string& text) {
    if (text != "copy" && text != "untar") throw InputError(Diagnostic{option, "", "\"" + text + "\" is no way to stage", "copy or untar"});
    return text == "untar";
}

}  // namespace

ExecArguments parse_exec_arguments(const std::vector<std::string>& words) {
    ExecArguments a;
    if (const char* threads = std::getenv("OMP_NUM_THREADS")) a.threads = number_in<int>("OMP_NUM_THREADS", threads, 1);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto value = [&]() -> const std::string& {
            if (i + 1 == words.size()) throw InputError(Diagnostic{word, "", "a value is missing behind it", usage});
            return words[++i];
        };
        if (word == "--set")
            a.overrides.push_back(value());
        else if (word == "--profiles")
            a.profiles = value();
        else if (word == "--steps")
            a.steps = number_in<int>(word, value(), 1);
        else if (word == "--seed")
            a.seed = number_in<std::uint64_t>(word, value(), 0);
        else if (word == "--threads")
            a.threads = number_in<int>(word, value(), 1);
        else if (word == "--learning-rate")
            a.training.learning_rate = number_in<double>(word, value(), 0);
        else if (word == "--clip-norm")
            a.training.clip_norm = number_in<double>(word, value(), 0);
        else if (word == "--loss-scale")
            a.training.loss_scale = number_in<double>(word, value(), 1);
        else if (word == "--hang-timeout")
            a.hang_timeout = number_in<double>(word, value(), 1) * units::s;
        else if (word == "--data")
            a.data = value();
        else if (word == "--data-workers")
            a.data_workers = number_in<int>(word, value(), 1);
        else if (word == "--bad-samples")
            a.skip_bad_samples = is_skip(word, value());
        else if (word == "--stage")
            a.stage = value();
        else if (word == "--stage-mode")
            a.unpack = is_untar(word, value());
        else if (word == "--here")
            a.runs_here = true;
        else if (word == "--parameters")
            a.parameters = true;
        else if (word == "--operators")
            a.operators = true;
        else if (word == "--out")
            a.out = value();
        else if (word.starts_with("-") || !a.scenario.empty())
            throw InputError(Diagnostic{word, "", "is no argument that it takes", usage});
        else
            a.scenario = word;
    }
    if (a.scenario.empty()) throw InputError(Diagnostic{"", "", "no scenario is given", usage});
    return a;
}

}  // namespace sextant
