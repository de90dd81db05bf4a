// Hardware profiles as people read them on a terminal. Every number is followed by its kind and the number of its source.
#pragma once

#include "model/io/profile_reader.hpp"

#include <string>

namespace sextant {

std::string profile_text(const Device&);
std::string profile_text(const Cluster&);
std::string profile_text(const LinkType&);
std::string profile_text(const StorageClass&);
std::string profile_text(const CommunicationLibrary&);
std::string profile_text(const ReferenceLatencies&);

}  // namespace sextant
