// `sextant profiles list [KIND] | show NAME | check FILE`: what is known of hardware, frameworks and models, and from where.
#include "cli/commands.hpp"
#include "model/base/spelling.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/profile/framework_reader.hpp"
#include "model/io/profile/framework_text.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <iostream>
#include <memory>
#include <vector>

namespace sextant {
namespace {

struct ProfileOptions {
    std::string directory, format = "text", name;
};

constexpr std::array listed_kinds{"clusters", "devices", "links", "storage", "libraries", "tables", "frameworks", "models"};

Catalog catalog_of(const ProfileOptions& options) { return open_catalog(find_data_root(options.directory)); }

template <class Profile>
std::string shown(const Profile& profile, const ProfileOptions& options) {
    return options.format == "json" ? profile_to_json(profile) : profile_to_text(profile);
}

std::string shown_file(Catalog& catalog, const ProfileOptions& options) {
    const std::string& name = options.name;
    Diagnostics problems;
    const std::string schema = check_profile(catalog, name, problems);
    problems.throw_if_any();
    if (schema == "device/1") return shown(*find_device(catalog, name, problems), options);
    if (schema == "cluster/1") return shown(*find_cluster(catalog, name, problems), options);
    if (schema == "library/1") return shown(*find_library(catalog, name, problems), options);
    if (schema == "storage/1")
        if (const StorageClass* s = find_storage(catalog, name, problems)) return shown(*s, options);
    throw InputError({name, "/schema", "\"" + schema + "\" holds several profiles", "show one of them by its name"});
}

// A profile that is there but broken says what is wrong with it; a name that no kind knows gets one message, not one per kind.
[[noreturn]] void explain_failure(Catalog& catalog, const std::string& name, const Diagnostics& problems) {
    std::vector<Diagnostic> in_files;
    for (const Diagnostic& d : problems.list())
        if (!d.file.empty()) in_files.push_back(d);
    if (!in_files.empty()) throw InputError(std::move(in_files));
    std::vector<std::string_view> known;
    const std::vector<NamesOfKind> kinds = all_names(catalog);
    for (const NamesOfKind& kind : kinds) known.insert(known.end(), kind.names.begin(), kind.names.end());
    const std::vector<std::string> frameworks = framework_names(library_root(catalog));
    known.insert(known.end(), frameworks.begin(), frameworks.end());
    const std::vector<std::string> models = workload_names();
    known.insert(known.end(), models.begin(), models.end());
    throw InputError({"", "", "nothing here is called \"" + name.substr(0, 80) + "\"", hint_for_profile(nearest_names(name, known, 3))});
}

// None where no framework is called so.
std::optional<std::string> shown_framework(const Catalog& catalog, const ProfileOptions& options) {
    Diagnostics unknown;
    const std::filesystem::path root = library_root(catalog);
    const Framework found = load_framework(options.name, root, unknown);
    if (found.name.empty()) return {};
    const std::filesystem::path file = root / "frameworks" / (found.name + ".json");
    if (options.format == "text") return framework_to_text(file);
    Diagnostics problems;
    auto text = read_text_file(file, problems);
    problems.throw_if_any();
    return text;
}

std::string shown_by_name(Catalog& catalog, const ProfileOptions& options) {
    const std::string& name = options.name;
    Diagnostics problems;
    if (slug_of(name) == reference_latencies_name) {
        const ReferenceLatencies table = load_reference_latencies(catalog, problems);
        problems.throw_if_any();
        return shown(table, options);
    }
    if (name.ends_with(".json")) return shown_file(catalog, options);
    if (const Device* d = find_device(catalog, name, problems)) return shown(*d, options);
    if (const Cluster* c = find_cluster(catalog, name, problems)) return shown(*c, options);
    if (const LinkType* l = find_link(catalog, name, problems)) return shown(*l, options);
    if (const StorageClass* s = find_storage(catalog, name, problems)) return shown(*s, options);
    if (const CommunicationLibrary* l = find_library(catalog, name, problems)) return shown(*l, options);
    if (const auto framework = shown_framework(catalog, options)) return *framework;
    if (const auto model = find_workload(name)) return write_workload(*model);
    explain_failure(catalog, name, problems);
}

void check(const ProfileOptions& options) {
    Catalog catalog = catalog_of(options);
    Diagnostics problems;
    const std::string schema = check_profile(catalog, options.name, problems);
    problems.throw_if_any();
    std::cout << options.name << ": a valid " << schema << '\n';
}

}  // namespace

void add_profiles(CLI::App& app, ExitCode& /*done, unless something is thrown*/) {
    auto* profiles = app.add_subcommand(
        "profiles", "list, show and check profiles of devices, clusters, links, storage, libraries, frameworks and models");
    const auto options = std::make_shared<ProfileOptions>();
    profiles->add_option("--profiles", options->directory, "directory of the profiles (default: $SEXTANT_PROFILES, or the bundled ones)");
    profiles->require_subcommand(1);

    const auto add_format = [&](CLI::App* command) {
        command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    };
    auto* list_command = profiles->add_subcommand("list", "list all profiles, or those of a kind, one line each");
    list_command->add_option("kind", options->name, "a kind of profiles alone")
        ->check(CLI::IsMember(std::vector<std::string>{listed_kinds.begin(), listed_kinds.end()}));
    add_format(list_command);
    list_command->fallthrough();
    list_command->callback([options] {
        Catalog catalog = catalog_of(*options);
        std::cout << (options->format == "json" ? profile_list_to_json(catalog, options->name)
                                                : profile_list_to_text(catalog, options->name));
    });

    auto* show_command = profiles->add_subcommand("show", "show one profile, with the source of each number");
    show_command->add_option("name", options->name, "a name, an alias or a .json file; reference-latencies for the table of latencies")
        ->required();
    add_format(show_command);
    show_command->fallthrough();
    show_command->callback([options] {
        Catalog catalog = catalog_of(*options);
        std::cout << shown_by_name(catalog, *options);
    });

    auto* check_command = profiles->add_subcommand("check", "check a profile of your own and report every problem");
    check_command->add_option("file", options->name, "a .json file")->required();
    check_command->fallthrough();
    check_command->callback([options] { check(*options); });
}

}  // namespace sextant
