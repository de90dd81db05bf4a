// HDF5. Bare values: /samples [samples, extents...], contiguous, as h5py would write the array. Encoded: /bytes, all files one behind the
// other in chunks, and /offsets [samples + 1]. /labels [samples] in both.
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/hdf5_handle.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t chunk_bytes = 65536;  // small against a sample, so that little is read besides

// The library keeps one state for the whole process, and Debian builds it for one thread at a time.
std::mutex& library() {
    static std::mutex mutex;
    return mutex;
}

struct Set {
    Hdf5Handle set;
    std::vector<hsize_t> extents;
};

std::vector<hsize_t> extents_of(const Hdf5Handle& set) {
    const Hdf5Handle space(H5Dget_space(set.id()), H5Sclose);
    const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
    if (rank < 1) return {};
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
    return extents;
}

class Hdf5Reader final : public DatasetReader {
public:
    explicit Hdf5Reader(const fs::path& path) : path_(path.string()), whole_(path) {  // says why it cannot be opened in the system's words
        const Blob start = whole_.head(hdf5_superblock_bytes);
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        try {
            file_ = open_hdf5(path_, text_of(start));
            if (!file_) throw_damage("it is no whole HDF5 file: " + hdf5_error(), "was it copied whole?");
            labels_ = integers("labels");
            H5Lexists(file_.id(), "samples", H5P_DEFAULT) > 0 ? open_values() : open_files();
        } catch (...) {
            close();
            throw;
        }
    }
    Hdf5Reader(const Hdf5Reader&) = delete;
    Hdf5Reader& operator=(const Hdf5Reader&) = delete;
    ~Hdf5Reader() override {
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        close();
    }

    [[nodiscard]] std::int64_t count() const override { return static_cast<std::int64_t>(labels_.size()); }
    [[nodiscard]] std::string name(std::int64_t index) const override { return path_ + ": sample " + std::to_string(index); }

private:
    void close() {
        bytes_ = Set{};
        file_ = Hdf5Handle{};
    }

    [[nodiscard]] Set open(const char* name) const {
        Set s{{H5Dopen2(file_.id(), name, H5P_DEFAULT), H5Dclose}, {}};
        if (!s.set) throw_damage("it has no dataset /" + std::string(name), "/samples and /labels, or /bytes, /offsets and /labels");
        s.extents = extents_of(s.set);
        if (s.extents.empty()) throw_damage("/" + std::string(name) + " has no extents");
        return s;
    }

    [[nodiscard]] std::vector<std::int64_t> integers(const char* name) const {
        const Set s = open(name);
        // Eight bytes each, in one piece: more than the file is large is a lie.
        if (s.extents.size() != 1 || s.extents[0] > whole_.size() / sizeof(std::int64_t))
            throw_damage("/" + std::string(name) + " is damaged");
        std::vector<std::int64_t> values(s.extents[0]);
        if (!values.empty() && H5Dread(s.set.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
            throw_damage("/" + std::string(name) + " cannot be read: " + hdf5_error());
        return values;
    }

    void open_values() {
        bytes_ = open("samples");
        double bytes = 1;
        for (std::size_t i = 1; i < bytes_.extents.size(); ++i) bytes *= static_cast<double>(bytes_.extents[i]);
        if (bytes > static_cast<double>(largest_sample_bytes)) throw_damage("/samples has samples larger than is believed");
        extents_.assign(bytes_.extents.begin() + 1, bytes_.extents.end());
        if (extents_.empty() || bytes_.extents[0] != labels_.size()) throw_damage("/samples and /labels do not match");
    }

    void open_files() {
        bytes_ = open("bytes");
        offsets_ = integers("offsets");
        const auto total = static_cast<std::int64_t>(std::min<hsize_t>(bytes_.extents[0], std::numeric_limits<std::int64_t>::max()));
        const bool in_order = std::ranges::is_sorted(offsets_) && !offsets_.empty() && offsets_.front() >= 0 && offsets_.back() <= total;
        if (bytes_.extents.size() != 1 || offsets_.size() != labels_.size() + 1 || !in_order)
            throw_damage("/bytes, /offsets and /labels do not match");
    }

    void read_sample(std::int64_t index, Sample& into) const override {
        const auto i = static_cast<std::size_t>(index);
        std::vector<hsize_t> start(bytes_.extents.size(), 0), extents = bytes_.extents;
        if (extents_.empty()) {
            start[0] = static_cast<hsize_t>(offsets_[i]);
            extents[0] = static_cast<hsize_t>(offsets_[i + 1] - offsets_[i]);
            check_sample_size(extents[0]);
        } else {
            start[0] = static_cast<hsize_t>(index);
            extents[0] = 1;
        }
        std::uint64_t bytes = 1;
        for (const hsize_t e : extents) bytes *= e;
        into.bytes.resize(bytes);
        into.extents = extents_;
        into.label = labels_[i];
        if (bytes == 0) return;
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        const Hdf5Handle there(H5Dget_space(bytes_.set.id()), H5Sclose),
            here(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
        if (H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr) < 0 ||
            H5Dread(bytes_.set.id(), H5T_NATIVE_UINT8, here.id(), there.id(), H5P_DEFAULT, into.bytes.data()) < 0)
            throw_damage("HDF5 cannot read it: " + hdf5_error());
        whole_.check_size();  // behind the end of a file the library reads zeros
    }

    std::string path_;
    InputFile whole_;
    Hdf5Handle file_;
    Set bytes_;
    Extents extents_;  // of a sample; empty: they are encoded
    std::vector<std::int64_t> labels_, offsets_;
};

class Hdf5Writer final : public DatasetWriter {
public:
    Hdf5Writer(fs::path path, Outline outline) : path_(std::move(path)), outline_(std::move(outline)) {
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        try {
            file_ = {H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
            check(static_cast<bool>(file_));
            create_bytes();
        } catch (...) {
            close();
            throw;
        }
    }
    Hdf5Writer(const Hdf5Writer&) = delete;
    Hdf5Writer& operator=(const Hdf5Writer&) = delete;
    ~Hdf5Writer() override {
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        close();
    }

    void append(const Sample& sample) override {
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        std::vector<hsize_t> start{offsets_.back()}, extents{sample.bytes.size()};
        if (bare()) {
            start.assign(outline_.extents.size() + 1, 0);
            start[0] = labels_.size();
            extents.assign(outline_.extents.begin(), outline_.extents.end());
            extents.insert(extents.begin(), 1);
        } else {
            const hsize_t grown = start[0] + extents[0];
            check(H5Dset_extent(bytes_.id(), &grown) >= 0);
        }
        const Hdf5Handle there(H5Dget_space(bytes_.id()), H5Sclose),
            here(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
        check(H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr) >= 0);
        check(H5Dwrite(bytes_.id(), H5T_NATIVE_UINT8, here.id(), there.id(), H5P_DEFAULT, sample.bytes.data()) >= 0);
        labels_.push_back(sample.label);
        offsets_.push_back(offsets_.back() + sample.bytes.size());
    }

    void finish() override {
        const std::lock_guard lock(library());
        const QuietHdf5 quiet;
        write("labels", labels_.size(), H5T_STD_I64LE, H5T_NATIVE_INT64, labels_.data());
        if (!bare()) write("offsets", offsets_.size(), H5T_STD_U64LE, H5T_NATIVE_UINT64, offsets_.data());
        check(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0);
        check(bytes_.close());
        check(file_.close());
    }

private:
    [[nodiscard]] bool bare() const { return outline_.encoding == SampleEncoding::raw; }

    void check(bool good) const {
        if (!good) throw BackendError("cannot write all of " + path_.string() + ": HDF5: " + hdf5_error());
    }
    void close() {
        bytes_ = Hdf5Handle{};
        file_ = Hdf5Handle{};
    }

    // Without the time at which it is made, so that the same samples give the same bytes.
    [[nodiscard]] Hdf5Handle creation() const {
        Hdf5Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        check(how && H5Pset_obj_track_times(how.id(), false) >= 0);
        return how;
    }

    void create_bytes() {
        const Hdf5Handle how = creation();
        std::vector<hsize_t> extents{0}, largest{H5S_UNLIMITED};
        if (bare()) {
            extents.assign(outline_.extents.begin(), outline_.extents.end());
            extents.insert(extents.begin(), static_cast<hsize_t>(outline_.samples));
            largest = extents;
        } else {
            check(H5Pset_chunk(how.id(), 1, &chunk_bytes) >= 0);
        }
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), largest.data()), H5Sclose);
        bytes_ = {H5Dcreate2(file_.id(), bare() ? "samples" : "bytes", H5T_STD_U8LE, space.id(), H5P_DEFAULT, how.id(), H5P_DEFAULT),
                  H5Dclose};
        check(static_cast<bool>(bytes_));
    }

    void write(const char* name, hsize_t rows, hid_t type, hid_t memory_type, const void* values) {
        const Hdf5Handle space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
        const Hdf5Handle how = creation();
        Hdf5Handle set(H5Dcreate2(file_.id(), name, type, space.id(), H5P_DEFAULT, how.id(), H5P_DEFAULT), H5Dclose);
        check(set && H5Dwrite(set.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && set.close());
    }

    fs::path path_;
    Outline outline_;
    Hdf5Handle file_, bytes_;
    std::vector<std::int64_t> labels_;
    std::vector<hsize_t> offsets_{0};
};

}  // namespace

// One HDF5 file: an array of all samples, or their files one behind the other.
const DatasetFormat& hdf5_format() {
    static const DatasetFormat format = {
        "hdf5", false, [](BlobView start) { return text_of(start).starts_with(hdf5_signature); },
        [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<Hdf5Reader>(path); },
        [](const fs::path& path, const Outline& outline) -> std::unique_ptr<DatasetWriter> {
            return std::make_unique<Hdf5Writer>(path, outline);
        }};
    return format;
}

}  // namespace sextant
