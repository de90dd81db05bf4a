// What is known of hardware: profiles by name. Filled from files when a profile is first asked for (see io/profile_reader.hpp).
#pragma once

#include "model/hardware/cluster.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace sextant {

// "A100 SXM4 80GB" -> "a100-sxm4-80gb": what profile files are called.
std::string slug_of(std::string_view name);

// "GTX 1080 Ti", "NVIDIA GeForce gtx-1080ti" -> "gtx1080ti": what names are compared by, without what makers put in front.
std::string key_of(std::string_view name);

// Profiles of one kind. References stay valid while more are loaded.
template <class Profile>
struct ProfileSet {
    std::map<std::string, Profile, std::less<>> loaded;       // by slug
    std::map<std::string, std::string, std::less<>> aliases;  // key of a name or an alias -> slug; complete once `indexed`
    std::map<std::string, std::string, std::less<>> names;    // slug -> name as written; complete once `indexed`
    bool indexed = false;
};

struct Catalog {
    std::filesystem::path root;  // the directory with devices/, links/, storage/, libraries/ and clusters/
    ProfileSet<Device> devices;
    ProfileSet<LinkType> links;
    ProfileSet<StorageClass> storage;
    ProfileSet<CommunicationLibrary> libraries;
    ProfileSet<Cluster> clusters;
};

}  // namespace sextant
