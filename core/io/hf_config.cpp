#include "core/io/hf_config.h"

#include "core/base/nearest.h"
#include "core/io/hf_families.h"
#include "core/model/model.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace pentamesh {
namespace {

using hf::Family;
using hf::Fields;

// Describes a config with several parts: where the language model's part lies, and its type where the part
// does not name it.
struct Wrapper {
    std::string_view type, part, inner;
};
constexpr std::array<Wrapper, 27> kWrappers{{{"aya_vision", "text_config", "cohere2"},
                                             {"cohere2_vision", "text_config", "cohere2"},
                                             {"gemma3", "text_config", "gemma3_text"},
                                             {"gemma4", "text_config", "gemma4_text"},
                                             {"glm4v", "text_config", "glm4v_text"},
                                             {"glm4v_moe", "text_config", "glm4v_moe_text"},
                                             {"idefics3", "text_config", "llama"},
                                             {"internvl", "text_config", "qwen2"},
                                             {"internvl_chat", "llm_config", "qwen2"},
                                             {"kimi_k25", "text_config", "kimi_k2"},
                                             {"kimi_vl", "text_config", "deepseek_v3"},
                                             {"lfm2_vl", "text_config", "lfm2"},
                                             {"llama4", "text_config", "llama4_text"},
                                             {"llava", "text_config", "llama"},
                                             {"llava_next", "text_config", "mistral"},
                                             {"llava_onevision", "text_config", "qwen2"},
                                             {"mistral3", "text_config", "mistral"},
                                             {"qwen2_5_omni", "thinker_config", "qwen2"},
                                             {"qwen2_5_vl", "text_config", "qwen2"},
                                             {"qwen2_vl", "text_config", "qwen2"},
                                             {"qwen3_5", "text_config", "qwen3_5_text"},
                                             {"qwen3_5_moe", "text_config", "qwen3_5_moe_text"},
                                             {"qwen3_omni_moe", "thinker_config", "qwen3_moe"},
                                             {"qwen3_vl", "text_config", "qwen3"},
                                             {"qwen3_vl_moe", "text_config", "qwen3_moe"},
                                             {"smolvlm", "text_config", "llama"},
                                             {"step3p7", "text_config", "step3p5"}}};

struct Alias {
    std::string_view type, means;
};
constexpr std::array<Alias, 6> kAliases{{{"qwen2_5_omni_text", "qwen2"},
                                         {"qwen2_5_vl_text", "qwen2"},
                                         {"qwen2_vl_text", "qwen2"},
                                         {"qwen3_omni_moe_text", "qwen3_moe"},
                                         {"qwen3_vl_moe_text", "qwen3_moe"},
                                         {"qwen3_vl_text", "qwen3"}}};

// Names a family that no plan can state, and the fields that a plan would need for it.
struct Refused {
    std::string_view type, missing;
};
constexpr std::array<Refused, 22> kRefused{{
    {"bailing_hybrid", "its lightning layers beside latent attention"},
    {"bitnet", "norms inside attention and MLP"},
    {"bloom", "the norm after its embedding and ALiBi's positions"},
    {"deepseek_v4", "its compressed attention and hyper-connections"},
    {"ernie4_5_moe_vl", "experts for each kind of input"},
    {"ernie4_5_vl_moe", "experts for each kind of input"},
    {"gemma3n", "embeddings for each layer, AltUp and LAuReL"},
    {"gemma3n_text", "embeddings for each layer, AltUp and LAuReL"},
    {"hymba", "attention and Mamba in one head and meta tokens"},
    {"longcat_flash", "two attentions in a layer and experts that compute nothing"},
    {"longcat_flash_ngram", "two attentions in a layer, experts that compute nothing and n-gram tables"},
    {"mamba", "a model without attention: heads have no meaning"},
    {"mamba2", "a model without attention: heads have no meaning"},
    {"openelm", "a different number of heads in each layer"},
    {"phi4flash", "differential attention and shared keys over a distance"},
    {"phi4mini_flash", "differential attention and shared keys over a distance"},
    {"opt", "an MLP with ReLU"},
    {"recurrent_gemma", "its RG-LRU layers"},
    {"rwkv7", "its time mix"},
    {"step3", "attention whose queries are factored"},
    {"zamba2", "blocks that several layers share, with adapters"},
    {"zaya", "its compressed convolutional attention"},
}};

std::array<std::span<const Family>, 5> all_families() {
    return {hf::dense_families(), hf::moe_families(), hf::linear_families(), hf::mamba_families(),
            hf::uneven_families()};
}

const Family* find_family(std::string_view type) {
    for (const Alias& a : kAliases)
        if (a.type == type) type = a.means;
    for (const std::span<const Family> families : all_families())
        for (const Family& f : families)
            if (f.type == type) return &f;
    return nullptr;
}

[[noreturn]] void refuse_type(const Fields& f, const std::string& type) {
    for (const Refused& r : kRefused)
        if (r.type == type)
            f.fail("model_type", "\"" + type + "\" is a family that a plan cannot state: it has no field for "
                                     + std::string(r.missing));
    std::vector<std::string_view> near = hf_model_types();
    std::stable_sort(near.begin(), near.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(type, a) < edit_distance(type, b);
    });
    std::string text = "unknown model_type \"" + type + "\"; of the " + std::to_string(near.size())
                       + " known ones the closest are";
    for (const std::string_view known : {near[0], near[1], near[2]})
        text += (known == near[0] ? " " : ", ") + std::string(known);
    text += ". The file has these fields:";
    int shown = 0;
    for (const auto& item : f.object().items()) {
        text += (shown == 0 ? " " : ", ") + item.key().substr(0, 60);
        if (++shown == 60) {
            text += ", and more";
            break;
        }
    }
    f.fail("model_type", text);
}

std::string name_for(const Fields& f, const std::string& type) {
    const nlohmann::json* given = f.find("_name_or_path");
    if (given && given->is_string() && !given->get<std::string>().empty()) return given->get<std::string>();
    const std::filesystem::path file(f.path());
    std::string stem = file.stem().string();
    if (stem == "config") stem = file.parent_path().filename().string();
    return stem.empty() || stem == "-" || stem == "." ? type : stem;
}

// Holds the language model's part of a config and its type.
struct Part {
    nlohmann::json object;
    std::string prefix, type;
};
Part language_part(const Fields& top, const std::string& type) {
    Part part{top.object(), "", type};
    for (const Wrapper& w : kWrappers) {
        if (w.type != type) continue;
        const nlohmann::json* inner = top.find(w.part);
        if (inner && !inner->is_object()) top.fail(w.part, "must be an object");
        part.type = w.inner;
        if (!inner) break;  // newer and older files of a family: all in one
        part.prefix = "/" + std::string(w.part);
        if (w.part == "thinker_config" && inner->contains("text_config")
            && (*inner)["text_config"].is_object()) {
            part.prefix += "/text_config";
            part.object = (*inner)["text_config"];
        } else {
            part.object = *inner;
        }
        const Fields own(part.object, top, part.prefix);
        part.type = own.text("model_type", w.inner);
        // The switch that ties head and table may be outside the part.
        const nlohmann::json* tied = top.find("tie_word_embeddings");
        if (tied && !own.find("tie_word_embeddings")) part.object["tie_word_embeddings"] = *tied;
        break;
    }
    return part;
}

}  // namespace

bool is_hf_config(const nlohmann::json& value) {
    return value.is_object() && (value.contains("model_type") || value.contains("architectures"));
}

const std::vector<std::string_view>& hf_model_types() {
    static const std::vector<std::string_view> types = [] {
        std::vector<std::string_view> all;
        for (const std::span<const Family> families : all_families())
            for (const Family& f : families) all.push_back(f.type);
        for (const Wrapper& w : kWrappers) all.push_back(w.type);
        for (const Alias& a : kAliases) all.push_back(a.type);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }();
    return types;
}

Model model_from_hf(const nlohmann::json& config, const std::string& path, std::set<std::string>* read) {
    if (!config.is_object())
        throw Error(ErrorKind::invalid, path, "",
                    "found " + shown_json(config) + ", a Hugging Face config.json must be an object");
    const Fields top(config, path, "", read);
    const std::string type = top.text("model_type", "");
    if (type.empty())
        top.fail("model_type", "is missing: it says which architecture the other fields describe");
    const Part part = language_part(top, type);
    const Fields fields(part.object, top, part.prefix);
    const Family* family = find_family(part.type);
    if (!family) refuse_type(part.prefix.empty() ? top : fields, part.type);
    Model model = hf::read_family(*family, fields);
    if (!counts_all(count_parameters(model)))
        throw Error(ErrorKind::invalid, path, fields.prefix(), uncounted_text(model));
    model.name = name_for(top, type);
    return model;
}

Model model_from_hf(std::string_view text, const std::string& path, std::set<std::string>* read) {
    return model_from_hf(parse_json(text, path), path, read);
}

}  // namespace pentamesh
