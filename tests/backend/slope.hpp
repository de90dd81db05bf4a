// How fast the loss rises along the gradient: measured, by moving parameters along it and back, and as the gradient says.
#pragma once

#include "tests/backend/whole_network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant {

class Slope {
public:
    // `others`: what losses of other blocks than the last weigh.
    Slope(ComputeDevice&, WholeNetwork&, WholeNetwork::Data, double others = 0);
    [[nodiscard]] std::size_t size() const { return list_.size(); }
    [[nodiscard]] const std::string& name(std::size_t i) const { return list_[i].name; }
    // Of the gradient of parameters first .. last - 1 together: how fast the loss should rise along it.
    [[nodiscard]] double norm(std::size_t first, std::size_t last) const;
    // How fast it does, over so long a way to both sides.
    double measure(std::size_t first, std::size_t last, double way);

private:
    struct Parameter {
        std::string name;
        Array weights;
        std::vector<float> begin, gradient;
    };
    double loss_at(std::size_t first, std::size_t last, double factor);

    ComputeDevice& device_;
    WholeNetwork& network_;
    WholeNetwork::Data data_;
    double others_;
    std::vector<Parameter> list_;
};

// Of a network of the catalogue, for all its parameters at once.
void expect_gradient_of_all_parameters(const std::string& name, std::int64_t image_px, std::int64_t samples);

}  // namespace sextant
