#include "model/base/diagnostics.hpp"
#include "model/io/format/hdf5_handle.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/trace/trace_columns.hpp"
#include "model/io/trace/trace_hdf5.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sextant {
namespace {

constexpr hsize_t rows_of_chunk = 65'536;
constexpr unsigned compression = 4;  // of zlib's 9: the rest costs time and gains little

class TraceFile {
public:
    explicit TraceFile(const std::filesystem::path& path) : path_(path.string()) {
        // Times of creation are left out, so that the same trace gives the same bytes. Since format 1.10 metadata has checksums.
        const Hdf5Handle creation = made(H5Pcreate(H5P_FILE_CREATE), H5Pclose), access = made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        done(H5Pset_obj_track_times(creation.id(), false));
        done(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110));
        file_ = made(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
    }

    void write(const Trace& trace) {
        attribute(file_.id(), "schema", std::string(trace_schema));
        attribute(file_.id(), "end_s", trace.end.si());
        strings(file_.id(), "names", trace.names);

        const Hdf5Handle ranks = group("ranks"), spans = group("spans");
        for_each_rank_column([&](const char* name, auto field, const char* unit) { column(ranks.id(), name, trace.ranks, field, unit); });
        std::vector<std::string> hosts;
        for (const TraceRank& r : trace.ranks) hosts.push_back(r.host);
        strings(ranks.id(), "host", hosts);
        for_each_span_column([&](const char* name, auto field, const char* unit) { column(spans.id(), name, trace.spans, field, unit); });
    }

    // Nothing may be open any more.
    void close() {
        if (!file_.close()) refuse();
    }

private:
    [[noreturn]] void refuse() const { throw BackendError("cannot write " + path_ + ": " + hdf5_error()); }
    void done(herr_t status) const {
        if (status < 0) refuse();
    }
    [[nodiscard]] Hdf5Handle made(hid_t id, Hdf5Handle::Close closing) const {
        if (id < 0) refuse();
        return {id, closing};
    }

    [[nodiscard]] Hdf5Handle group(const char* name) const {
        const Hdf5Handle creation = made(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        done(H5Pset_obj_track_times(creation.id(), false));
        return made(H5Gcreate2(file_.id(), name, H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
    }

    [[nodiscard]] Hdf5Handle string_type(std::size_t size) const {
        Hdf5Handle type = made(H5Tcopy(H5T_C_S1), H5Tclose);
        done(H5Tset_size(type.id(), std::max<std::size_t>(1, size)));
        done(H5Tset_strpad(type.id(), H5T_STR_NULLPAD));
        done(H5Tset_cset(type.id(), H5T_CSET_UTF8));
        return type;
    }

    void attribute(hid_t of, const char* name, const Hdf5Handle& type, const void* value) const {
        const Hdf5Handle one = made(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Handle attribute = made(H5Acreate2(of, name, type.id(), one.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        done(H5Awrite(attribute.id(), type.id(), value));
    }
    void attribute(hid_t of, const char* name, const std::string& text) const {
        attribute(of, name, string_type(text.size()), text.c_str());
    }
    void attribute(hid_t of, const char* name, double value) const { attribute(of, name, made(H5Tcopy(H5T_IEEE_F64LE), H5Tclose), &value); }

    Hdf5Handle dataset(hid_t in, const char* name, const Hdf5Handle& type, const Hdf5Handle& memory, hsize_t rows, const void* data) const {
        const Hdf5Handle space = made(H5Screate_simple(1, &rows, nullptr), H5Sclose),
                         creation = made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        done(H5Pset_obj_track_times(creation.id(), false));
        if (rows > 0) {
            const hsize_t chunk = std::min(rows, rows_of_chunk);
            done(H5Pset_chunk(creation.id(), 1, &chunk));
            done(H5Pset_shuffle(creation.id()));
            done(H5Pset_deflate(creation.id(), compression));
        }
        Hdf5Handle set = made(H5Dcreate2(in, name, type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose);
        if (rows > 0) done(H5Dwrite(set.id(), memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        return set;
    }

    template <class Row, class Field>
    void column(hid_t in, const char* name, const std::vector<Row>& rows, Field Row::*field, const char* unit) const {
        std::vector<typename Stored<Field>::Type> values;
        values.reserve(rows.size());
        for (const Row& row : rows) values.push_back(Stored<Field>::out(row.*field));
        const ColumnType type = column_type<Field>();
        const Hdf5Handle set = dataset(in, name, type.file, type.memory, values.size(), values.data());
        attribute(set.id(), "unit", std::string(unit));
    }

    void strings(hid_t in, const char* name, const std::vector<std::string>& texts) const {
        std::size_t longest = 1;
        for (const std::string& t : texts) longest = std::max(longest, t.size());
        std::string packed;
        for (const std::string& t : texts) packed += t + std::string(longest - t.size(), '\0');
        const Hdf5Handle type = string_type(longest);
        dataset(in, name, type, type, texts.size(), packed.data());
    }

    std::string path_;
    Hdf5Handle file_;
};

}  // namespace

void write_trace_hdf5(const std::filesystem::path& path, const Trace& trace) {
    const QuietHdf5 quiet;
    replace_file(path, [&](const std::filesystem::path& aside) {
        TraceFile file(aside);
        file.write(trace);
        file.close();
    });
}

}  // namespace sextant
