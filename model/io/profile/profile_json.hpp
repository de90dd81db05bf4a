// Profiles as JSON, in the two forms that there are. Internal to the writer of profiles.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/sourced_json.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>

namespace sextant {

using ProfileJson = nlohmann::ordered_json;

// Facts are for programs: SI numbers with the unit in the key. A profile reads back: quantities as people write them, and no more than is
// known.
enum class ProfileForm { facts, profile };

inline ProfileJson value_of(double number, ProfileForm) { return number; }
template <int B, int F, int S, int J, int M>
ProfileJson value_of(Quantity<B, F, S, J, M> q, ProfileForm form) {
    return form == ProfileForm::facts ? ProfileJson(q.si()) : profile_value(q);
}

// An object in the making.
class ProfileObject {
public:
    explicit ProfileObject(ProfileForm form, ProfileJson start = ProfileJson::object()) : form_(form), out_(std::move(start)) {}

    template <class T>
    void number(ProfileKey key, const Sourced<T>& n) {
        out_[name_of(key)] = sourced_json(n, value_of(n.value, form_));
    }
    template <int B, int F, int S, int J, int M>
    void number(ProfileKey key, Quantity<B, F, S, J, M> q) {
        out_[name_of(key)] = value_of(q, form_);
    }
    template <class T>
    void number(ProfileKey key, const std::optional<T>& n) {
        if (n) number(key, *n);
    }
    // Zero is not known.
    template <class T>
    void known(ProfileKey key, const Sourced<T>& n) {
        if (form_ == ProfileForm::facts || n.value != T{}) number(key, n);
    }
    // The same of a number whose bounds leave zero out.
    template <class T>
    void within(Bounds bounds, ProfileKey key, const Sourced<T>& n) {
        bounds.low > 0 ? known(key, n) : number(key, n);
    }
    template <class T>
    void within(Bounds, ProfileKey key, const std::optional<T>& n) {
        number(key, n);
    }
    void text(const char* key, const std::string& text) {
        if (form_ == ProfileForm::facts || !text.empty()) out_[key] = text;
    }
    void put(const char* key, ProfileJson value) { out_[key] = std::move(value); }
    void put(ProfileKey key, ProfileJson value) { out_[name_of(key)] = std::move(value); }
    [[nodiscard]] bool facts() const { return form_ == ProfileForm::facts; }
    [[nodiscard]] ProfileForm form() const { return form_; }
    ProfileJson take() { return std::move(out_); }

private:
    [[nodiscard]] const char* name_of(ProfileKey key) const { return facts() ? key.facts : key.profile; }

    ProfileForm form_;
    ProfileJson out_;
};

ProfileJson with_schema(const char* schema, ProfileJson&& body);

ProfileJson json_of(const LinkType&, ProfileForm);
ProfileJson json_of(const StorageClass&, ProfileForm);
ProfileJson json_of(const Device&, ProfileForm);
ProfileJson json_of(const SampleSpeeds&, ProfileForm);
ProfileJson json_of(const Cluster&, ProfileForm);
ProfileJson json_of(const CommunicationLibrary&, ProfileForm);

}  // namespace sextant
