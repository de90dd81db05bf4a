// `sextant profiles list | show NAME | check FILE`: what is known of hardware, and from where.
#include "cli/exit_code.hpp"
#include "model/base/spelling.hpp"
#include "model/io/profile_text.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace sextant {
namespace {

constexpr auto latencies_name = "reference-latencies";

struct ProfileOptions {
    std::string directory, format = "text", name, file;
};

Catalog catalog_of(const ProfileOptions& options) { return open_catalog(find_data_root(options.directory)); }

void list(const ProfileOptions& options) {
    Catalog catalog = catalog_of(options);
    const std::vector<std::pair<const char*, std::vector<std::string>>> kinds = {
        {"clusters", cluster_names(catalog)}, {"devices", device_names(catalog)},    {"links", link_names(catalog)},
        {"storage", storage_names(catalog)},  {"libraries", library_names(catalog)}, {"tables", {latencies_name}}};
    if (options.format == "json") {
        nlohmann::ordered_json out = {{"schema", "profile-list/1"}, {"directory", catalog.root.string()}};
        for (const auto& [kind, names] : kinds) out[kind] = names;
        std::cout << out.dump(2) << '\n';
        return;
    }
    for (const auto& [kind, names] : kinds) {
        std::cout << kind << '\n';
        for (const std::string& name : names) std::cout << "  " << name << '\n';
    }
}

std::string text_of_file(Catalog& catalog, const std::string& name) {
    Diagnostics problems;
    const std::string schema = check_profile(catalog, name, problems);
    problems.throw_if_any();
    if (schema == "device/1") return profile_text(*find_device(catalog, name, problems));
    if (schema == "cluster/1") return profile_text(*find_cluster(catalog, name, problems));
    if (schema == "library/1") return profile_text(*find_library(catalog, name, problems));
    throw InputError({name, "/schema", "\"" + schema + "\" holds several profiles", "show one of them by its name"});
}

// A profile that is there but broken says what is wrong with it; a name that no kind knows gets one message, not one per kind.
[[noreturn]] void explain_failure(Catalog& catalog, const std::string& name, const Diagnostics& problems) {
    std::vector<Diagnostic> in_files;
    for (const Diagnostic& d : problems.list())
        if (!d.file.empty()) in_files.push_back(d);
    if (!in_files.empty()) throw InputError(std::move(in_files));
    std::vector<std::string> known = {latencies_name};
    for (const auto& names :
         {cluster_names(catalog), device_names(catalog), link_names(catalog), storage_names(catalog), library_names(catalog)})
        known.insert(known.end(), names.begin(), names.end());
    std::string hint;
    for (const std::string& near : nearest_names(name, {known.begin(), known.end()}, 3))
        hint += (hint.empty() ? "did you mean \"" : "\", \"") + near;
    hint = hint.empty() ? "`sextant profiles list` names everything" : hint + "\"?";
    throw InputError({"", "", "nothing here is called \"" + name.substr(0, 80) + "\"", hint});
}

std::string text_of(Catalog& catalog, const std::string& name) {
    Diagnostics problems;
    if (slug_of(name) == latencies_name) {
        const ReferenceLatencies table = load_reference_latencies(catalog, problems);
        problems.throw_if_any();
        return profile_text(table);
    }
    if (name.ends_with(".json")) return text_of_file(catalog, name);
    if (const Device* d = find_device(catalog, name, problems)) return profile_text(*d);
    if (const Cluster* c = find_cluster(catalog, name, problems)) return profile_text(*c);
    if (const LinkType* l = find_link(catalog, name, problems)) return profile_text(*l);
    if (const StorageClass* s = find_storage(catalog, name, problems)) return profile_text(*s);
    if (const CommunicationLibrary* l = find_library(catalog, name, problems)) return profile_text(*l);
    explain_failure(catalog, name, problems);
}

void check(const ProfileOptions& options) {
    Catalog catalog = catalog_of(options);
    Diagnostics problems;
    const std::string schema = check_profile(catalog, options.file, problems);
    problems.throw_if_any();
    std::cout << options.file << ": a valid " << schema << '\n';
}

}  // namespace

void add_profiles(CLI::App& app, ExitCode& exit_code) {
    exit_code = ExitCode::done;
    auto* profiles = app.add_subcommand("profiles", "hardware that is known: devices, clusters, links, storage, libraries");
    const auto options = std::make_shared<ProfileOptions>();
    profiles->add_option("--profiles", options->directory, "directory of the profiles (default: $SEXTANT_PROFILES, or the bundled ones)");
    profiles->require_subcommand(1);

    auto* list_command = profiles->add_subcommand("list", "names of everything that is known");
    list_command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    list_command->callback([options] { list(*options); });

    auto* show_command = profiles->add_subcommand("show", "one profile, with the source of each number");
    show_command->add_option("name", options->name, "a name, an alias, or a .json file; reference-latencies for the table of latencies")
        ->required();
    show_command->callback([options] {
        Catalog catalog = catalog_of(*options);
        std::cout << text_of(catalog, options->name);
    });

    auto* check_command = profiles->add_subcommand("check", "reads a profile of your own and reports every problem");
    check_command->add_option("file", options->file, "a .json file")->required();
    check_command->callback([options] { check(*options); });
}

}  // namespace sextant
