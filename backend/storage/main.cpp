// sextant-data: makes, converts and measures datasets. On stdout it says how far it is ("sample 3 of 10"), then what came of it.
#include "backend/storage/data_arguments.hpp"
#include "backend/storage/loader.hpp"
#include "backend/storage/probe_samples.hpp"
#include "backend/storage/probe_storage.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/failure.hpp"
#include "model/base/overloaded.hpp"
#include "model/io/calibration/fio_reader.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/profile/profile_writer.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace {

using namespace sextant;

volatile std::sig_atomic_t signal_that_came = 0;  // a signal handler knows nothing else

struct Interrupted {};

// Prints "WORD 3 of 10" once for each percent. A signal ends the work between two calls, so that what is half done is cleared away.
class ProgressPrinter {
public:
    explicit ProgressPrinter(const char* word) : word_(word) {}
    void operator()(std::int64_t done, std::int64_t of) {
        if (signal_that_came != 0) throw Interrupted{};
        const std::int64_t percent = done * 100 / of;
        if (percent == printed_) return;
        printed_ = percent;
        std::cout << word_ << " " << done << " of " << of << std::endl;
    }

private:
    const char* word_;
    std::int64_t printed_ = -1;
};

void tell(const Written& written, const std::filesystem::path& out) {
    std::cout << written.samples << " samples written to " << out.string() << '\n';
    if (written.skipped.empty()) return;
    std::cout << written.skipped.size() << " skipped:\n";
    for (const std::string& why : written.skipped) std::cout << "  " << why << '\n';
}

StorageProbe probed(const std::filesystem::path& of) {
    if (std::filesystem::is_directory(of)) return probe_storage({of}, ProgressPrinter("pass"));
    Diagnostics diagnostics;
    StorageProbe probe;
    if (const auto text = read_text_file(of, diagnostics)) probe = read_fio(*text, of.string(), diagnostics);
    diagnostics.throw_if_any();
    return probe;
}

void probe(const ProbeTask& task) {
    const StorageProbe found = probed(task.of);
    const StorageClass fitted =
        fit_storage(found, task.name.empty() ? found.where : task.name, task.source.empty() ? "measured" : task.source);
    replace_text_file(task.out, storage_to_profile(fitted));
    std::cout << profile_to_text(fitted);
    for (const std::string& note : found.notes) std::cout << "note: " << note << '\n';
}

void speeds(const SpeedsTask& task) {
    const SampleSpeeds found = probe_samples(task.in, task.source.empty() ? "measured" : task.source, ProgressPrinter("pass"));
    replace_text_file(task.out, speeds_to_profile(found));
}

void run(const DataArguments& arguments) {
    std::visit(Overloaded{[](const MakeSettings& s) { tell(make_dataset(s, ProgressPrinter("sample")), s.out); },
                          [](const ConvertSettings& s) { tell(convert_dataset(s, ProgressPrinter("sample")), s.out); },
                          [](const ProbeTask& t) { probe(t); }, [](const SpeedsTask& t) { speeds(t); },
                          [&](const BenchSettings& s) {
                              const BenchResult result = bench_dataset(s, ProgressPrinter("pass"));
                              std::cout << (arguments.json ? bench_to_json(result) : bench_to_text(result));
                          }},
               arguments.task);
}

ExitCode run_and_explain_failures(const std::vector<std::string>& words) {
    try {
        run(parse_data_arguments(words));
        return ExitCode::done;
    } catch (...) {
        const Failure failure = failure_of(std::current_exception());
        std::cerr << to_text(failure) << '\n';
        return failure.code;
    }
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is to be an error of its writer
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int which) { signal_that_came = which; });
    try {
        return static_cast<int>(run_and_explain_failures({argv + 1, argv + argc}));
    } catch (const Interrupted&) {
        std::signal(signal_that_came, SIG_DFL);
        std::raise(signal_that_came);
        std::abort();
    }
}
