// Writes a Hugging Face config.json for the model: of the family whose reader (core/io/hf_config.h) makes the
// same model of the written text. Field names are those of transformers, models/*/configuration_*.py.
#include "core/base/error.h"
#include "core/interop/export_page.h"
#include "core/interop/words.h"
#include "core/io/hf_config.h"
#include "core/io/plan_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {
namespace {

using Json = nlohmann::ordered_json;

// Returns the model's fields as a plan states them, and what some families say in another form.
Json facts_of(const Plan& p) {
    const Model& m = p.model;
    Json out = model_to_json(m);
    out["sequence"] = p.training.sequence_length;
    out["any_ffn"] = m.ffn > 0 ? m.ffn : m.moe ? m.moe->expert_ffn : 1;
    out["head_norm"] = m.qk_norm == QkNorm::head;
    if (!m.moe) return out;
    Json& moe = out["moe"];
    moe["dense"] = Json::array();
    for (std::int64_t i = 0; i < m.moe->first_dense_layers; ++i) moe["dense"].push_back(i);
    if (m.moe->max_nodes_per_token > 0) moe["groups"] = 2 * m.moe->max_nodes_per_token;
    if (m.mtp_layers > 0) moe["mtp"] = m.mtp_layers;
    return out;
}

// Puts the fields of a table, name by name: "/moe/every" is that fact, "/moe/every=1" is 1 where the model
// has experts and does not state it. An object has a value for each kind of MLP, "" for those that it leaves
// out.
void put_fields(Json& out, const Json& table, const Json& facts) {
    for (const auto& [name, row] : table.items()) {
        if (row.is_object()) {
            out[name] = row.value(facts["ffn_kind"].get<std::string>(), row[""]);
            continue;
        }
        const auto text = row.get<std::string>();
        const std::size_t equals = text.find('=');
        const Json::json_pointer at(text.substr(0, equals));
        if (facts.contains(at))
            out[name] = facts[at];
        else if (equals != std::string::npos && facts.contains(at.parent_pointer()))
            out[name] = Json::parse(text.substr(equals + 1));
    }
}

Json config_of(const Json& facts, const Json& family) {
    Json out{{"architectures", Json::array({family["architecture"]})}, {"model_type", family["type"]}};
    if (!family.contains("alone")) put_fields(out, words("hf_fields"), facts);
    if (family.contains("without")) out.erase(family["without"].get<std::string>());
    put_fields(out, family["fields"], facts);
    return out;
}

bool reads_back(const Plan& p, const Json& config) {
    try {
        Model read = model_from_hf(std::string_view(config.dump()), "export");
        read.name = p.model.name;
        read.vocab_multiple = p.model.vocab_multiple;
        if (p.model.moe && p.model.moe->first_dense_layers == 0 && p.model.moe->every == 1)
            read.ffn = p.model.ffn;
        return read == p.model;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void export_hf(Page& page) {
    const Plan& p = page.plan;
    const Json facts = facts_of(p);
    const auto& families = words("hf_families");
    Json config;
    const bool known = std::any_of(families.begin(), families.end(), [&](const Json& family) {
        return reads_back(p, config = config_of(facts, family));
    });
    if (!known) {
        page.lose("/model",
                  "model: no model_type that is known here has these fields (pentamesh export writes "
                  "Llama, Qwen, Mixtral, DeepSeek and their likes)");
        config = config_of(facts, families[0]);
    }
    page.note("layout, batch and cluster: a config.json holds the model alone");
    const char* dtype = p.training.parameters == Dtype::fp16   ? "float16"
                        : p.training.parameters == Dtype::fp32 ? "float32"
                                                               : "bfloat16";
    config["torch_dtype"] = dtype;
    config["_comment"] = head_lines(page);
    page.out.text = config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pentamesh::interop
