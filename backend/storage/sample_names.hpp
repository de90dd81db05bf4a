// The names of samples where each is a file, on a disk or in an archive: "class_0003/00000012.png". In trees that Sextant did not write,
// every folder is a class.
#pragma once

#include "backend/storage/sample.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

std::string sample_name(std::int64_t index, std::int64_t label, std::string_view suffix);
std::string class_folder(std::int64_t label);
bool is_class_folder(std::string_view name);  // of ours
// Whether the path has the suffix of a sample: png, jpg, jpeg, npy.
bool names_a_sample(std::string_view path);

// The class of each path: the number in our folders' names, otherwise the rank of its folder among all folders.
std::vector<std::int64_t> labels_of(const std::vector<std::string>& paths);
// Orders paths by sample number rather than by class: the last part of the path is compared first.
bool comes_before(const std::string& a, const std::string& b);

// A sample as a file: bare values get a header.
Blob as_file(const Sample&);

}  // namespace sextant
