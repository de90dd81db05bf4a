// LMDB: one file with a tree of keys "0000000012" and records of tf.train.Example. Reading needs no call of the system: pages are mapped.
#include "backend/storage/example_record.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/lmdb_check.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>

#include <lmdb.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Addresses are set aside for it, neither memory nor disk.
constexpr std::size_t largest_database = std::size_t{1} << 40;
constexpr std::int64_t samples_in_transaction = 256;
constexpr std::size_t key_digits = 10;

using Environment = std::unique_ptr<MDB_env, decltype(&mdb_env_close)>;
using Transaction = std::unique_ptr<MDB_txn, decltype(&mdb_txn_abort)>;

std::string key_of(std::int64_t index) {
    const std::string digits = std::to_string(index);
    return std::string(key_digits - std::min(key_digits, digits.size()), '0') + digits;
}
MDB_val value_of(BlobView bytes) { return {bytes.size(), const_cast<std::uint8_t*>(bytes.data())}; }

Environment new_environment() {
    MDB_env* env = nullptr;
    if (mdb_env_create(&env) != MDB_SUCCESS) throw std::bad_alloc();
    return {env, mdb_env_close};
}

class LmdbReader final : public DatasetReader {
public:
    explicit LmdbReader(const fs::path& path) : path_(path.string()), environment_(new_environment()) {
        const InputFile file(path);
        check_lmdb(file);
        good(mdb_env_set_mapsize(environment_.get(), file.size()));
        good(mdb_env_open(environment_.get(), path_.c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0));
        const Transaction reading = begin();
        good(mdb_dbi_open(reading.get(), nullptr, 0, &database_));
        MDB_stat statistics{};
        good(mdb_stat(reading.get(), database_, &statistics));
        count_ = static_cast<std::int64_t>(statistics.ms_entries);
    }

    [[nodiscard]] std::int64_t count() const override { return count_; }
    [[nodiscard]] std::string name(std::int64_t index) const override { return path_ + ": " + key_of(index); }

private:
    static void good(int code) {
        if (code != MDB_SUCCESS) throw_damage(std::string("LMDB cannot read it: ") + mdb_strerror(code));
    }
    [[nodiscard]] Transaction begin() const {
        MDB_txn* transaction = nullptr;
        good(mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &transaction));
        return {transaction, mdb_txn_abort};
    }

    void read_sample(std::int64_t index, Sample& into) const override {
        const Transaction reading = begin();
        const std::string key = key_of(index);
        MDB_val wanted = value_of(view_of(key)), found{};
        const int code = mdb_get(reading.get(), database_, &wanted, &found);
        if (code == MDB_NOTFOUND) throw_damage("it is missing");
        good(code);
        read_example({static_cast<const std::uint8_t*>(found.mv_data), found.mv_size}, into);
    }

    std::string path_;
    Environment environment_;
    MDB_dbi database_ = 0;
    std::int64_t count_ = 0;
};

class LmdbWriter final : public DatasetWriter {
public:
    explicit LmdbWriter(const fs::path& path)
        : path_(path.string()), environment_(new_environment()), transaction_(nullptr, mdb_txn_abort) {
        std::error_code none;
        fs::remove(path, none);
        good(mdb_env_set_mapsize(environment_.get(), largest_database));
        good(mdb_env_open(environment_.get(), path_.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666));
        begin();
    }

    void append(const Sample& sample) override {
        const std::string key = key_of(count_++);
        const Blob record = example_record(sample);
        MDB_val name = value_of(view_of(key)), value = value_of(record);
        good(mdb_put(transaction_.get(), database_, &name, &value, MDB_APPEND));
        if (count_ % samples_in_transaction == 0) commit(), begin();
    }
    void finish() override {
        commit();
        environment_.reset();
    }

private:
    void good(int code) const {
        if (code == MDB_SUCCESS) return;
        const char* more = code == EIO ? "; is the disk full?" : "";  // what it says, too, where a page was written in part
        throw BackendError("cannot write all of " + path_ + ": " + mdb_strerror(code) + more);
    }
    void begin() {
        MDB_txn* transaction = nullptr;
        good(mdb_txn_begin(environment_.get(), nullptr, 0, &transaction));
        transaction_.reset(transaction);
        good(mdb_dbi_open(transaction, nullptr, 0, &database_));
    }
    void commit() { good(mdb_txn_commit(transaction_.release())); }

    std::string path_;
    Environment environment_;
    Transaction transaction_;
    MDB_dbi database_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace

// One LMDB file: a record of tf.train.Example under each number.
const DatasetFormat& lmdb_format() {
    static const DatasetFormat format = {
        "lmdb", false, is_lmdb, [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<LmdbReader>(path); },
        [](const fs::path& path, const Outline&) -> std::unique_ptr<DatasetWriter> { return std::make_unique<LmdbWriter>(path); }};
    return format;
}

}  // namespace sextant
