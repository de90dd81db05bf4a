// Hardware profiles as people read them on a terminal, and as programs read them.
#pragma once

#include "model/io/profile/profile_reader.hpp"

#include <string>

namespace sextant {

// Every number is followed by its kind and the number of its source; the sources stand at the end.
std::string profile_to_text(const Device&);
std::string profile_to_text(const Cluster&);
std::string profile_to_text(const LinkType&);
std::string profile_to_text(const StorageClass&);
std::string profile_to_text(const CommunicationLibrary&);
std::string profile_to_text(const ReferenceLatencies&);

// A line for each profile, framework and model, or for those of one kind (as in NamesOfKind, "frameworks", "models"): what people choose by
// beside the name. Profiles that do not read are named all the same.
std::string profile_list_to_text(Catalog&, std::string_view only = {});
std::string profile_list_to_json(Catalog&, std::string_view only = {});

// SI numbers with the unit in the key, each as {"value", "kind", "source"}. Estimates that completed the profile are among them.
std::string profile_to_json(const Device&);
std::string profile_to_json(const Cluster&);
std::string profile_to_json(const LinkType&);
std::string profile_to_json(const StorageClass&);
std::string profile_to_json(const CommunicationLibrary&);
std::string profile_to_json(const ReferenceLatencies&);

// The cluster as a profile that reads back (cluster/1), everything it refers to written out inside: numbers to nine digits, each with its
// kind and source. Measured GEMM curves are left out: they stand in a file beside a device's.
std::string cluster_to_profile(const Cluster&);

// The class alone, likewise (storage/1).
std::string storage_to_profile(const StorageClass&);
// Likewise what `samples` of a host is (sample-speeds/1).
std::string speeds_to_profile(const SampleSpeeds&);

}  // namespace sextant
