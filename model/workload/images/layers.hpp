// Layers of networks on images, with their shapes worked out, and the blocks they are grouped into. Internal to model/workload.
//
// Under tensor parallelism a layer with weights is cut by output channel and leaves its image cut: each device holds some of the
// channels. Layers that treat channels one by one (batch normalization, pooling, activations, grouped convolutions) work on what the
// device has; a convolution that reads all channels gathers them first. A linear layer on a cut image is cut by input instead and sums
// its output, so that two in a row need one exchange (Megatron-LM, arXiv 1909.08053 section 3). docs/model/convolutional_networks.md.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/network.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

// An activation of one micro-batch. A vector of features is an image of one pixel.
struct Image {
    TensorId id{};
    std::int64_t channels = 1, height = 1, width = 1;  // of the whole image
    bool cut = false;                                  // this device holds channels / tp of the channels
    bool summed = false;  // partial gradients need no exchange here: one further up adds them, or this is the data
    bool needed = false;  // between blocks: the operator that wrote it needs it in backward

    friend bool operator==(const Image&, const Image&) = default;
};
Image flatten(Image);  // the same elements as features: costs nothing
// All but the first pixels of a line: a view, which costs nothing.
Image other_tokens(Image line, std::int64_t first = 1);

struct ConvLayer {
    std::int64_t out_channels = 1;
    std::int64_t kernel = 1, stride = 1;
    std::optional<std::int64_t> padding{};   // none: half of what a window reaches beyond a pixel, which keeps the size at stride 1
    std::optional<std::int64_t> kernel_w{};  // none: square
    std::int64_t groups = 1;
    bool bias = false;
    std::int64_t dilation = 1;
};

struct PoolLayer {
    PoolingKind kind = PoolingKind::max;
    std::int64_t kernel = 3, stride = 2, padding = 0;
    bool round_up = false;  // a last window that is only partly inside counts
};

// What makes images smaller.
enum class Reduction { strides, averages, blurs };

// What is added to the scores of two pixels for where they stand in their window: looked up, or made by a small perceptron.
enum class PositionBias { none, table, perceptron };

// Which of the products that make queries, keys and values have biases.
enum class ProjectionBias { all, not_keys, none };

struct AttentionLayer {
    std::int64_t heads = 1;
    std::int64_t window_px = 0;  // among the px x px pixels of each window; 0: of the whole image
    bool shifted = false;        // windows half of that further (arXiv 2103.14030, section 3.2)
    bool spread = false;         // "windows" of pixels that lie evenly over the image (arXiv 2204.01697, section 3.2)
    PositionBias position_bias = PositionBias::none;
    std::int64_t position_rows = 0;  // of its table; 0: one for each distance of two pixels in a window
    bool by_cosine = false;          // scores are cosines, times a learned factor for each head (arXiv 2111.09883, section 3.2)
    std::int64_t shrink = 1;         // keys and values are of the image so many times smaller (arXiv 2102.12122, section 3.3)
    ProjectionBias bias = ProjectionBias::all;
    bool project_bias = true;   // of the last product
    bool rotates = false;       // queries and keys, by where they stand (arXiv 2104.09864)
    bool norm_inside = false;   // a layer norm in front of the last product (arXiv 2210.06423, section 2.2)
    bool mixes_heads = false;   // products over all heads in front of the softmax and behind it (arXiv 2003.02436)
    std::optional<Image> of{};  // its keys and values, where those are not of the image itself
};

// "relu" ...; none for pointwise operators that are no activation function of one operand.
std::optional<std::string> activation_name(PointwiseKind);
void require_activation(Diagnostics&, std::string pointer, PointwiseKind);

// The largest side of an image: with the largest micro-batch, no count of pixels overflows.
inline constexpr std::int64_t largest_image_px = 16'384;

// Output extent of a sliding window: floor or ceil of (extent + 2 padding - kernel) / stride, plus one. Rounding up keeps the rule of
// Torch and Caffe that the last window starts inside the image or its left padding. None where not a single window fits.
std::optional<std::int64_t> window_count(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                                         bool round_up);

// What the layers of one network have in common.
struct LayerContext {
    Shard shard;
    std::string size_pointer;  // what to blame when a window does not fit
    Diagnostics problems{};
};

// The layers of one block. Each function adds operators and returns the image that they leave.
class Layers {
public:
    // `beside`: images that blocks before hand on, see below.
    Layers(LayerContext& context, Image input, std::vector<Image> beside = {});
    [[nodiscard]] Image input() const { return input_; }
    // Images that go past the blocks in between: from an encoder to its decoder. A block may read, add and remove some; those that are
    // there at its end go on to the next.
    [[nodiscard]] std::vector<Image>& beside() { return beside_; }
    [[nodiscard]] bool training() const { return context_.shard.training; }

    Image conv(const std::string& name, Image, ConvLayer);
    // Of filters that a pass shifts and scales before each use, to mean 0 and deviation 1 (arXiv 1903.10520); `scaled`: times a learned
    // gain of each.
    Image standardized_conv(const std::string& name, Image, const ConvLayer&, bool scaled = false);
    // To an image of that size, of which a convolution of these windows would make one of the size at hand. Padding none: none.
    Image transposed_conv(const std::string& name, Image, ConvLayer, std::int64_t height, std::int64_t width);
    Image linear(const std::string& name, Image, std::int64_t out, bool bias = true,
                 TensorRole role = TensorRole::activation);  // per pixel
    // Layer and RMS norms are over the channels of each pixel, group norms over `groups` parts of each sample. `shifts`: what it scaled.
    Image norm(const std::string& name, Image, NormKind kind = NormKind::batch, std::int64_t groups = 1, bool shifts = true);
    Image norm_without_weights(const std::string& name, Image);  // of the channels of each pixel, neither scaled nor shifted
    Image conv_norm(const std::string& name, Image x, ConvLayer c) { return norm(name + ".bn", conv(name, x, c)); }
    Image conv_norm_relu(const std::string& name, Image x, ConvLayer c) { return relu(conv_norm(name, x, c)); }
    Image norm_relu_conv(const std::string& name, Image x, ConvLayer c) { return conv(name, relu(norm(name + ".bn", x)), c); }
    Image activation(Image, PointwiseKind kind, bool in_place = false);
    Image relu(Image x) { return activation(x, PointwiseKind::relu); }
    // Nothing outside training. As much as in AlexNet (NIPS 2012), section 4.2, and VGG (arXiv 1409.1556), section 3.1, unless told.
    Image dropout(Image, double fraction = 0.5);
    Image pool(const std::string& name, Image, PoolLayer);
    Image pad(const std::string& name, Image, std::int64_t pixels);   // around the image, by zeros or what lies inside
    Image global_pool(Image);                                         // average over pixels
    Image blur(const std::string& name, Image, std::int64_t stride);  // by fixed filters of 3x3 (arXiv 1904.11486)
    Image average_pool_to(Image, std::int64_t px);                    // adaptive; nothing where the image has that size
    Image add(const std::string& name, Image, Image);
    Image gate(const std::string& name, Image, Image factor);  // times one factor per channel, or per element
    Image scale(const std::string& name, Image);               // image times one learned factor per channel
    Image scale_and_shift(const std::string& name, Image);     // ... plus one per channel
    Image scale_whole(const std::string& name, Image);         // image times one learned factor
    Image shift_whole(const std::string& name, Image);         // image plus one learned number
    Image times(Image, double factor);
    Image standing_for(const std::string& what, Image);  // the operator that wrote it: see Operator::stands_for
    // Squeeze and excitation (arXiv 1709.01507): a factor for each channel from the averages of all of them, by way of `squeezed` numbers.
    Image squeeze_excite(Image, std::int64_t squeezed, PointwiseKind kind);
    // Efficient channel attention (arXiv 1910.03151): that factor is from the averages of the channels beside it, as many as the logarithm
    // of all of them suggests.
    Image weigh_by_neighbours(Image);
    Image concatenate(std::vector<Image>);
    Image attention(Image, const AttentionLayer&);
    Image sum_parts(const std::string& name, Image, std::int64_t parts);  // of the channels
    // The sum of the parts of the channels, each channel of each times a factor that is made of the averages of the plain sum by way of so
    // many hidden numbers: together 1 (arXiv 1903.06586, section 3.1), or a sigmoid of the only part.
    Image weigh_parts(Image, std::int64_t parts, std::int64_t hidden, bool bias, std::int64_t groups = 1);
    // Among channels, by how alike they are over all pixels (arXiv 2106.09681, section 3.2).
    Image channel_attention(Image, std::int64_t heads);
    // Per pixel to so many channels, GELU, and back. `prefix`: of the names of its layers.
    Image perceptron(Image, std::int64_t wide, const std::string& prefix = {});
    // Two products, or the halves of one if `packed`, of which SiLU of one multiplies the other (arXiv 2002.05202); and back.
    Image gated_perceptron(Image, std::int64_t wide, bool packed, bool norm_inside = false);
    // Attention, then a perceptron of four times the channels, each of the norm of what it is added to.
    Image attention_and_perceptron(Image, const AttentionLayer&);
    Image prepend(Image, std::int64_t tokens);  // learned vectors in front of the pixels, which become a line
    Image join(Image first, Image rest);        // pixels of both, one behind the other
    Image first_tokens(Image, std::int64_t count = 1);
    // Adds what a product makes of so many sinusoids of the coordinates (arXiv 2106.09681).
    Image fourier_positions(Image, std::int64_t waves);
    Image learned_query(Image like);                                             // a vector of as many channels
    Image positions(Image, std::int64_t tokens);                                 // adds a table of so many rows
    Image merge_pixels(Image);                                                   // four become one of four times the channels
    std::vector<Image> parts(Image, const std::vector<std::int64_t>& channels);  // copied apart, each so many
    std::pair<Image, Image> halves(Image);                                       // of the channels
    Image shuffle(Image);                                                        // channels change places
    // To the size of another, by repeating pixels or interpolating between them.
    Image enlarge(Image, const Image& like, PointwiseKind by = PointwiseKind::repeat, TensorRole role = TensorRole::activation);
    // Channels become pixels, of an image of that size, and pixels channels.
    Image transpose(Image, std::int64_t height, std::int64_t width);
    Image classifier(Image, std::int64_t classes);                           // linear, and the loss
    Image pixel_classifier(Image, std::int64_t classes, const Image& like);  // of each pixel of an image so large as another
    Image distilled_classifier(Image pair, std::int64_t classes);            // the mean of the logits of two vectors (arXiv 2012.12877)
    Image loss(Image logits);  // of each sample or pixel, in training; else the logits of all classes

    Image whole(Image);   // every device holds all channels, and works on them like every other
    Image shared(Image);  // the same for readers whose weights are cut: backward adds up their partial gradients

    OperatorGraph build(Image output) &&;

private:
    [[nodiscard]] std::int64_t channels_here(Image x) const { return x.cut ? x.channels / context_.shard.tensor : x.channels; }
    [[nodiscard]] double elements_here(Image) const;
    [[nodiscard]] std::vector<std::int64_t> shape_here(Image) const;
    [[nodiscard]] std::int64_t rows(Image) const;  // pixels of the micro-batch
    TensorId write(std::string name, OperatorKind, std::vector<TensorId> inputs, std::vector<std::int64_t> shape, double parameters = 0,
                   TensorRole role = TensorRole::activation);
    Image emit(std::string name, OperatorKind, std::vector<TensorId> inputs, Image out, double parameters = 0,
               TensorRole role = TensorRole::activation);
    Image exchange(std::string name, Image, Exchange, TensorRole role = TensorRole::activation);
    // Elements in other places; an empty order is one that no axes describe.
    Image rearrange(std::string name, Image from, Image to, std::vector<CopyAxis> order);
    Image roll(const std::string& name, Image, std::int64_t px);  // along both sides: what leaves at one end comes in at the other
    struct AttentionCore;
    void project_qkv(Image, const AttentionLayer&, AttentionCore&);
    TensorId mix_heads(const std::string& name, const AttentionCore&, TensorId scores);
    TensorId rotate(const std::string& name, const AttentionCore&, TensorId, std::int64_t count);
    TensorId fused_attention(const AttentionCore&);
    TensorId written_out_attention(const AttentionLayer&, AttentionCore);
    std::int64_t size_after(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool round_up);
    void require_cut(const char* what, std::int64_t extent);

    LayerContext& context_;
    OperatorGraphBuilder graph_;
    Image input_;
    std::vector<Image> beside_;
    std::map<TensorId, Image> shared_;
};

// A network block by block. Two blocks of one name that read alike are instances of one template: the name must say all else.
//
// A block begins at a layer with a matrix, or at the residual or module that it belongs to. Normalization, activation and pooling stay
// with the layer that they follow: no kernel that a framework fuses crosses a boundary.
class NetworkBuilder {
public:
    using Body = std::function<Image(Layers&, Image)>;

    NetworkBuilder(LayerContext context, Image data);
    void block(const std::string& name, BlockRole role, const Body& body);
    LayerContext& context() { return context_; }
    [[nodiscard]] Image image() const { return passing_.image; }  // what the next block reads
    Network build() &&;                                           // throws InputError with every problem

private:
    struct Passing {  // from one block to the next
        Image image;
        std::vector<Image> beside{};
        friend bool operator==(const Passing&, const Passing&) = default;
    };
    struct Made {
        std::string name;
        Passing in, out;
    };
    LayerContext context_;
    Passing passing_;
    std::vector<Made> made_;
    Network network_;
};

}  // namespace sextant
