#include "model/base/diagnostics.hpp"
#include "model/io/format/hdf5_handle.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/trace/trace_check.hpp"
#include "model/io/trace/trace_columns.hpp"
#include "model/io/trace/trace_hdf5.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace sextant {
namespace {

// zlib makes at best one byte out of 1,032: a file that promises more rows than that lies, and is not given the memory.
constexpr double best_compression = 1032;
constexpr std::size_t longest_string = 4096;

// What is broken is reported and leaves its column empty; the counts that then do not match are reported once for each column.
class TraceReader {
public:
    TraceReader(hid_t file, double file_bytes, std::string name, Diagnostics& diagnostics)
        : file_(file), file_bytes_(file_bytes), name_(std::move(name)), diagnostics_(diagnostics) {}

    // Complete only if nothing was reported.
    Trace read() {
        Trace trace;
        if (!is_trace()) return trace;
        trace.end = Seconds::from_si(number_attribute("end_s"));
        trace.names = strings("/names", {});
        for_each_rank_column([&](const char* name, auto field, const char*) { column("/ranks/", name, trace.ranks, field); });
        const std::vector<std::string> hosts = strings("/ranks/host", trace.ranks.size());
        for (std::size_t r = 0; r < hosts.size(); ++r) trace.ranks[r].host = hosts[r];
        for_each_span_column([&](const char* name, auto field, const char*) { column("/spans/", name, trace.spans, field); });
        return trace;
    }

private:
    void complain(const std::string& where, std::string what, std::string hint = {}) {
        diagnostics_.add({name_, where, std::move(what), std::move(hint)});
    }

    bool is_trace() {
        const Hdf5Handle attribute(H5Aopen(file_, "schema", H5P_DEFAULT), H5Aclose);
        const Hdf5Handle type(attribute ? H5Aget_type(attribute.id()) : H5I_INVALID_HID, H5Tclose);
        std::array<char, 64> text{};
        const bool readable = type && H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0 &&
                              H5Tget_size(type.id()) < text.size() && is_scalar(attribute) &&
                              H5Aread(attribute.id(), type.id(), text.data()) >= 0;
        if (readable && text.data() == trace_schema) return true;
        complain("", readable ? "its schema is \"" + std::string(text.data()) + "\"" : std::string("it has no attribute \"schema\""),
                 "a trace has the schema \"" + std::string(trace_schema) + "\"");
        return false;
    }

    static bool is_scalar(const Hdf5Handle& attribute) {
        const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
        return space && H5Sget_simple_extent_npoints(space.id()) == 1;
    }

    double number_attribute(const char* attribute_name) {
        const Hdf5Handle attribute(H5Aopen(file_, attribute_name, H5P_DEFAULT), H5Aclose);
        const Hdf5Handle type(attribute ? H5Aget_type(attribute.id()) : H5I_INVALID_HID, H5Tclose);
        double value = 0;
        if (!type || H5Tget_class(type.id()) != H5T_FLOAT || !is_scalar(attribute) ||
            H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0)
            complain(std::string("/") + attribute_name, "the attribute is absent or no number");
        return value;
    }

    struct Column {
        Hdf5Handle set, type;
        std::size_t rows = 0;
    };

    // A dataset with one dimension that is in this file, as we would write it, and not larger than the file can hold.
    std::optional<Column> open(const std::string& path) {
        Column c;
        c.set = {H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose};
        if (!c.set) return complain(path, "the column is absent: " + hdf5_error()), std::nullopt;
        c.type = {H5Dget_type(c.set.id()), H5Tclose};
        const Hdf5Handle space(H5Dget_space(c.set.id()), H5Sclose);
        hsize_t rows = 0;
        if (!c.type || !space || H5Sget_simple_extent_ndims(space.id()) != 1 || H5Sget_simple_extent_dims(space.id(), &rows, nullptr) < 0)
            return complain(path, "it is no column: a dataset with one dimension"), std::nullopt;
        if (!is_stored_plainly(c.set)) return complain(path, "it is stored elsewhere, or in a way that no trace is"), std::nullopt;
        if (static_cast<double>(rows) * static_cast<double>(H5Tget_size(c.type.id())) > best_compression * file_bytes_)
            return complain(path, "it promises " + std::to_string(rows) + " rows, more than the file can hold"), std::nullopt;
        c.rows = static_cast<std::size_t>(rows);
        return c;
    }

    static bool is_stored_plainly(const Hdf5Handle& set) {
        const Hdf5Handle creation(H5Dget_create_plist(set.id()), H5Pclose);
        if (!creation || H5Pget_layout(creation.id()) == H5D_VIRTUAL || H5Pget_external_count(creation.id()) != 0) return false;
        const int filters = H5Pget_nfilters(creation.id());
        for (int i = 0; i < filters; ++i) {
            std::size_t values = 0;
            const H5Z_filter_t filter =
                H5Pget_filter2(creation.id(), static_cast<unsigned>(i), nullptr, &values, nullptr, 0, nullptr, nullptr);
            if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) return false;
        }
        return filters >= 0;
    }

    // The first column of a table says how many rows it has.
    template <class Row, class Field>
    void column(const std::string& table, const char* name, std::vector<Row>& rows, Field Row::*field) {
        const std::string path = table + name;
        const std::optional<Column> c = open(path);
        if (!c) return;
        const ColumnType type = column_type<Field>();
        // The file may know fewer names of an enumeration than we do, or have them in another order.
        const bool enumeration = H5Tget_class(type.file.id()) == H5T_ENUM;
        if (enumeration ? H5Tget_class(c->type.id()) != H5T_ENUM || H5Tget_size(c->type.id()) != 1
                        : H5Tequal(c->type.id(), type.file.id()) <= 0)
            return complain(path, "its values have another type than a trace's");
        if (rows.empty()) rows.resize(c->rows);
        if (c->rows != rows.size())
            return complain(path, "it has " + std::to_string(c->rows) + " rows, the columns before it " + std::to_string(rows.size()));
        std::vector<typename Stored<Field>::Type> values(c->rows);
        if (!values.empty() && H5Dread(c->set.id(), type.memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
            return complain(path, "it cannot be read: " + hdf5_error(), "the file is damaged");
        for (std::size_t i = 0; i < values.size(); ++i) rows[i].*field = Stored<Field>::in(values[i]);
    }

    std::vector<std::string> strings(const std::string& path, std::optional<std::size_t> rows) {
        std::vector<std::string> texts;
        const std::optional<Column> c = open(path);
        if (!c) return texts;
        const std::size_t size = H5Tget_size(c->type.id());
        if (H5Tget_class(c->type.id()) != H5T_STRING || H5Tis_variable_str(c->type.id()) != 0 || size > longest_string)
            return complain(path, "its values are no strings of at most " + std::to_string(longest_string) + " bytes"), texts;
        if (rows && c->rows != *rows)
            return complain(path, "it has " + std::to_string(c->rows) + " rows, the columns before it " + std::to_string(*rows)), texts;
        std::string packed(c->rows * size, '\0');
        if (c->rows > 0 && H5Dread(c->set.id(), c->type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) < 0)
            return complain(path, "it cannot be read: " + hdf5_error(), "the file is damaged"), texts;
        for (std::size_t i = 0; i < c->rows; ++i) {
            const auto begin = packed.begin() + static_cast<std::ptrdiff_t>(i * size), end = begin + static_cast<std::ptrdiff_t>(size);
            texts.emplace_back(begin, std::find(begin, end, '\0'));
        }
        return texts;
    }

    hid_t file_;
    double file_bytes_;
    std::string name_;
    Diagnostics& diagnostics_;
};

Trace read_open_file(const Hdf5Handle& file, double bytes, const std::string& name) {
    Diagnostics diagnostics;
    Trace trace;
    if (!file)
        diagnostics.add({name, "", "it is no HDF5 file, or a damaged one: " + hdf5_error(), "sextant simulate writes traces"});
    else
        trace = TraceReader(file.id(), bytes, name, diagnostics).read();
    if (diagnostics.empty()) check_trace(trace, name, diagnostics);
    diagnostics.throw_if_any();
    return trace;
}

}  // namespace

Trace read_trace_hdf5(const std::filesystem::path& path) {
    const QuietHdf5 quiet;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error) throw InputError(Diagnostic{path.string(), "", "cannot be read: " + error.message(), ""});
    const Hdf5Handle file = open_hdf5(path.string(), start_of_packed_text(path, hdf5_superblock_bytes));
    return read_open_file(file, static_cast<double>(bytes), path.string());
}

Trace trace_from_hdf5(std::string_view bytes, const std::string& name) {
    const QuietHdf5 quiet;
    constexpr std::size_t growth = 1 << 16;
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    std::string image(bytes);  // HDF5 takes it as writable
    H5Pset_fapl_core(access.id(), growth, false);
    H5Pset_file_image(access.id(), image.data(), image.size());
    const Hdf5Handle file = open_hdf5(name, bytes, access.id());
    return read_open_file(file, static_cast<double>(bytes.size()), name);
}

}  // namespace sextant
