#include "model/sextant.hpp"

#include "model/io/framework_reader.hpp"
#include "model/io/profile_reader.hpp"

namespace sextant {

Library open_library(const std::filesystem::path& profiles) {
    Library library;
    library.catalog = open_catalog(find_data_root(profiles));
    library.root = library.catalog.root.parent_path();
    return library;
}

ScenarioSources sources(Library& library, Diagnostics& diagnostics) {
    ScenarioSources s;
    s.workload = [](std::string_view name) { return find_workload(name); };
    Catalog& catalog = library.catalog;
    s.cluster = [&catalog](const JsonNode& n) {
        Cluster value;
        read_cluster_reference(n, catalog, value);
        return value;
    };
    s.device = [&catalog](const JsonNode& n) {
        Device value;
        read_device_reference(n, catalog, value);
        return value;
    };
    s.link = [&catalog](const JsonNode& n) {
        LinkType value;
        read_link_reference(n, catalog, value);
        return value;
    };
    s.storage = [&catalog](const JsonNode& n) {
        StorageClass value;
        read_storage_reference(n, catalog, value);
        return value;
    };
    s.framework = [&library](const JsonNode& n) {
        return load_framework(n, library.root);
    };
    s.library = [&catalog, &diagnostics](std::string_view name, const JsonNode& n) {
        const CommunicationLibrary* found = find_library(catalog, name, diagnostics, {*n.file, n.pointer});
        return found ? *found : CommunicationLibrary{};
    };
    return s;
}

Scenario load_scenario(Library& library, const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    Diagnostics diagnostics;
    JsonFile file = JsonFile::load(path, diagnostics);
    diagnostics.throw_if_any();
    for (const std::string& o : overrides) file.set(o);
    Scenario scenario = read_scenario(file, sources(library, diagnostics), diagnostics);
    diagnostics.throw_if_any();
    return scenario;
}

Report predict(const Scenario& scenario) { return make_report(prepare(scenario)); }

}  // namespace sextant
