#include "app/tables/software.h"

#include "core/base/text.h"
#include "core/plan/software.h"

#include <array>
#include <nlohmann/json.hpp>

namespace pentamesh {
namespace {

enum class FigureUnit : std::uint8_t { plain, bytes, factor, share, seconds };

struct FigureWords {
    std::string_view key, words;
    FigureUnit unit = FigureUnit::plain;
};
constexpr std::array<FigureWords, 29> kFigures{{
    {"loss_bytes", "bytes of a logit that live at once between head and loss"},
    {"loss_bytes_cut", "the same where tp cuts the vocabulary"},
    {"vocab_multiple", "the vocabulary is padded to a multiple of this times tp"},
    {"inputs_whole", "products keep their gathered input"},
    {"attention_copies", "tensors kept besides attention's output, as wide"},
    {"activation_apart", "the activation is kept beside its product"},
    {"selective_keeps", "kept under selective recomputation"},
    {"gradient_copy_bytes", "bytes of a 16-bit gradient beside the fp32 sum"},
    {"working_hidden", "16-bit hidden tensors that live at a layer's backward"},
    {"reserved", "reserved over allocated memory: low, middle, high", FigureUnit::factor},
    {"reserved_bytes", "reserved besides: low, middle, high", FigureUnit::bytes},
    {"context_bytes", "the driver's context and libraries: low, middle, high", FigureUnit::bytes},
    {"backward_layer", "gradients of a layer that runs again, over what is made again"},
    {"products", "rate of products, over Megatron's", FigureUnit::factor},
    {"grouped", "rate of the experts' grouped products, over Megatron's", FigureUnit::factor},
    {"attention", "rate of attention, over Megatron's", FigureUnit::factor},
    {"element_wise", "passes over memory of element-wise kernels, over fused ones", FigureUnit::factor},
    {"launches", "host time of launches, over Megatron's", FigureUnit::factor},
    {"graphs_layers", "of that, what CUDA graphs of each layer leave", FigureUnit::share},
    {"graphs_step", "of what a step takes besides, what a CUDA graph of an iteration leaves",
     FigureUnit::share},
    {"fp8_rowwise", "rate of fp8 products with a scale a row, over a scale a tensor", FigureUnit::factor},
    {"fp8_blockwise", "the same with scales of blocks of 128", FigureUnit::factor},
    {"fp8_mxfp8", "the same of MXFP8", FigureUnit::factor},
    {"tp_hidden", "share of what overlap of tp lets hide that does hide", FigureUnit::share},
    {"cp_hidden", "the same of cp", FigureUnit::share},
    {"dp_hidden", "the same of dp", FigureUnit::share},
    {"step_s", "once a step besides the GPU's", FigureUnit::seconds},
    {"ep_comm", "how tokens are exchanged where a plan does not say"},
    {"selective_share", "share of a layer's forward that selective recomputation repeats", FigureUnit::share},
}};

std::string figure_of(const nlohmann::json& value, FigureUnit unit) {
    if (value.is_array()) {
        std::string out;
        for (const nlohmann::json& v : value) out += (out.empty() ? "" : ", ") + figure_of(v, unit);
        return out.empty() ? "all but the attention core" : out;
    }
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    const double x = value.get<double>();
    switch (unit) {
    case FigureUnit::bytes: return memory_text(x);
    case FigureUnit::factor: return three_digits(x) + " x";
    case FigureUnit::share: return percent_text(x);
    case FigureUnit::seconds: return time_text(x);
    case FigureUnit::plain: break;
    }
    return three_digits(x);
}

}  // namespace

Table software_table(Software software) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::plain}, {"key"}, {"known by"}, {"source"}};
    for (const SoftwareFacts::Figure& f : facts_of(software).figures) {
        FigureWords words{f.key, f.key};
        for (const FigureWords& known : kFigures)
            if (known.key == f.key) words = known;
        t.rows.push_back({std::string(words.words), figure_of(nlohmann::json::parse(f.value), words.unit),
                          f.key, f.from != SoftwareFacts::Figure::From::source ? "fit" : "source", f.source});
    }
    return t;
}

}  // namespace pentamesh
