// Hardware profiles from JSON: devices, links, storage, libraries, clusters, by name or from a file of the user's own.
//
//     Diagnostics problems;
//     Catalog catalog = open_catalog(find_data_root());
//     const Cluster* cluster = find_cluster(catalog, "selene", problems);
//     problems.throw_if_any();
//
// Files are read when something in them is first asked for. The formats are described in hardware_profiles/README.md.
#pragma once

#include "model/hardware/catalog.hpp"
#include "model/hardware/usual_hardware.hpp"
#include "model/io/format/json_reader.hpp"

namespace sextant {

// The directory of the bundled profiles: `asked` (--profiles), else $SEXTANT_PROFILES, else that of an installed program
// (../share/sextant/hardware_profiles), else that of the source tree that it was built from. Throws InputError when there is none.
std::filesystem::path find_data_root(const std::filesystem::path& asked = {});

// The directory that holds frameworks/, scenarios/, lessons/ and measurements/: the profiles' own, if they have any beside them, or the
// bundled.
std::filesystem::path library_root(const Catalog&);

// Reads nothing yet.
Catalog open_catalog(std::filesystem::path root);

// The place in an input that names a profile, for the message when there is no such profile.
struct NamedBy {
    std::string file;
    std::string pointer;
};

// By file name, name or alias, whatever the case and the punctuation; a name that ends in .json is a file to read instead.
// Null after a Diagnostic, which names the nearest ones.
const Device* find_device(Catalog&, std::string_view name, Diagnostics&, const NamedBy& = {});
const LinkType* find_link(Catalog&, std::string_view name, Diagnostics&, const NamedBy& = {});
const StorageClass* find_storage(Catalog&, std::string_view name, Diagnostics&, const NamedBy& = {});
const CommunicationLibrary* find_library(Catalog&, std::string_view name, Diagnostics&, const NamedBy& = {});
const Cluster* find_cluster(Catalog&, std::string_view name, Diagnostics&, const NamedBy& = {});

// What `show` calls the table of latencies.
inline constexpr std::string_view reference_latencies_name = "reference-latencies";

// Every name, kind by kind, in the order of the slugs.
struct NamesOfKind {
    std::string kind;  // "clusters", "devices", "links", "storage", "libraries", "tables"
    std::vector<std::string> names;
};
std::vector<NamesOfKind> all_names(Catalog&);

// Where another document refers to a profile: by name, by the path of a file beside it, or with the profile itself as an object.
// Of a cluster also as another one with changes: {"base": "selene", "fabric": {"oversubscription": 2}}.
// Each returns false after complaining.
bool read_device_reference(const JsonNode&, Catalog&, Device&);
bool read_link_reference(const JsonNode&, Catalog&, LinkType&);
bool read_storage_reference(const JsonNode&, Catalog&, StorageClass&);
bool read_cluster_reference(const JsonNode&, Catalog&, Cluster&);

// The documents themselves. A field that is left out is completed by estimates (model/hardware/estimate.hpp).
bool read_device(const JsonNode&, Device&);
bool read_link(const JsonNode&, LinkType&);  // one entry of a links file
bool read_storage(const JsonNode&, StorageClass&);
bool read_sample_speeds(const JsonNode&, const Provenance& outer, SampleSpeeds&);
bool read_library(const JsonNode&, CommunicationLibrary&);
bool read_cluster(const JsonNode&, Catalog&, Cluster&);
// What stands beside "base" is laid over that cluster as a JSON merge patch (RFC 7386). A node's device is taken as a whole.
bool read_changed_cluster(const JsonNode&, Catalog&, Cluster&);

// Reads any profile, whichever its schema, and adds every problem. Returns its schema, empty when it has none.
std::string check_profile(Catalog&, const JsonNode&);
std::string check_profile(Catalog&, const std::filesystem::path&, Diagnostics&);

// A table of latencies as somebody printed it, with what the printed numbers mean.
struct ReferenceLatencies {
    struct Row {
        std::string what, time, instructions;  // as printed
        Seconds low, high;
        double instructions_low = 0, instructions_high = 0;
        std::string erratum;  // empty when the columns agree
    };
    std::string title;
    std::vector<std::string> columns;
    Frequency cpu_clock;
    std::string source, notes;
    std::vector<Row> rows;
};
bool read_reference_latencies(const JsonNode&, ReferenceLatencies&);
ReferenceLatencies load_reference_latencies(const Catalog&, Diagnostics&);

void read_usual_hardware(const JsonNode&, UsualHardware&);
// The catalogue's own, or the bundled one.
UsualHardware load_usual_hardware(const Catalog&, Diagnostics&);

}  // namespace sextant
