#include "model/io/format/kept_inputs.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/text_file.hpp"
#include "tests/temporary_folder.hpp"

namespace sextant {
namespace {

using KeepsInputs = TemporaryFolder;

TEST_F(KeepsInputs, ByWhateverNameTheyAreWritten) {
    const auto read = folder_ / "read", packed = folder_ / "packed", link = folder_ / "link", other = folder_ / "other";
    for (const auto& file : {read, packed, other}) replace_text_file(file, "{}");
    std::filesystem::create_symlink(read, link);
    Diagnostics problems;
    {
        const KeptInputs inputs;
        static_cast<void>(read_text_file(read, problems));
        static_cast<void>(read_packed_text(packed, problems));
        for (const auto& file : {read, packed, link, folder_ / "." / "read"})
            EXPECT_THROW(replace_text_file(file, "x"), InputError) << file;
        replace_text_file(other, "x");
    }
    EXPECT_EQ(read_text_file(read, problems), "{}");
    replace_text_file(read, "x");  // of a program that keeps none
    EXPECT_EQ(read_text_file(read, problems), "x");
}

}  // namespace
}  // namespace sextant
