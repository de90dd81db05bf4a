#include "backend/storage/data_arguments.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"
#include "model/io/format/separate_files.hpp"

#include <functional>

namespace sextant {
namespace {

constexpr auto usage =
    "sextant-data make OUT [--samples N] [--size HxWxC] [--classes N] [--format F] [--encoding E] [--seed S] | "
    "convert IN OUT --format F [--encoding E] [--resize HxW] [--bad-samples fail|skip] | "
    "bench PATH [--workers 1,2] [--cold] [--warm] [--random] [--epochs N] [--write] [--resize HxW] [--seed S] [--bad-samples fail|skip] "
    "[--format text|json] | probe DIR|FIO.json --out PROFILE.json [--name NAME] [--source TEXT] | speeds FOLDER --out SPEEDS.json "
    "[--source TEXT]";

[[noreturn]] void refuse(const std::string& option, const std::string& what, const std::string& hint = usage) {
    throw InputError(Diagnostic{option, "", what, hint});
}

// The words, with what stands behind each option.
class Words {
public:
    explicit Words(const std::vector<std::string>& words) : words_(words) {}

    // Every word that is no value of another goes to `take`. Throws with all that is wrong with them.
    void each(const std::function<void(const std::string& word)>& take) {
        Diagnostics problems;
        while (next()) problems.collect([&] { take(word_); });
        problems.throw_if_any();
    }
    const std::string& value() {
        if (at_ == words_.size()) refuse(word_, "a value is missing behind it");
        return words_[at_++];
    }
    template <class Number>
    Number number(Number least) {
        return number_in<Number>(value(), least);
    }
    std::vector<int> numbers() {
        std::vector<int> list;
        std::string_view rest = value();
        for (;;) {
            const auto comma = rest.find(',');
            list.push_back(number_in<int>(rest.substr(0, comma), 1));
            if (comma == std::string_view::npos) return list;
            rest.remove_prefix(comma + 1);
        }
    }
    Extents extents() {
        const std::string& text = value();
        const std::optional<Extents> found = extents_in(text);
        if (!found) refuse(word_, "\"" + text + "\" is no size", "such as 224x224x3, or 4096 for sequences; at most 256 MiB");
        return *found;
    }
    ImageSize size() {
        const Extents found = extents();
        if (found.size() != 2) refuse(word_, "\"" + to_text(found) + "\" is no height and width", "such as 224x224");
        return {found[0], found[1]};
    }
    SampleEncoding encoding() {
        const std::string& text = value();
        const std::optional<SampleEncoding> found = encoding_named(text);
        if (!found) refuse(word_, "\"" + text + "\" is no encoding", "raw, png or jpeg");
        return *found;
    }
    const std::string& one_of(const char* a, const char* b) {
        const std::string& text = value();
        if (text != a && text != b) refuse(word_, "\"" + text + "\" is not what it takes", std::string(a) + " or " + b);
        return text;
    }
    BadSamples bad() { return one_of("fail", "skip") == "fail" ? BadSamples::fail : BadSamples::skip; }
    // A path, where none is expected any more a mistake.
    void path(std::initializer_list<std::filesystem::path*> paths) const {
        for (std::filesystem::path* p : paths)
            if (p->empty() && !word_.starts_with("-")) {
                *p = word_;
                return;
            }
        refuse(word_, "is no argument that it takes");
    }

private:
    bool next() {
        if (at_ == words_.size()) return false;
        word_ = words_[at_++];
        return true;
    }
    template <class Number>
    Number number_in(std::string_view text, Number least) const {
        const auto value = parse_number<Number>(text);
        if (!value || *value < least)
            refuse(word_, "\"" + std::string(text) + "\" is no number that it can be",
                   "a whole number, " + std::to_string(least) + " or more");
        return *value;
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 1;
    std::string word_;
};

MakeSettings make_settings(Words words) {
    MakeSettings s;
    words.each([&](const std::string& word) {
        if (word == "--samples")
            s.samples = words.number<std::int64_t>(1);
        else if (word == "--size")
            s.extents = words.extents();
        else if (word == "--classes")
            s.classes = words.number<std::int64_t>(1);
        else if (word == "--format")
            s.format = words.value();
        else if (word == "--encoding")
            s.encoding = words.encoding();
        else if (word == "--seed")
            s.seed = words.number<std::uint64_t>(0);
        else
            words.path({&s.out});
    });
    if (s.out.empty()) refuse("make", "it is not said what to write");
    if (s.extents.size() != 1 && s.extents.size() != 3)
        refuse("--size", to_text(s.extents) + " is neither an image nor a sequence", "such as 224x224x3, or 4096");
    return s;
}

ConvertSettings convert_settings(Words words) {
    ConvertSettings s;
    bool has_format = false;
    words.each([&](const std::string& word) {
        if (word == "--format") {
            s.format = words.value();
            has_format = true;
        } else if (word == "--encoding") {
            s.encoding = words.encoding();
        } else if (word == "--resize") {
            s.resize = words.size();
        } else if (word == "--bad-samples") {
            s.bad = words.bad();
        } else {
            words.path({&s.in, &s.out});
        }
    });
    if (s.out.empty()) refuse("convert", "it is not said what to read and what to write");
    if (place_of(s.in) == place_of(s.out)) refuse(s.out.string(), "is read, and would be written over", "another name");
    if (!has_format) refuse("convert", "it is not said which format to write", "--format");
    return s;
}

BenchSettings bench_settings(Words words, bool& json) {
    BenchSettings s;
    bool cold = false, warm = false;
    words.each([&](const std::string& word) {
        if (word == "--workers")
            s.workers = words.numbers();
        else if (word == "--cold")
            cold = true;
        else if (word == "--warm")
            warm = true;
        else if (word == "--random")
            s.in_order = false;
        else if (word == "--epochs")
            s.epochs = words.number<int>(1);
        else if (word == "--write")
            s.write = true;
        else if (word == "--resize")
            s.resize = words.size();
        else if (word == "--seed")
            s.seed = words.number<std::uint64_t>(0);
        else if (word == "--bad-samples")
            s.bad = words.bad();
        else if (word == "--format")
            json = words.one_of("text", "json") == "json";
        else
            words.path({&s.path});
    });
    if (s.path.empty()) refuse("bench", "it is not said what to read");
    s.cold = cold;
    s.warm = warm || !cold;
    return s;
}

ProbeTask probe_task(Words words) {
    ProbeTask t;
    words.each([&](const std::string& word) {
        if (word == "--out")
            t.out = words.value();
        else if (word == "--name")
            t.name = words.value();
        else if (word == "--source")
            t.source = words.value();
        else
            words.path({&t.of});
    });
    if (t.of.empty()) refuse("probe", "it is not said what to measure");
    if (t.out.empty()) refuse("probe", "it is not said where the profile goes", "--out");
    return t;
}

SpeedsTask speeds_task(Words words) {
    SpeedsTask t;
    words.each([&](const std::string& word) {
        if (word == "--out")
            t.out = words.value();
        else if (word == "--source")
            t.source = words.value();
        else
            words.path({&t.in});
    });
    if (t.in.empty()) refuse("speeds", "it is not said where files may lie");
    if (t.out.empty()) refuse("speeds", "it is not said where the speeds go", "--out");
    return t;
}

}  // namespace

DataArguments parse_data_arguments(const std::vector<std::string>& words) {
    DataArguments a;
    const std::string task = words.empty() ? "" : words.front();
    if (task == "make")
        a.task = make_settings(Words(words));
    else if (task == "convert")
        a.task = convert_settings(Words(words));
    else if (task == "bench")
        a.task = bench_settings(Words(words), a.json);
    else if (task == "probe")
        a.task = probe_task(Words(words));
    else if (task == "speeds")
        a.task = speeds_task(Words(words));
    else
        refuse("", "it is not said what to do");
    return a;
}

}  // namespace sextant
