// How samples are called where each is a file, on a disk or in an archive: "class_0003/00000012.png". Of other people's trees every
// folder is a class.
#pragma once

#include "backend/storage/sample.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

std::string sample_name(std::int64_t index, std::int64_t label, std::string_view suffix);
std::string class_folder(std::int64_t label);
bool is_class_folder(std::string_view name);  // of ours
// Whether it ends as a sample does: png, jpg, jpeg, npy.
bool names_a_sample(std::string_view path);

// Of each path the number of its class: what our folders say, else the rank of its folder among all.
std::vector<std::int64_t> labels_of(const std::vector<std::string>& paths);
// By number rather than by class: the last part of a path counts first.
bool comes_before(const std::string& a, const std::string& b);

// A sample as a file: bare values get a header.
Blob as_file(const Sample&);

}  // namespace sextant
