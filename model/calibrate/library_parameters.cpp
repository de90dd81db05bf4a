#include "model/calibrate/parameter_range.hpp"

#include <algorithm>
#include <type_traits>

namespace sextant {
namespace {

// How far from what the profile says a fit may look.
constexpr double search_factor = 8;

// The numbers of one library, each named by its place in the profile.
class LibraryParameters {
public:
    explicit LibraryParameters(const CommunicationLibrary& library) { machine_.library = library; }

    std::vector<ProfileParameter> all() && {
        const CommunicationLibrary& l = machine_.library;
        if (l.messages) add_messages();
        for (std::size_t i = 0; i < l.protocols.size(); ++i) add_protocol(i, l.protocols[i], l.messages.has_value());
        return std::move(list_);
    }

private:
    template <class Place>
    void add(std::string pointer, std::string title, Place place) {
        constexpr ParameterRange<double> around_now{.least = 0, .most = 0, .spread = unsure};
        ProfileParameter p = parameter(std::move(pointer), ParameterOwner::library, around_now, place);
        p.title = std::move(title);
        const double now = p.get(machine_);
        const bool is_fraction = std::is_same_v<std::remove_cvref_t<decltype(place(machine_).value)>, double>;
        p.least = now / search_factor;
        p.most = is_fraction ? std::min(1.0, now * search_factor) : now * search_factor;
        list_.push_back(std::move(p));
    }

    void add_messages() {
        const auto message = [&](const char* name, const char* title, auto member) {
            add(
                std::string("/messages/") + name, title, [member](auto& s) -> auto& { return (*s.library.messages).*member; });
        };
        message("inside", "latency of a message inside a node", &MessagePassing::inside);
        message("across", "latency of a message between nodes", &MessagePassing::across);
        message("combine", "rate at which a process reduces", &MessagePassing::combine);
        message("post", "time to post a segment", &MessagePassing::post);
        message("copy", "rate of copying a segment", &MessagePassing::copy);
        message("staging_call", "start-up of staging through the host", &MessagePassing::staging_call);
        message("staging", "rate of staging through the host", &MessagePassing::staging);
        message("device_eager", "start-up of an eager message from a device", &MessagePassing::device_eager);
        message("device_reads", "rate of reading device memory", &MessagePassing::device_reads);
        message("device_rendezvous", "start-up of a rendezvous message from a device", &MessagePassing::device_rendezvous);
    }

    // `of_messages`: nothing else says what its messages reach of a link.
    void add_protocol(std::size_t i, const Protocol& p, bool of_messages) {
        const auto add_number = [&](const char* name, const char* title, auto member) {
            add(
                "/protocols/" + std::to_string(i) + "/" + name, p.name + ": " + title,
                [ i, member ](auto& s) -> auto& { return stated(s.library.protocols[i].*member); });
        };
        if (of_messages) add_number("bandwidth_fraction", "bandwidth achieved, fraction of the link's", &Protocol::bandwidth_fraction);
        add_number("base", "start-up of a call", &Protocol::base);
        if (p.inside_fraction) add_number("inside_fraction", "bandwidth inside a node, fraction of the link's", &Protocol::inside_fraction);
        if (p.channel_start) add_number("channel_start", "start-up of a channel", &Protocol::channel_start);
        if (p.channel_bandwidth.value > Bandwidth{})
            add_number("channel_bandwidth", "bandwidth of a channel", &Protocol::channel_bandwidth);
    }

    Scenario machine_;
    std::vector<ProfileParameter> list_;
};

}  // namespace

std::vector<ProfileParameter> library_parameters(const CommunicationLibrary& l) { return LibraryParameters(l).all(); }

}  // namespace sextant
