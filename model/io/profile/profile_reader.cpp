// The catalogue: which file a name stands for, and loading it once.
#include "model/io/profile/profile_reader.hpp"

#include "model/base/spelling.hpp"
#include "model/io/format/json_files.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/profile/profile_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> profile_files(const fs::path& directory) {
    std::vector<fs::path> files = json_files_in(directory);
    std::erase_if(files, [](const fs::path& path) { return path.stem().extension() == ".gemm"; });  // parts of profiles
    return files;
}

void add_name(auto& set, const std::string& slug, const std::string& name, const std::vector<std::string>& aliases) {
    set.names.emplace(slug, name);
    set.aliases.emplace(key_of(name), slug);
    for (const std::string& alias : aliases) set.aliases.emplace(key_of(alias), slug);
}

// --- kinds of profile with one file each: the slug is the file's name ---

template <class T>
struct Kind;
template <>
struct Kind<Device> {
    static constexpr auto directory = "devices", what = "device";
    static ProfileSet<Device>& set(Catalog& c) { return c.devices; }
    static bool read(const JsonNode& n, Catalog&, Device& d) { return read_device(n, d); }
};
template <>
struct Kind<CommunicationLibrary> {
    static constexpr auto directory = "libraries", what = "communication library";
    static ProfileSet<CommunicationLibrary>& set(Catalog& c) { return c.libraries; }
    static bool read(const JsonNode& n, Catalog&, CommunicationLibrary& l) { return read_library(n, l); }
};
template <>
struct Kind<Cluster> {
    static constexpr auto directory = "clusters", what = "cluster";
    static ProfileSet<Cluster>& set(Catalog& c) { return c.clusters; }
    static bool read(const JsonNode& n, Catalog& catalog, Cluster& c) { return read_cluster(n, catalog, c); }
};

// --- kinds of profile that share a file: lists ---

template <>
struct Kind<LinkType> {
    static constexpr auto directory = "links", what = "link", schema = "links/1", list = "links";
    static ProfileSet<LinkType>& set(Catalog& c) { return c.links; }
    static bool read(const JsonNode& n, Catalog&, LinkType& l) { return read_link(n, l); }
    static LinkType start(ObjectReader& r) {
        LinkType start;
        const JsonNode n = r.need("category");
        if (!n.value) return start;
        r.word("category", start.category, link_category_words);
        return start;
    }
};
template <>
struct Kind<StorageClass> {
    static constexpr auto directory = "storage", what = "storage class", schema = "storage/1", list = "storage";
    static ProfileSet<StorageClass>& set(Catalog& c) { return c.storage; }
    static bool read(const JsonNode& n, Catalog&, StorageClass& s) { return read_storage(n, s); }
    static StorageClass start(ObjectReader&) { return {}; }
};

template <class T>
constexpr bool is_list = requires {
    Kind<T>::list;
};

template <class T>
void read_list(const JsonNode& root, Catalog& catalog, std::vector<T>& into) {
    if (!root.value) return;
    ObjectReader r(root);
    r.schema(Kind<T>::schema);
    const T start = Kind<T>::start(r);
    r.each(Kind<T>::list, [&](const JsonNode& n) {
        T profile = start;
        if (Kind<T>::read(n, catalog, profile)) into.push_back(std::move(profile));
    });
}

// Learns every name and alias of a kind. Lists are loaded whole: they are small; of other kinds only the names are kept.
template <class T>
void index(Catalog& catalog, Diagnostics& diagnostics) {
    ProfileSet<T>& set = Kind<T>::set(catalog);
    if (set.indexed) return;
    set.indexed = true;
    for (const fs::path& path : profile_files(catalog.root / Kind<T>::directory)) {
        if constexpr (is_list<T>) {
            const JsonFile file = JsonFile::load(path, diagnostics);
            std::vector<T> profiles;
            read_list<T>(file.root(), catalog, profiles);
            for (T& p : profiles) {
                const std::string slug = slug_of(p.name);
                add_name(set, slug, p.name, {});
                set.loaded.emplace(slug, std::move(p));
            }
        } else {
            Diagnostics ignored;  // a broken file is reported when it is asked for
            const JsonFile file = JsonFile::load(path, ignored);
            std::string name = path.stem().string();
            std::vector<std::string> aliases;
            const JsonNode name_node = file.root().child("name"), alias_node = file.root().child("aliases");
            if (name_node.is_string()) read_value(name_node, name);
            if (alias_node.is_array()) read_value(alias_node, aliases);
            // What `profiles list` says of a cluster is a name of it, too.
            if (const JsonNode title = file.root().child("title"); title.is_string()) read_value(title, aliases.emplace_back());
            add_name(set, path.stem().string(), name, aliases);
        }
    }
}

template <class T>
const T* load(Catalog& catalog, const std::string& slug, const fs::path& path, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::load(path, diagnostics);
    T profile;
    if (!Kind<T>::read(file.root(), catalog, profile)) return nullptr;
    return &Kind<T>::set(catalog).loaded.insert_or_assign(slug, std::move(profile)).first->second;
}

template <class T>
void complain_about_name(Catalog& catalog, std::string_view name, Diagnostics& diagnostics, const NamedBy& by) {
    std::vector<std::string_view> known;
    for (const auto& [slug, text] : Kind<T>::set(catalog).names) known.push_back(text);
    const std::string shown(name.substr(0, 80));
    diagnostics.add({by.file, by.pointer, "no " + std::string(Kind<T>::what) + " is called \"" + shown + "\"",
                     hint_for_profile(nearest_names(name, known, 3))});
}

template <class T>
const T* find(Catalog& catalog, std::string_view name, Diagnostics& diagnostics, const NamedBy& by) {
    ProfileSet<T>& set = Kind<T>::set(catalog);
    if (name.ends_with(".json")) {
        const fs::path path = file_beside(by.file, name);
        const std::string key = path.lexically_normal().string();  // no slug has a dot in it
        const auto known = set.loaded.find(key);
        return known != set.loaded.end() ? &known->second : load<T>(catalog, key, path, diagnostics);
    }
    std::string slug = slug_of(name);
    if (const auto known = set.loaded.find(slug); known != set.loaded.end()) return &known->second;
    const fs::path directory = catalog.root / Kind<T>::directory;
    std::error_code error;
    if constexpr (!is_list<T>)
        if (!slug.empty() && fs::exists(directory / (slug + ".json"), error))
            return load<T>(catalog, slug, directory / (slug + ".json"), diagnostics);
    index<T>(catalog, diagnostics);
    const auto alias = set.aliases.find(key_of(name));
    if (alias == set.aliases.end()) {
        complain_about_name<T>(catalog, name, diagnostics, by);
        return nullptr;
    }
    slug = alias->second;
    if (const auto known = set.loaded.find(slug); known != set.loaded.end()) return &known->second;
    return load<T>(catalog, slug, directory / (slug + ".json"), diagnostics);
}

template <class T>
bool read_reference(const JsonNode& n, Catalog& catalog, T& out) {
    if (!n.value) return false;
    if (n.is_object()) return Kind<T>::read(n, catalog, out);
    std::string name;
    if (!n.is_string()) {
        n.complain("expected the name of a " + std::string(Kind<T>::what) + ", a .json file, or the profile as an object");
        return false;
    }
    read_value(n, name);
    const T* found = find<T>(catalog, name, *n.diagnostics, {*n.file, n.pointer});
    if (found) out = *found;
    return found != nullptr;
}

template <class T>
std::vector<std::string> names(Catalog& catalog) {
    Diagnostics ignored;
    index<T>(catalog, ignored);
    std::vector<std::string> out;
    for (const auto& [slug, name] : Kind<T>::set(catalog).names) out.push_back(name);
    return out;
}

template <class T>
void check(const JsonNode& root, Catalog& catalog) {
    if constexpr (is_list<T>) {
        std::vector<T> read;
        read_list<T>(root, catalog, read);
    } else {
        T read;
        Kind<T>::read(root, catalog, read);
    }
}

bool is_profile_root(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path / "devices", error) && fs::is_directory(path / "clusters", error);
}

// Installed beside the program, or where it was built.
fs::path bundled_root() {
    std::vector<fs::path> places;
    std::error_code error;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
        places.push_back(program.parent_path().parent_path() / "share/sextant/hardware_profiles");
    places.emplace_back(SEXTANT_PROFILES_DIR);
    for (const fs::path& place : places)
        if (is_profile_root(place)) return place;
    throw InputError(
        {places.front().string(), "", "no hardware profiles there", "name their directory with --profiles or SEXTANT_PROFILES"});
}

}  // namespace

fs::path find_data_root(const fs::path& asked) {
    const auto must_be_root = [&](const fs::path& path, const std::string& from) {
        if (is_profile_root(path)) return path;
        throw InputError(
            {path.string(), "", "no directory of hardware profiles, named by " + from, "it holds devices/, links/, clusters/ ..."});
    };
    if (!asked.empty()) return must_be_root(asked, "--profiles");
    if (const char* named = std::getenv("SEXTANT_PROFILES"); named && *named) return must_be_root(named, "SEXTANT_PROFILES");
    return bundled_root();
}

fs::path library_root(const Catalog& catalog) {
    const fs::path beside = catalog.root.parent_path();
    std::error_code error;
    return fs::is_directory(beside / "frameworks", error) ? beside : bundled_root().parent_path();
}

Catalog open_catalog(fs::path root) {
    Catalog catalog;
    catalog.root = std::move(root);
    return catalog;
}

const Device* find_device(Catalog& c, std::string_view name, Diagnostics& d, const NamedBy& by) { return find<Device>(c, name, d, by); }
const LinkType* find_link(Catalog& c, std::string_view name, Diagnostics& d, const NamedBy& by) { return find<LinkType>(c, name, d, by); }
const StorageClass* find_storage(Catalog& c, std::string_view name, Diagnostics& d, const NamedBy& by) {
    return find<StorageClass>(c, name, d, by);
}
const CommunicationLibrary* find_library(Catalog& c, std::string_view name, Diagnostics& d, const NamedBy& by) {
    return find<CommunicationLibrary>(c, name, d, by);
}
const Cluster* find_cluster(Catalog& c, std::string_view name, Diagnostics& d, const NamedBy& by) { return find<Cluster>(c, name, d, by); }

std::vector<NamesOfKind> all_names(Catalog& c) {
    return {{"clusters", names<Cluster>(c)},
            {"devices", names<Device>(c)},
            {"links", names<LinkType>(c)},
            {"storage", names<StorageClass>(c)},
            {"libraries", names<CommunicationLibrary>(c)},
            {"tables", {std::string(reference_latencies_name)}}};
}

bool read_device_reference(const JsonNode& n, Catalog& c, Device& out) { return read_reference(n, c, out); }
bool read_link_reference(const JsonNode& n, Catalog& c, LinkType& out) { return read_reference(n, c, out); }
bool read_storage_reference(const JsonNode& n, Catalog& c, StorageClass& out) { return read_reference(n, c, out); }
bool read_cluster_reference(const JsonNode& n, Catalog& c, Cluster& out) {
    return n.is_object() && n.child("base").value ? read_changed_cluster(n, c, out) : read_reference(n, c, out);
}

std::string check_profile(Catalog& catalog, const fs::path& path, Diagnostics& diagnostics) {
    return check_profile(catalog, JsonFile::load(path, diagnostics).root());
}

std::string check_profile(Catalog& catalog, const JsonNode& root) {
    if (!root.value) return {};
    const JsonNode schema = root.child("schema");
    std::string text;
    if (schema.is_string()) read_value(schema, text);
    if (text == "device/1")
        check<Device>(root, catalog);
    else if (text == "cluster/1")
        check<Cluster>(root, catalog);
    else if (text == "library/1")
        check<CommunicationLibrary>(root, catalog);
    else if (text == "links/1")
        check<LinkType>(root, catalog);
    else if (text == "storage/1" && root.child("storage").value)
        check<StorageClass>(root, catalog);
    else if (text == "storage/1") {
        StorageClass one;  // in a file of its own, as calibrations write it
        read_storage(root, one);
    } else if (text == "reference-latencies/1") {
        ReferenceLatencies table;
        read_reference_latencies(root, table);
    } else if (text == "usual-hardware/1") {
        UsualHardware usual;
        read_usual_hardware(root, usual);
    } else
        schema.complain(text.empty() ? "\"schema\" is missing" : "\"" + text.substr(0, 80) + "\" is no schema of a hardware profile",
                        "device/1, cluster/1, links/1, storage/1, library/1, reference-latencies/1 or usual-hardware/1");
    return text;
}

ReferenceLatencies load_reference_latencies(const Catalog& catalog, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::load(catalog.root / "reference_latencies.json", diagnostics);
    ReferenceLatencies table;
    read_reference_latencies(file.root(), table);
    return table;
}

UsualHardware load_usual_hardware(const Catalog& catalog, Diagnostics& diagnostics) {
    constexpr auto name = "usual_hardware.json";
    const fs::path own = catalog.root / name;
    std::error_code error;
    const JsonFile file = JsonFile::load(fs::exists(own, error) ? own : bundled_root() / name, diagnostics);
    UsualHardware usual;
    read_usual_hardware(file.root(), usual);
    return usual;
}

}  // namespace sextant
