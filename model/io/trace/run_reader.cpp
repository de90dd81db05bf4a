#include "model/io/trace/run_reader.hpp"

#include "model/io/format/json_reader.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/io/trace/span_columns.hpp"
#include "model/io/trace/trace_check.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace sextant {
namespace {

constexpr Bounds index_bounds{0, 1e9};
constexpr Bounds over_mean{1, 1e9};

std::string_view kind_of_words(Stream) { return "stream"; }
std::string_view kind_of_words(SpanKind) { return "kind of span"; }
constexpr int words_of(Stream) { return stream_count; }
constexpr int words_of(SpanKind) { return span_kind_count; }

// How a cell of a column is read, and what it should have been.
template <class T>
struct Cell;
template <int... Exponents>
struct Cell<Quantity<Exponents...>> {
    static std::string expected() { return "a number that is not negative"; }
    static bool read(const nlohmann::json& cell, Quantity<Exponents...>& out) {
        if (!cell.is_number()) return false;
        const auto si = cell.get<double>();
        out = Quantity<Exponents...>::from_si(si);
        return std::isfinite(si) && si >= 0;
    }
};
template <std::unsigned_integral T>
struct Cell<T> {
    static std::string expected() { return "a whole number from 0 to " + std::to_string(std::numeric_limits<T>::max()); }
    static bool read(const nlohmann::json& cell, T& out) {
        if (!cell.is_number_unsigned() || cell.get<std::uint64_t>() > std::numeric_limits<T>::max()) return false;
        out = cell.get<T>();
        return true;
    }
};
template <class T>
requires std::is_enum_v<T>
struct Cell<T> {
    static std::string expected() {
        std::string text = "a " + std::string(kind_of_words(T{})) + ":";
        for (int i = 0; i < words_of(T{}); ++i) text += (i > 0 ? ", " : " ") + std::string(to_text(static_cast<T>(i)));
        return text;
    }
    static bool read(const nlohmann::json& cell, T& out) {
        if (!cell.is_string()) return false;
        for (int i = 0; i < words_of(T{}); ++i) {
            out = static_cast<T>(i);
            if (to_text(out) == cell.get_ref<const std::string&>()) return true;
        }
        return false;
    }
};

// Reports the first wrong cell of each column, and how many more there are.
class SpanReader {
public:
    explicit SpanReader(std::vector<Span>& spans) : spans_(spans) {}

    // False after complaining: the spans are then of no use.
    bool read(const JsonNode& node) {
        ObjectReader columns(node);
        if (!columns) return false;
        for_each_span_column([&](std::string_view name, auto field, std::string_view unit) {
            complete_ &= column(columns.need(json_key(name, unit)), field);
        });
        return complete_;
    }

private:
    template <class Field>
    bool column(const JsonNode& cells, Field Span::*field) {
        if (!cells.value) return false;
        if (!cells.is_array()) return refuse(cells, "expected a list: a column of the spans");
        const std::size_t size = cells.value->size();
        if (!rows_) {
            rows_ = size;
            spans_.resize(size);
        }
        if (size != *rows_)
            return refuse(cells, "it has " + std::to_string(size) + " rows, the columns before it " + std::to_string(*rows_));
        std::size_t broken = 0, first = 0;
        for (std::size_t i = 0; i < size; ++i)
            if (!Cell<Field>::read((*cells.value)[i], spans_[i].*field) && broken++ == 0) first = i;
        if (broken == 0) return true;
        JsonNode cell = cells;
        cell.pointer += "/" + std::to_string(first);
        return refuse(cell, "expected " + Cell<Field>::expected() + (broken > 1 ? "; so " + std::to_string(broken - 1) + " more" : ""));
    }
    static bool refuse(const JsonNode& node, std::string what) {
        node.complain(std::move(what));
        return false;
    }

    std::vector<Span>& spans_;
    std::optional<std::size_t> rows_;
    bool complete_ = true;
};

// JSON has no word for a number that is none, as a loss is that diverged: it stands there as null.
void read_numbers(ObjectReader& r, std::string_view key, std::vector<double>& out) {
    r.each(key, [&](const JsonNode& n) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (!n.value->is_null()) read_value(n, value);
        out.push_back(value);
    });
}

class RunReader {
public:
    RunReader(const JsonFile& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

    RunRecord read() {
        ObjectReader r(file_.root());
        if (!r.schema(run_schema)) return r.ignore_others(), std::move(run_);
        r.required("scenario", run_.scenario);
        r.required("scenario_file", run_.scenario_file);
        r.required("overrides", run_.overrides);
        if (const JsonNode n = r.get("settings"); n.value) read_settings(n);
        r.required("backend", run_.backend);
        read_seed(r.need("seed"));
        if (const JsonNode n = r.need("environment"); n.value) read_environment(n);
        r.need("losses");
        read_numbers(r, "losses", run_.losses);
        read_steps(r);
        read_numbers(r, "mtp_losses", run_.mtp_losses);
        check_count(r, "mtp_losses", run_.mtp_losses);
        read_by_step(r, "expert_imbalance", run_.expert_imbalance);
        read_by_step(r, "expert_rank_imbalance", run_.expert_rank_imbalance);
        r.each("parameters", [&](const JsonNode& n) { read_parameter(n); });
        r.each("operators", [&](const JsonNode& n) { read_operator(n); });
        if (const JsonNode n = r.get("servers"); n.value) read_servers(n);
        if (const JsonNode n = r.get("dataset"); n.value) read_dataset(n);
        if (const JsonNode n = r.get("loss_scale"); n.value) read_loss_scale(n);
        if (const JsonNode n = r.need("trace"); n.value) read_trace(n);
        check_together(r);
        return std::move(run_);
    }

private:
    // The load of the busiest over the mean, step by step.
    void read_by_step(ObjectReader& r, const char* key, std::vector<double>& values) {
        r.each(key, [&](const JsonNode& n) { read_value(n, values.emplace_back(), over_mean); });
        check_count(r, key, values);
    }
    void check_count(ObjectReader& r, const char* key, const std::vector<double>& values) const {
        if (!values.empty() && values.size() != run_.steps.size())
            r.get(key).complain("there are " + std::to_string(values.size()) + " for " + std::to_string(run_.steps.size()) + " steps");
    }
    void read_seed(const JsonNode& n) {
        if (n.value && !n.value->is_number_unsigned()) return n.complain("expected a whole number that is not negative");
        if (n.value) run_.seed = n.value->get<std::uint64_t>();
    }

    void read_settings(const JsonNode& node) {
        if (!node.is_object()) return node.complain("expected an object: what the job was set to, by JSON pointer");
        for (const auto& [name, n] : node.members()) read_value(n, run_.settings[name]);
    }

    void read_environment(const JsonNode& node) {
        ObjectReader r(node);
        const JsonNode libraries = r.need("libraries");
        if (libraries.value && !libraries.is_object()) libraries.complain("expected an object: versions by the name of the library");
        for (const auto& [name, n] : libraries.members()) {
            LibraryVersion& library = run_.libraries.emplace_back(LibraryVersion{name, {}});
            read_value(n, library.version);
        }
        r.need("ranks");
        r.each("ranks", [&](const JsonNode& n) { read_rank_environment(n); });
    }
    void read_rank_environment(const JsonNode& node) {
        ObjectReader r(node);
        RankEnvironment& e = run_.ranks.emplace_back();
        if (r.required("rank", e.rank, index_bounds) && e.rank != static_cast<int>(run_.ranks.size()) - 1)
            r.get("rank").complain("the ranks are listed in their order, from 0");
        r.required("host", e.host);
        r.required("processor", e.processor);
        r.required("threads", e.threads);
        r.required("peak_memory_bytes", e.peak_memory, InSi{});
        r.required("peak_resident_bytes", e.peak_resident, InSi{});
        r.optional("offloaded_bytes", e.offloaded, InSi{positive});
        r.optional("clock_hz", e.clock, InSi{positive});
    }

    void read_steps(ObjectReader& r) {
        const JsonNode steps = r.need("step_times_s");
        r.each("step_times_s", [&](const JsonNode& n) { read_value(n, run_.steps.emplace_back(), InSi{positive}); });
        if (steps.is_array() && run_.steps.empty()) steps.complain("there is no step");
        if (!run_.losses.empty() && run_.losses.size() != run_.steps.size())
            r.get("losses").complain("there are " + std::to_string(run_.losses.size()) + " losses of " + std::to_string(run_.steps.size()) +
                                     " steps");
        if (r.required("traced_step", run_.traced_step, index_bounds) && !run_.steps.empty() &&
            static_cast<std::size_t>(run_.traced_step) >= run_.steps.size())
            r.get("traced_step").complain("there are " + std::to_string(run_.steps.size()) + " steps, counted from 0");
    }

    void read_parameter(const JsonNode& node) {
        ObjectReader r(node);
        ParameterSummary& p = run_.parameters.emplace_back();
        r.required("block", p.block, index_bounds);
        r.required("name", p.name);
        r.required("elements", p.elements, not_negative);
        for (const auto& [key, sum] : {std::pair{"norm", &p.norm}, std::pair{"product", &p.product}})
            if (!r.optional(key, *sum)) *sum = std::numeric_limits<double>::quiet_NaN();
    }

    void read_operator(const JsonNode& node) {
        ObjectReader r(node);
        OperatorTime& o = run_.operators.emplace_back();
        r.required("block_template", o.block_template, index_bounds);
        r.optional("operator_index", o.operator_index, index_bounds);
        r.required("block", o.block);
        r.required("name", o.name);
        if (const JsonNode kind = r.need("kind"); kind.value && !Cell<SpanKind>::read(*kind.value, o.kind))
            kind.complain("expected " + Cell<SpanKind>::expected());
        r.required("calls", o.calls, not_negative);
        r.required("time_s", o.time, InSi{});
    }

    void read_servers(const JsonNode& node) {
        ObjectReader r(node);
        ServerSummary& servers = run_.servers.emplace();
        r.required("updates_pushed", servers.updates_pushed, not_negative);
        r.required("updates_applied", servers.updates_applied, not_negative);
        r.required("checksum_pushed", servers.checksum_pushed, not_negative);
        r.required("checksum_applied", servers.checksum_applied, not_negative);
        r.need("staleness");
        r.each("staleness", [&](const JsonNode& n) { read_value(n, servers.staleness.emplace_back(), index_bounds); });
    }

    void read_loss_scale(const JsonNode& node) {
        ObjectReader r(node);
        LossScaleSummary& scale = run_.loss_scale.emplace();
        r.required("last", scale.last, not_negative);
        r.required("skipped_steps", scale.skipped, index_bounds);
    }

    void read_dataset(const JsonNode& node) {
        ObjectReader r(node);
        DatasetSummary& d = run_.dataset.emplace();
        r.required("path", d.path);
        r.required("format", d.format);
        r.required("samples", d.samples, not_negative);
        r.required("workers", d.workers, index_bounds);
        r.required("loaded", d.loaded, not_negative);
        r.required("skipped", d.skipped, not_negative);
        r.required("reading_s", d.reading, InSi{});
        r.required("decoding_s", d.decoding, InSi{});
        r.required("read_bytes", d.read, InSi{});
        if (const JsonNode n = r.get("staging"); n.value) {
            ObjectReader staging(n);
            staging.required("copy_s", d.copy, InSi{});
            staging.required("unpack_s", d.unpack, InSi{});
            staging.required("remove_s", d.remove, InSi{});
        }
    }

    void read_trace(const JsonNode& node) {
        ObjectReader r(node);
        Trace& trace = run_.trace;
        const std::size_t before = diagnostics_.list().size();
        r.required("end_s", trace.end, InSi{});
        r.need("ranks");
        r.each("ranks", [&](const JsonNode& n) {
            ObjectReader rank(n);
            TraceRank& to = trace.ranks.emplace_back();
            rank.required("rank", to.rank, index_bounds);
            rank.required("stage", to.stage, index_bounds);
            rank.required("multiplicity", to.multiplicity);
            rank.required("server", to.server);
            rank.required("host", to.host);
        });
        r.required("names", trace.names);
        const JsonNode spans = r.need("spans");
        const bool complete = spans.value && SpanReader(trace.spans).read(spans);
        if (complete && diagnostics_.list().size() == before) check_trace(trace, file_.name(), diagnostics_, pointer_in_run);
    }
    static std::string pointer_in_run(std::string_view column) {
        const bool time = column == "/spans/start" || column == "/spans/end";
        return "/trace" + std::string(column) + (time ? "_s" : "");
    }

    // What stands in two places must agree.
    void check_together(ObjectReader& r) {
        double step = 0;
        constexpr double rounding = 1e-9;
        const bool several = r.optional("steps_in_trace", run_.steps_in_trace, Bounds{1, 1e6});
        if (r.required("step_time_s", step, positive) && run_.trace.end > Seconds{} && std::fabs(step - run_.step().si()) > rounding * step)
            r.get("step_time_s")
                .complain("it is not the end of the trace" + std::string(several ? " by its steps" : "") + ", " +
                          number_text(run_.step().si(), 9));
        if (run_.ranks.size() != run_.trace.ranks.size() && r.has("environment") && r.has("trace"))
            r.get("environment")
                .child("ranks")
                .complain("there are " + std::to_string(run_.ranks.size()) + " ranks, and " + std::to_string(run_.trace.ranks.size()) +
                          " in the trace");
        if (const JsonNode ranks = r.get("trace").child("ranks"); ranks.is_array() && run_.trace.ranks.empty())
            ranks.complain("there is no rank");
    }

    const JsonFile& file_;
    Diagnostics& diagnostics_;
    RunRecord run_;
};

RunRecord read_run(const JsonFile& file, Diagnostics& diagnostics) {
    RunRecord run;
    if (diagnostics.empty()) run = RunReader(file, diagnostics).read();
    std::vector<Diagnostic> problems = diagnostics.list();
    if (problems.empty()) return run;
    if (problems.back().hint.empty()) problems.back().hint = "a run's file is as sextant run left it, whole and not edited: run again";
    throw InputError(std::move(problems));
}

}  // namespace

RunRecord load_run(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    return read_run(JsonFile::load(path, diagnostics), diagnostics);
}

RunRecord run_from_text(std::string_view text, const std::string& name) {
    Diagnostics diagnostics;
    return read_run(JsonFile::from_text(text, name, diagnostics), diagnostics);
}

}  // namespace sextant
