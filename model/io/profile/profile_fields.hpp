// Shared by readers and writers of profiles: fields with their plausible bounds, sources of numbers, all of a profile or nothing.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/io/format/json_reader.hpp"

namespace sextant {

// Outside of these a number is a slip of the unit or of the keyboard, in SI.
namespace plausible {
inline constexpr Bounds memory{1e6, 1e17};
inline constexpr Bounds bandwidth{1e5, 1e17};
inline constexpr Bounds compute_rate{1e6, 1e20};
inline constexpr Bounds clock{1e6, 1e12};
inline constexpr Bounds latency{0, 100};
inline constexpr Bounds operation_rate{1e-3, 1e12};
inline constexpr Bounds power{0.01, 1e7};
inline constexpr Bounds price{0, 100};  // USD per second
inline constexpr Bounds part{1e-4, 1};  // a fraction that must not be zero
inline constexpr Bounds retention{1, 1e10};
inline constexpr Bounds devices_of_node{1, 1024};
}  // namespace plausible

// What a field is called where people write it, and where programs do, with its unit.
struct ProfileKey {
    const char *profile, *facts;
};

// The numbers of a part of a profile: reader and writer walk the same tables, so that what one writes the other reads.
template <class Visit>
void device_fields(const Visit& visit) {
    using T = Device;
    visit({"clock", "clock_hz"}, &T::clock, plausible::clock);
    visit({"sustained_clock", "sustained_clock"}, &T::sustained_clock, plausible::part);
    visit({"clock_alone", "clock_alone"}, &T::clock_alone, Bounds{1, 2});
    visit({"memory", "memory_bytes"}, &T::memory, plausible::memory);
    visit({"usable_memory", "usable_memory_bytes"}, &T::usable_memory, plausible::memory);
    visit({"memory_bandwidth", "memory_bandwidth_bytes_per_s"}, &T::memory_bandwidth, plausible::bandwidth);
    visit({"stream_fraction", "stream_fraction"}, &T::stream_fraction, plausible::part);
    visit({"bandwidth_alone", "bandwidth_alone"}, &T::bandwidth_alone, Bounds{1, 1024});
    visit({"load_latency", "load_latency_s"}, &T::load_latency, plausible::latency);
    visit({"attention_forward", "attention_forward_fraction"}, &T::attention_forward, plausible::part);
    visit({"attention_backward", "attention_backward_fraction"}, &T::attention_backward, plausible::part);
    visit({"l2", "l2_bytes"}, &T::l2, Bounds{1, 1e12});
    visit({"cache_bandwidth", "cache_bandwidth_bytes_per_s"}, &T::cache_bandwidth, plausible::bandwidth);
    visit({"shared_cache", "shared_cache_bytes"}, &T::shared_cache, Bounds{1, 1e12});
    visit({"shared_cache_bandwidth", "shared_cache_bandwidth_bytes_per_s"}, &T::shared_cache_bandwidth, plausible::bandwidth);
    visit({"exponential", "exponential_s"}, &T::exponential, Bounds{1e-13, 1e-6});
    visit({"convolution", "convolution_fraction"}, &T::convolution, Bounds{0.01, 10});
    visit({"tf32_across_one", "tf32_across_one_fraction"}, &T::tf32_across_one, plausible::part);
    visit({"tf32_across_both", "tf32_across_both_fraction"}, &T::tf32_across_both, plausible::part);
    visit({"kernel_overhead", "kernel_overhead_s"}, &T::kernel_overhead, plausible::latency);
    visit({"graph_kernel_overhead", "graph_kernel_overhead_s"}, &T::graph_kernel_overhead, plausible::latency);
    visit({"call_start", "call_start"}, &T::call_start, Bounds{0.1, 10});
    visit({"call_step", "call_step"}, &T::call_step, Bounds{0.1, 10});
    visit({"power", "power_w"}, &T::power, plausible::power);
    visit({"idle_power", "idle_power_w"}, &T::idle_power, plausible::power);
    visit({"price", "price_usd_per_s"}, &T::price, plausible::price);
}
template <class Visit>
void storage_fields(const Visit& visit) {
    using T = StorageClass;
    visit({"open_latency", "open_latency_s"}, &T::open_latency, plausible::latency);
    visit({"seek_latency", "seek_latency_s"}, &T::seek_latency, plausible::latency);
    visit({"create_latency", "create_latency_s"}, &T::create_latency, plausible::latency);
    visit({"remove_latency", "remove_latency_s"}, &T::remove_latency, plausible::latency);
    visit({"remove_unwritten_latency", "remove_unwritten_latency_s"}, &T::remove_unwritten_latency, plausible::latency);
    visit({"read_bandwidth", "read_bytes_per_s"}, &T::read_bandwidth, plausible::bandwidth);
    visit({"write_bandwidth", "write_bytes_per_s"}, &T::write_bandwidth, plausible::bandwidth);
    visit({"random_read_bandwidth", "random_read_bytes_per_s"}, &T::random_read_bandwidth, plausible::bandwidth);
    visit({"read_ahead", "read_ahead_bytes"}, &T::read_ahead, Bounds{4096, 1e10});
    visit({"random_read_rate", "random_reads_per_s"}, &T::random_read_rate, plausible::operation_rate);
    visit({"metadata_rate", "metadata_operations_per_s"}, &T::metadata_rate, plausible::operation_rate);
    visit({"create_rate", "creates_per_s"}, &T::create_rate, plausible::operation_rate);
    visit({"client_read_bandwidth", "client_read_bytes_per_s"}, &T::client_read_bandwidth, plausible::bandwidth);
    visit({"client_write_bandwidth", "client_write_bytes_per_s"}, &T::client_write_bandwidth, plausible::bandwidth);
    visit({"total_read_bandwidth", "total_read_bytes_per_s"}, &T::total_read_bandwidth, plausible::bandwidth);
    visit({"total_write_bandwidth", "total_write_bytes_per_s"}, &T::total_write_bandwidth, plausible::bandwidth);
    visit({"capacity", "capacity_bytes"}, &T::capacity, plausible::memory);
}
template <class Visit>
void sample_speed_fields(const Visit& visit) {
    using T = SampleSpeeds;
    visit({"decode_jpeg", "decode_jpeg_bytes_per_s"}, &T::decode_jpeg, plausible::bandwidth);
    visit({"decode_png", "decode_png_bytes_per_s"}, &T::decode_png, plausible::bandwidth);
    visit({"encode_jpeg", "encode_jpeg_bytes_per_s"}, &T::encode_jpeg, plausible::bandwidth);
    visit({"encode_png", "encode_png_bytes_per_s"}, &T::encode_png, plausible::bandwidth);
    visit({"resize", "resize_bytes_per_s"}, &T::resize, plausible::bandwidth);
    visit({"convert", "convert_bytes_per_s"}, &T::convert, plausible::bandwidth);
}
template <class Visit>
void format_speed_fields(const Visit& visit) {
    using T = FormatSpeed;
    visit({"read", "read_s"}, &T::read, plausible::latency);
    visit({"read_bytes", "read_bytes_per_s"}, &T::read_bytes, plausible::bandwidth);
    visit({"write", "write_s"}, &T::write, plausible::latency);
    visit({"write_bytes", "write_bytes_per_s"}, &T::write_bytes, plausible::bandwidth);
}
// All of them must be stated.
template <class Visit>
void message_passing_fields(const Visit& visit) {
    using T = MessagePassing;
    visit({"inside", "inside_s"}, &T::inside, plausible::latency);
    visit({"across", "across_s"}, &T::across, plausible::latency);
    visit({"wire_in_across", "wire_in_across_s"}, &T::wire_in_across, plausible::latency);
    visit({"combine", "combine_bytes_per_s"}, &T::combine, plausible::bandwidth);
    visit({"post", "post_s"}, &T::post, plausible::latency);
    visit({"copy", "copy_bytes_per_s"}, &T::copy, plausible::bandwidth);
    visit({"staging_call", "staging_call_s"}, &T::staging_call, plausible::latency);
    visit({"staging", "staging_bytes_per_s"}, &T::staging, plausible::bandwidth);
    visit({"device_eager", "device_eager_s"}, &T::device_eager, plausible::latency);
    visit({"device_reads", "device_reads_bytes_per_s"}, &T::device_reads, plausible::bandwidth);
    visit({"device_eager_up_to", "device_eager_up_to_bytes"}, &T::device_eager_up_to, positive);
    visit({"device_rendezvous", "device_rendezvous_s"}, &T::device_rendezvous, plausible::latency);
    visit({"doubling_below", "doubling_below_bytes"}, &T::doubling_below, positive);
}

// `"kind"` and `"source"` of an object: what its numbers inherit. Without them: estimated, "stated in <file>".
void read_default_source(ObjectReader&, const Provenance& outer = {});

// All of an object or nothing: `fields` reads it into what begins as `start`, which takes the place of `out` where nothing is wrong.
template <class Profile, class Fields>
bool read_whole(const JsonNode& n, const Provenance& outer, Profile& out, const Fields& fields, Profile start = {}) {
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    {
        ObjectReader r(n);
        read_default_source(r, outer);
        fields(r, start);
    }  // which complains about keys that are not known
    if (n.diagnostics->list().size() != problems) return false;
    out = std::move(start);
    return true;
}

}  // namespace sextant
