// Finds which layers of a config are of which kind, and the shortest pattern that says so.
#include "core/io/hf_families.h"
#include "core/model/layer_types.h"
#include "core/model/model.h"
#include "core/plan/plan_fields.h"

#include <algorithm>

namespace pentamesh::hf {
namespace {

// Returns the runs of one period.
std::vector<LayerRun> runs_of(const Layers& layers) {
    constexpr std::size_t kMostSearched = 4096;  // beyond these layers no period is looked for
    std::size_t period = layers.size() > kMostSearched ? layers.size() : 1;
    const auto repeats = [&](std::size_t p) {
        for (std::size_t i = p; i < layers.size(); ++i)
            if (!(layers[i] == layers[i - p])) return false;
        return true;
    };
    while (!repeats(period)) ++period;
    std::vector<LayerRun> runs;
    for (std::size_t i = 0; i < period; ++i) {
        LayerRun one = layers[i];
        if (!runs.empty()) {
            one.count = runs.back().count;
            if (one == runs.back()) {
                ++runs.back().count;
                continue;
            }
            one.count = 1;
        }
        runs.push_back(one);
    }
    return runs;
}

bool says_the_same(const Model& m, const Layers& layers) {
    const MixerKind kind = m.sliding_window > 0 ? MixerKind::window : MixerKind::full;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool moe = is_moe_layer(m, static_cast<std::int64_t>(i));
        if (!(layers[i] == LayerRun{kind, moe ? LayerFfn::moe : LayerFfn::dense})) return false;
    }
    return true;
}

struct Word {
    std::string_view word;
    MixerKind kind;
};
// Chunked attention of Llama 4 meets at most as many keys as a window of that size.
constexpr std::array<Word, 9> kWords{{{"full_attention", MixerKind::full},
                                      {"attention", MixerKind::full},
                                      {"sliding_attention", MixerKind::window},
                                      {"chunked_attention", MixerKind::window},
                                      {"linear_attention", MixerKind::linear},
                                      {"conv", MixerKind::linear},
                                      {"short_conv", MixerKind::linear},
                                      {"mamba", MixerKind::mamba},
                                      {"hybrid", MixerKind::full}}};

}  // namespace

Layers plain_layers(const Model& m) {
    Layers layers(static_cast<std::size_t>(m.layers));
    set_ffn(layers, [&](std::int64_t i) { return is_moe_layer(m, i); });
    return layers;
}

std::vector<nlohmann::json> per_layer(const Fields& f, std::string_view name, std::int64_t layers) {
    const nlohmann::json* v = f.find(name);
    if (!v) return {};
    if (!v->is_array()) f.fail(name, "found " + shown_json(*v) + ", must be a list");
    if (static_cast<std::int64_t>(v->size()) < layers)
        f.fail(name, "lists " + std::to_string(v->size()) + " layers of " + std::to_string(layers));
    return {v->begin(), v->begin() + layers};
}

bool read_layer_types(const Fields& f, Layers& layers, std::string_view name) {
    const auto words = per_layer(f, name, static_cast<std::int64_t>(layers.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i].is_string() ? words[i].get<std::string>() : std::string();
        const auto known =
            std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.word == word; });
        if (known == kWords.end())
            f.fail(name, "layer " + std::to_string(i) + " is " + shown_json(words[i])
                             + ", a kind of layer that a plan cannot state");
        layers[i].kind = known->kind;
    }
    return !words.empty();
}

void slide_all_but(Layers& layers, std::int64_t every) {
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].kind =
            (static_cast<std::int64_t>(i) + 1) % every == 0 ? MixerKind::full : MixerKind::window;
}

void set_layers(const Fields& f, Model& m, const Layers& layers) {
    m.pattern.clear();
    const bool windows = std::any_of(layers.begin(), layers.end(),
                                     [](const LayerRun& l) { return l.kind == MixerKind::window; });
    if (!windows) m.sliding_window = 0;
    if (windows && m.sliding_window == 0)
        f.fail("sliding_window", "is missing, but there are layers with a window");
    if (says_the_same(m, layers)) return;
    m.pattern = runs_of(layers);
    if (m.pattern.size() > kMostRuns)
        f.fail("num_hidden_layers", "its layers make " + std::to_string(m.pattern.size())
                                        + " runs, a plan holds at most " + std::to_string(kMostRuns));
    if (!layer_types(m).complete)
        f.fail("num_hidden_layers", "its layers are of more kinds than the " + std::to_string(kMostLayerTypes)
                                        + " that a plan can hold");
    if (m.moe) m.moe->first_dense_layers = 0, m.moe->every = 1;  // the pattern says which
}

void qwen_sparse_layers(const Fields& f, Model& m) {
    const std::int64_t step = f.or_else("decoder_sparse_step", 1, 1, Fields::kMostLayers);
    m.moe->every = step;
    const nlohmann::json* only = f.find("mlp_only_layers");
    if (!only) return;
    if (!only->is_array()) f.fail("mlp_only_layers", "found " + shown_json(*only) + ", must be a list");
    std::vector<bool> dense(static_cast<std::size_t>(m.layers));
    for (const nlohmann::json& v : *only) {
        if (!v.is_number_integer() || v.get<std::int64_t>() < 0 || v.get<std::int64_t>() >= m.layers)
            f.fail("mlp_only_layers",
                   "found " + shown_json(v) + ", must be layers from 0 to " + std::to_string(m.layers - 1));
        dense[v.get<std::int64_t>()] = true;
    }
    // A number says how many dense layers come before all others; a pattern says any other order.
    std::int64_t first = 0;
    while (first < m.layers / step * step && dense[first + step - 1]) first += step;
    m.moe->first_dense_layers = first;
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return (i + 1) % step == 0 && !dense[i]; });
    if (m.sliding_window > 0)
        for (LayerRun& l : layers) l.kind = MixerKind::window;
    set_layers(f, m, layers);
}

void deepseek_sparse_layers(const Fields& f, Model& m) {
    const std::int64_t first = f.or_else("first_k_dense_replace", 0, 0),
                       freq = f.or_else("moe_layer_freq", 1, 1, Fields::kMostLayers);
    if (first > m.layers)
        f.fail("first_k_dense_replace",
               std::to_string(first) + " is more than num_hidden_layers = " + std::to_string(m.layers));
    const std::int64_t first_moe = (first + freq - 1) / freq * freq;
    if (first_moe + 1 >= freq) {
        m.moe->first_dense_layers = first_moe + 1 - freq;
        m.moe->every = freq;
        return;
    }
    Layers layers = plain_layers(m);
    set_ffn(layers, [&](std::int64_t i) { return i >= first && i % freq == 0; });
    set_layers(f, m, layers);
}

void dense_before(const Fields& f, std::string_view name, Model& m, std::int64_t otherwise) {
    const std::int64_t first = f.or_else(name, otherwise, 0);
    if (first > m.layers)
        f.fail(name, std::to_string(first) + " is more than num_hidden_layers = " + std::to_string(m.layers));
    m.moe->first_dense_layers = first;
}

}  // namespace pentamesh::hf
