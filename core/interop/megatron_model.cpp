#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/megatron.h"
#include "core/interop/script/settings.h"
#include "core/interop/state_types.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "core/plan/plan_fields.h"

#include <algorithm>
#include <utility>

namespace pentamesh::interop {
namespace {

class ModelReader {
  public:
    ModelReader(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect)
        : s_(sheet), d_(draft), m_(draft.model), known_(dialect.known), whole_(!dialect.model_named),
          command_line_(dialect.command_line), require_(dialect.command_line && whole_),
          base_(whole_ || !dialect.named ? nullptr : &*dialect.named) {}

    void read() {
        take_fields(s_, d_, known_, "/model");
        sizes();
        activation();
        norms_and_biases();
        positions();
        vocabulary();
        const bool compressed = whole_ && s_.value_of("experimental_attention_variant") == "dsv4_hybrid";
        const bool latent = s_.flag("multi_latent_attention", "/model/attention").value_or(false);
        if (base_ && base_->mla)
            latent_over();
        else if (latent && !compressed)
            latent_attention();
        window();
        experts();
        mamba();
        linear_attention();
        if (compressed) compressed_attention(latent);
        hyper_connections();
        if (base_) take_away();
    }

  private:
    void put(const char* key, const char* field) {
        if (const auto n = s_.integer(key, std::string("/model/") + field)) m_[field] = *n;
    }
    void need(const char* key, const char* field) {
        for (const char* held : {"use_checkpoint_args", "use_mp_args_from_checkpoint_args"})
            if (require_ && !m_.contains(field) && s_.has(held)) {
                require_ = false;
                s_.ask(Asked::model, Severity::error, "model-in-checkpoint",
                       plain(s_.written(held), ": the model stands in the checkpoint: give it with --model"));
            }
        if (require_ && !m_.contains(field))
            s_.error("setting-missing", "--", dashed(key), " is missing: Megatron asks for it");
    }
    static std::string dashed(std::string text) {
        std::replace(text.begin(), text.end(), '_', '-');
        return text;
    }
    [[nodiscard]] std::int64_t value(const char* field, std::int64_t otherwise) const {
        const auto it = m_.find(field);
        return it == m_.end() ? otherwise : it->get<std::int64_t>();
    }

    void sizes() {
        const std::pair<const char*, const char*> encoders[] = {{"encoder_num_layers", "num_layers"},
                                                                {"decoder_num_layers", "num_layers"},
                                                                {"encoder_seq_length", "seq_length"}};
        for (const auto& [key, usual] : encoders)
            if (require_ && s_.has(key) && !s_.has(usual)) {
                s_.error("two-stacks", s_.written(key),
                         ": an encoder and a decoder, as in T5: the plan has one stack of "
                         "layers");
                require_ = false;
            }
        const std::string letters = mixers();
        if (letters.empty()) {
            put("num_layers", "layers");
            need("num_layers", "layers");
        } else if (s_.has("num_layers"))  // arguments.py: the pattern always says how many there are
            s_.ignore("num_layers");
        need("hidden_size", "hidden");
        need("num_attention_heads", "heads");
        const bool groups =
            s_.flag("group_query_attention", "/model/kv_heads").value_or(!s_.has("group_query_attention"));
        auto kv = s_.integer("num_query_groups", "/model/kv_heads");
        if (!kv) kv = s_.integer("num_key_value_heads", "/model/kv_heads");
        if (kv && groups)
            m_["kv_heads"] = *kv;
        else if (whole_ && s_.has("group_query_attention") && groups && !kv)
            m_["kv_heads"] = 1;
        else if (whole_ && m_.contains("heads") && !s_.has("attention_head_type"))
            m_["kv_heads"] = m_["heads"];
        else if (whole_ && m_.contains("heads"))  // bigcode's fork: one head for all, on each rank of tp
            m_["kv_heads"] = s_.text("attention_head_type", "/model/kv_heads") == "multiquery"
                                 ? nlohmann::json(1)
                                 : m_["heads"];
        else if (base_ && base_->kv_heads != base_->heads
                 && (takes_away("group_query_attention") || takes_away("num_query_groups")))
            m_["kv_heads"] = value("heads", base_->heads);
        if (base_ && takes_away("kv_channels") && !base_->mla)
            m_["head_dim"] = std::max<std::int64_t>(
                value("hidden", base_->hidden) / std::max<std::int64_t>(value("heads", base_->heads), 1), 1);
    }

    // Reads "M-M*|ME/MM": a layer a letter, stages of the pipeline between bars, layers that predict further
    // tokens behind each slash (hybrid_layer_allocation.py).
    std::string mixers() {
        for (const char* key : {"hybrid_layer_pattern", "hybrid_override_pattern"}) {
            auto text = whole_ ? s_.text(key, "/model/pattern") : std::nullopt;
            if (!text && whole_ && s_.has(key) && !s_.printed) {  // null: each layer is a Mamba layer
                const auto n = parse_integer(s_.value_of("num_layers")).value_or(0);
                text = std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(n, 0, 1 << 16)), 'M');
            }
            for (const char* ratio : {"hybrid_attention_ratio", "hybrid_mlp_ratio"})
                if (text && s_.number(ratio, "/model/pattern").value_or(0) > 0) text = s_.written(ratio);
            if (!text) continue;
            std::string letters = text->substr(0, text->find('/'));
            std::erase(letters, '|');
            if (letters.empty() || letters.find_first_not_of("M*-E") != std::string::npos) {
                s_.error("layers-of-kinds", s_.written(key), ": ", *text,
                         ": of the layers M (Mamba), * (attention), - (MLP) and E (experts) are read; "
                         "/model/pattern of a plan can say linear attention, so does the model's "
                         "config.json (--model)");
                require_ = false;
                return "";
            }
            m_["layers"] = letters.size();
            if (const auto depths = std::count(text->begin(), text->end(), '/'); depths > 0) {
                m_.emplace("mtp_layers", depths);
                s_.problem(Severity::warning, "prediction-layers", s_.written(key),
                           ": layers that predict further tokens have kinds of their own; the "
                           "plan has one layer and a projection for each.");
            }
            set_pattern(letters, key);
            return letters;
        }
        return "";
    }

    // Missing values are those of mamba_mixer.py.
    void mamba() {
        const bool any = m_.contains("pattern")
                         && std::any_of(m_["pattern"].begin(), m_["pattern"].end(),
                                        [](const nlohmann::json& run) { return run["kind"] == "mamba"; });
        if (!any) return;
        const auto take = [&](const char* key, const char* field, std::int64_t otherwise) {
            return s_.integer(key, std::string("/model/mamba/") + field).value_or(otherwise);
        };
        const std::int64_t wide = take("mamba_head_dim", "inner", 64);
        const std::int64_t heads = take("mamba_num_heads", "heads", 2 * value("hidden", wide) / wide);
        m_["mamba"] = {{"version", 2},
                       {"heads", heads},
                       {"inner", heads * wide},
                       {"state", take("mamba_state_dim", "state", 128)},
                       {"groups", take(s_.has("mamba_ssm_ngroups") ? "mamba_ssm_ngroups" : "mamba_num_groups",
                                       "groups", 8)},
                       {"conv", 4},
                       {"conv_bias", true},
                       {"norm", true},
                       {"bias", m_.value("mlp_bias", false)}};
    }

    void activation() {
        const bool fast = s_.value_of("activation").ends_with("swiglu");
        const auto swiglu = s_.flag("swiglu", "/model/ffn_kind"),
                   squared = s_.flag("squared_relu", "/model/ffn_kind");
        auto geglu = s_.flag("quick_geglu", "/model/ffn_kind");
        // MindSpeed-LLM: both gate the MLP (mindspeed_llm/core/transformer/mlp.py).
        for (const char* key : {"geglu", "gelu_tanh"})
            if (const auto on = s_.flag(key, "/model/ffn_kind"); on && *on) geglu = true;
        const auto gated = s_.flag("gated_linear_unit", "/model/ffn_kind");
        const std::string function = s_.text("activation_func", "/model/ffn_kind").value_or("");  // Bridge
        if (const auto word = s_.text("activation", "/model/ffn_kind")) {                         // NeMo 1
            if (fast)
                m_["ffn_kind"] = "swiglu";
            else if (word->ends_with("geglu"))
                m_["ffn_kind"] = "geglu";
            else if (*word == "squared-relu")
                m_["ffn_kind"] = "relu2";
            else
                m_["ffn_kind"] = "gelu";
        } else if (function == "squared_relu" || (function.ends_with("gelu") && gated.value_or(false))) {
            m_["ffn_kind"] = function == "squared_relu" ? "relu2" : "geglu";
        } else if (swiglu.value_or(false) || gated.value_or(false)) {
            m_["ffn_kind"] = "swiglu";
        } else if (squared.value_or(false)) {
            m_["ffn_kind"] = "relu2";
        } else if (geglu.value_or(false)) {
            m_["ffn_kind"] = "geglu";
        } else if (whole_ || (base_ && loses_activation())) {
            m_["ffn_kind"] = "gelu";
        }
        if (!whole_ || m_.contains("ffn") || !m_.contains("hidden")) return;
        // From arguments.py: 4 h; with SwiGLU two thirds of it, a multiple of 64.
        const std::int64_t h = value("hidden", 0);
        m_["ffn"] = m_["ffn_kind"] == "swiglu" ? h * 4 * 2 / 3 / 64 * 64 : 4 * h;
    }

    // Returns true where the text switches off what the model that it names has between its two products.
    [[nodiscard]] bool loses_activation() const {
        switch (base_->ffn_kind) {
        case FfnKind::swiglu: return takes_away("swiglu") || takes_away("gated_linear_unit");
        case FfnKind::geglu: return takes_away("quick_geglu") || takes_away("gated_linear_unit");
        case FfnKind::relu2: return takes_away("squared_relu");
        case FfnKind::gelu:
        case FfnKind::xielu: break;
        }
        return false;
    }

    void norms_and_biases() {
        if (whole_) {
            m_.emplace("norm", "layernorm");
            m_.emplace("mlp_bias", true);
            m_.emplace("tied_embeddings", true);
        }
        const bool bias = m_.value("mlp_bias", false);
        if (m_.contains("mlp_bias")) m_["attention_bias"] = bias;
        for (const char* key : {"add_qkv_bias", "qkv_bias"})  // the second of NeMo 1
            if (const auto on = s_.flag(key, "/model/qkv_bias")) m_["qkv_bias"] = *on && !bias;
    }

    void positions() {
        const auto type = s_.text("position_embedding_type", "/model/positions");
        const bool rope_flag = s_.flag("use_rotary_position_embeddings", "/model/positions").value_or(false);
        const bool none = s_.flag("no_position_embedding", "/model/positions").value_or(false);
        const bool learned = type ? *type == "learned_absolute" : whole_ && !rope_flag && !none;
        if (learned || type || whole_) m_["positions"] = learned ? "learned" : "rope";
        if (learned) {
            put("max_position_embeddings", "max_positions");
            // Bridge's providers make as many positions as a sequence has tokens.
            const auto tokens = parse_integer(s_.value_of("seq_length"));
            if (whole_ && !require_ && !m_.contains("max_positions") && tokens) m_["max_positions"] = *tokens;
        } else {
            s_.ignore("max_position_embeddings");
        }
    }

    void vocabulary() {
        // NullTokenizer's words are one more than --vocab-size up to core 0.17: rows that are said and end
        // there are the vocabulary.
        if (const auto rows = parse_integer(s_.value_of("padded_vocab_size")); rows && m_.contains("vocab"))
            if (m_["vocab"].is_number_integer() && m_["vocab"].get<std::int64_t>() + 1 == *rows)
                m_["vocab"] = *rows;
        // The second is NeMo 1's, the third BigScience's Megatron-DeepSpeed's.
        for (const char* key : {"padded_vocab_size", "override_vocab_size", "pad_vocab_size_to"})
            if (!m_.contains("vocab") && s_.has(key)) put(key, "vocab");
        // A model that the user names says the vocabulary where the text does not.
        const bool named = !d_.model_preset.empty() || d_.own_model;
        if (m_.contains("vocab") || !whole_ || named) {
            if (s_.has("make_vocab_size_divisible_by"))
                s_.problem(Severity::info, "vocab-multiple", s_.written("make_vocab_size_divisible_by"),
                           " pads the vocabulary to a multiple of itself times tp; it stands at"
                           " /model/vocab_multiple.");
            return;
        }
        const std::string padding =
            s_.has("make_vocab_size_divisible_by")
                ? " " + s_.written("make_vocab_size_divisible_by") + " only says what it is padded to."
                : "";
        ask_for_vocab(s_, m_, padding);
    }

    void latent_attention() {
        m_["attention"] = "mla";
        m_["mla"] = words("megatron_mla_defaults");
        take_fields(s_, d_, known_, "/model/mla");
    }

    // The text changes latent attention of the model that it names, or takes it away: heads are kv_channels
    // wide then, have keys of their own unless num_query_groups says how many, and norms that were the
    // latents' (Megatron-LM, transformer_config.py, __post_init__; Bridge, deepseek_v3_bridge.py).
    void latent_over() {
        constexpr const char* kKey = "multi_latent_attention";
        if (!takes_away(kKey)) {
            m_["mla"] = nlohmann::json::object();
            take_fields(s_, d_, known_, "/model/mla");
            if (takes_away("q_lora_rank") && base_->mla->q_lora_rank > 0) m_["mla"]["q_lora_rank"] = 0;
            return drop_same("mla");
        }
        for (const NamedField& f : known_.fields())
            if (f.field.starts_with("/model/mla/") && s_.has(f.key)) s_.ignore(f.key);
        m_["attention"] = pentamesh::name_of(AttentionKind::mha_gqa);
        m_["mla"] = nullptr;
        m_.emplace("kv_heads", value("heads", base_->heads));
        m_.emplace("qk_norm", pentamesh::name_of(QkNorm::head));
        if (m_.contains("head_dim")) return;
        m_["head_dim"] = base_->mla->qk_nope_head_dim;
        s_.ask(Asked::nothing, Severity::warning, "head-dim-missing",
               plain(s_.written(kKey), " takes latent attention away from ", base_->name,
                     ", and the text does not say how wide its heads are then (kv_channels): ",
                     base_->mla->qk_nope_head_dim, " stand in for it; set /model/head_dim."),
               {{"/model/head_dim", base_->mla->qk_nope_head_dim}});
    }

    // Takes out what a part of the model has in the model that the text names too.
    void drop_same(const char* part) {
        const nlohmann::json all = model_to_json(*base_);
        const nlohmann::json base = all.value(part, nlohmann::json::object());
        for (auto it = m_[part].begin(); it != m_[part].end();)
            it = base.contains(it.key()) && base[it.key()] == it.value() ? m_[part].erase(it) : std::next(it);
        if (m_[part].empty()) m_.erase(part);
    }

    // Returns true where the text says null, false or 0 over the model that it names.
    [[nodiscard]] bool takes_away(std::string_view key) const {
        const Setting* said = base_ ? s_.last(key) : nullptr;
        return said && said->stated && !said->quoted && said->unknown.empty()
               && (says_nothing(said->value) || flag_of_word(said->value) == false);
    }

    // Takes out what the text says null, false or 0 of.
    void take_away() {
        static constexpr std::pair<const char*, const char*> kWhole[] = {
            {"mtp_num_layers", "/mtp_layers"},
            {"qk_layernorm", "/qk_norm"},
            {"attention_output_gate", "/attention_gate"},
            {"enable_hyper_connections", "/hyper_streams"},
            {"enable_mhc_connections", "/hyper_streams"},
            {"moe_shared_expert_intermediate_size", "/moe/shared_experts"},
            {"moe_router_enable_expert_bias", "/moe/router_bias"},
            {"moe_router_group_topk", "/moe/max_nodes_per_token"},
            {"moe_router_num_groups", "/moe/max_nodes_per_token"},
            {"moe_latent_size", "/moe/latent"},
            {"moe_shared_expert_gate", "/moe/shared_expert_gate"},
            {"shared_expert_gate", "/moe/shared_expert_gate"}};
        const nlohmann::json base = model_to_json(*base_);
        for (const auto& [key, field] : kWhole) {
            const nlohmann::json::json_pointer at(field);
            const bool gone = d_.no_experts && std::string_view(field).starts_with("/moe");
            if (gone || !takes_away(key) || !base.contains(at)) continue;
            const nlohmann::json& has = base[at];
            if (has.is_boolean())
                m_[at] = false;
            else if (has.is_number())
                m_[at] = 0;
            else if (!m_.contains(at))
                m_[at] = "none";
            s_.map(key, std::string("/model") + field);
        }
        // Without these a size is another one's, and which is not the same in all of Megatron's tools.
        static constexpr std::pair<const char*, const char*> kSizes[] = {
            {"ffn_hidden_size", "/ffn"},       {"moe_ffn_hidden_size", "/moe/expert_ffn"},
            {"moe_router_topk", "/moe/top_k"}, {"window_size", "/sliding_window"},
            {"moe_layer_freq", "/moe"},        {"linear_attention_freq", "/linear"},
            {"num_layers", "/layers"},         {"hidden_size", "/hidden"},
            {"num_attention_heads", "/heads"}};
        for (const auto& [key, field] : kSizes)
            if (takes_away(key) && base.contains(nlohmann::json::json_pointer(field)))
                s_.cannot_hold(key, std::string("it takes away what the model has: the plan keeps it, /model")
                                        + field + " can say another");
        const bool variant =
            base_->linear || base_->compressed || (base_->mla && base_->mla->index_heads > 0);
        if (variant && takes_away("experimental_attention_variant"))
            s_.cannot_hold("experimental_attention_variant",
                           "it takes away what the model has: the plan keeps it, /model can say another");
    }

    // Reads "128,0" or "(128, 0)": a token sees so many tokens before it, and itself
    // (transformer_config.py, window_size).
    void window() {
        if (!s_.has("window_size")) return;
        const auto text = s_.text("window_size", "/model/sliding_window");
        if (!text || s_.has("window_attn_skip_freq"))
            return s_.cannot_hold("window_size",
                                  "some layers see all: /model/pattern of the plan can say it");
        const std::size_t digit = text->find_first_of("0123456789");
        const auto before =
            digit == std::string::npos
                ? std::nullopt
                : parse_integer(text->substr(digit, text->find_first_not_of("0123456789", digit) - digit));
        if (before && text->find("-1") == std::string::npos) m_["sliding_window"] = *before + 1;
    }

    void experts() {
        auto n = s_.integer("num_experts", "/model/moe/experts");
        if (!n) n = s_.integer("num_moe_experts", "/model/moe/experts");
        // Megatron-DeepSpeed's 1 is its default: no experts.
        const bool deepspeed =
            s_.has("deepspeed") || s_.has("mlp_type") || s_.has("moe_expert_parallel_size");
        const bool has = n && *n > (deepspeed ? 1 : 0);
        const nlohmann::json named = m_.value("moe", nlohmann::json());  // of the model that the text names
        m_.erase("moe");
        take_fields(s_, d_, known_, "/model/moe");
        d_.no_experts = base_ && base_->moe && (takes_away("num_experts") || takes_away("num_moe_experts"));
        if (base_ && base_->moe && !d_.no_experts) return experts_over(n, named);
        if (!has) {
            m_.erase("moe");
            if (!named.is_null())
                m_["moe"] = named;
            else  // without experts, in this text or in the model that it names, these say nothing
                for (const char* key : {"moe_layer_freq", "moe_latent_size", "moe_shared_expert_gate"})
                    s_.ignore(key);
            return;
        }
        nlohmann::json& e = m_["moe"];
        e["experts"] = *n;
        e.emplace("top_k", deepspeed ? 1 : 2);
        e.emplace("expert_ffn", value("ffn", 1));
        if (e.contains("shared_expert_ffn")) e["shared_experts"] = 1;
        if (const auto wide = s_.integer("moe_latent_size", "/model/moe/latent")) e["latent"] = *wide;
        if (s_.flag("moe_shared_expert_gate", "/model/moe/shared_expert_gate").value_or(false)
            || s_.flag("shared_expert_gate", "/model/moe/shared_expert_gate").value_or(false))
            e["shared_expert_gate"] = true;
        // Its experts are in every second layer where nothing else is said (megatron/arguments.py).
        const auto interval = s_.integer("expert_interval", "/model/moe/every");
        e["every"] = interval.value_or(deepspeed ? 2 : 1);
        which_layers();
    }

    // The text changes experts of the model that it names.
    void experts_over(std::optional<std::int64_t> n, const nlohmann::json& named) {
        if (!m_.contains("moe")) m_["moe"] = nlohmann::json::object();
        nlohmann::json& e = m_["moe"];
        if (n) e["experts"] = *n;
        if (e.contains("shared_expert_ffn")) e.emplace("shared_experts", 1);
        if (const auto wide = s_.integer("moe_latent_size", "/model/moe/latent", 0)) e["latent"] = *wide;
        for (const char* key : {"moe_shared_expert_gate", "shared_expert_gate"})
            if (const auto gate = s_.flag(key, "/model/moe/shared_expert_gate"))
                e["shared_expert_gate"] = *gate;
        if (s_.has("moe_layer_freq") && !takes_away("moe_layer_freq")) which_layers();
        // Shared experts of the text are one of their whole width.
        const std::int64_t all = base_->moe->shared_experts * base_->moe->shared_expert_ffn;
        if (e.value("shared_experts", std::int64_t{0}) == 1
            && e.value("shared_expert_ffn", std::int64_t{0}) == all)
            e.erase("shared_experts"), e.erase("shared_expert_ffn");
        drop_same("moe");
        if (!m_.contains("moe") && !named.is_null()) m_["moe"] = named;
    }

    void which_layers() {
        const auto text = s_.text("moe_layer_freq", "/model/moe/first_dense_layers");
        if (!text) return;
        const auto layers = value("layers", 0);
        std::vector<int> pattern;
        if (const auto every = parse_integer(*text)) {
            // From arguments.py: layer i is MoE where i % n == 0; with -1 each is.
            for (std::int64_t i = 0; *every != 0 && i < std::min<std::int64_t>(layers, 1 << 16); ++i)
                pattern.push_back(i % *every == 0 ? 1 : 0);
        } else if (const auto list = parse_layer_pattern(*text)) {
            pattern = *list;
        }
        if (base_ && (pattern.empty() || !base_->pattern.empty())) return irregular_layers(pattern);
        if (static_cast<std::int64_t>(pattern.size()) != layers) {
            s_.error("moe-layer-freq", s_.written("moe_layer_freq"), ": ", *text, " does not name ", layers,
                     " layers");
            return;
        }
        const auto first = std::find(pattern.begin(), pattern.end(), 1) - pattern.begin();
        for (std::int64_t every = 1; every <= layers; ++every) {
            // The plan counts groups of `every` layers after the dense ones; the last of each group is MoE.
            const std::int64_t dense = first - (every - 1);
            if (dense < 0) break;
            bool same = true;
            for (std::int64_t i = 0; i < layers && same; ++i)
                same = pattern[i] == (i >= dense && (i - dense + 1) % every == 0 ? 1 : 0);
            if (!same) continue;
            m_["moe"].emplace("first_dense_layers", dense);
            m_["moe"]["every"] = every;
            return;
        }
        irregular_layers(pattern);
    }

    // Reads layers of attention with an MLP (0) or experts (1).
    void irregular_layers(const std::vector<int>& pattern) {
        if (!whole_)
            return s_.cannot_hold("moe_layer_freq",
                                  "the import does not read it over a named model; /model/pattern"
                                  " of the plan can say the same");
        std::string letters;
        for (const int experts : pattern) letters.push_back(experts == 1 ? 'e' : 'd');
        set_pattern(letters, "moe_layer_freq");
    }

    // From experimental_attention_variant_module_specs.py: of N layers the last one has attention over all
    // keys; in a list 1 is a layer of linear attention.
    void linear_attention() {
        const std::string variant = s_.value_of("experimental_attention_variant");
        if (!whole_ || (variant != "gated_delta_net" && variant != "gdn")) return;
        const auto layers = std::min<std::int64_t>(value("layers", 0), 1 << 16);
        const std::string freq = s_.value_of("linear_attention_freq");
        std::vector<int> linear;
        if (const auto every = parse_integer(freq); every && *every > 0) {
            for (std::int64_t i = 0; i < layers; ++i) linear.push_back((i + 1) % *every == 0 ? 0 : 1);
        } else if (const auto list = parse_layer_pattern(freq)) {
            linear = *list;
        }
        if (layers == 0 || static_cast<std::int64_t>(linear.size()) != layers || m_.contains("pattern")) {
            s_.problem(Severity::warning, "linear-attention", s_.written("experimental_attention_variant"),
                       ": which layers have linear attention is not read here; the plan counts attention over"
                       " all keys in each.");
            return;
        }
        const bool moe = m_.contains("moe");
        const std::int64_t dense = moe ? m_["moe"].value("first_dense_layers", std::int64_t{0}) : layers,
                           nth = moe ? m_["moe"].value("every", std::int64_t{1}) : 1;
        std::string letters;
        for (std::int64_t i = 0; i < layers; ++i) {
            const bool experts = i >= dense && (i - dense + 1) % nth == 0;
            const bool keys = linear[static_cast<std::size_t>(i)] == 0;
            letters.push_back(keys ? (experts ? 'e' : 'd') : experts ? 'L' : 'l');
        }
        set_pattern(letters, "linear_attention_freq");
        if (!m_.contains("pattern")) return;
        if (moe) {
            m_["moe"].erase("first_dense_layers");
            m_["moe"]["every"] = 1;
        }
        const auto take = [&](const char* key, const char* field, std::int64_t otherwise) {
            return s_.integer(key, std::string("/model/linear/") + field).value_or(otherwise);
        };
        m_["linear"] = {{"kind", "gated_delta"},
                        {"key_heads", take("linear_num_key_heads", "key_heads", 16)},
                        {"value_heads", take("linear_num_value_heads", "value_heads", 32)},
                        {"key_head_dim", take("linear_key_head_dim", "key_head_dim", 128)},
                        {"value_head_dim", take("linear_value_head_dim", "value_head_dim", 128)},
                        {"conv", take("linear_conv_kernel_dim", "conv", 4)}};
        s_.map("experimental_attention_variant", "/model/linear");
    }

    // ---- DeepSeek-V4: the branch dev of Megatron-LM, d48bd6be ---------------------------------------------

    // From transformer_config.py and deepseek_v4_hybrid_attention.py: heads are v_head_dim wide and share one
    // key head, so that ranks and heads of keys say nothing.
    void compressed_attention(bool latent) {
        s_.map("experimental_attention_variant", "/model/attention");
        if (!latent)
            s_.refusal("compressed-without-latent", "Megatron",
                       "dsv4_hybrid stands without --multi-latent-attention");
        const std::string of = "/model/compressed/";
        const auto rank = s_.integer("q_lora_rank", of + "q_lora_rank");
        if (!rank && command_line_)
            return s_.error("setting-missing",
                            "--q-lora-rank is missing: dsv4_hybrid makes its queries of it");
        const auto take = [&](const char* key, const std::string& path, std::int64_t otherwise) {
            return s_.integer(key, path).value_or(otherwise);
        };
        m_["attention"] = "compressed";
        m_["compressed"] = {{"q_lora_rank", rank.value_or(512)},
                            {"o_lora_rank", take("o_lora_rank", of + "o_lora_rank", 1024)},
                            {"o_groups", take("o_groups", of + "o_groups", 8)},
                            {"index_heads", take("dsa_indexer_n_heads", of + "index_heads", 64)},
                            {"index_head_dim", take("dsa_indexer_head_dim", of + "index_head_dim", 128)},
                            {"index_top_k", take("dsa_indexer_topk", of + "index_top_k", 512)}};
        m_["head_dim"] = take("v_head_dim", "/model/head_dim", 128);
        m_["kv_heads"] = 1;
        m_["attention_sinks"] = true;
        m_["sliding_window"] = take("csa_window_size", "/model/sliding_window", 128);
        for (const char* key : {"kv_lora_rank", "qk_head_dim", "qk_pos_emb_head_dim"}) s_.ignore(key);
        if (!m_.contains("qk_norm") || m_["qk_norm"] == "none")
            s_.problem(
                Severity::warning, "norms-of-latents",
                "Without --qk-layernorm the ranks of queries and keys have no norms: the plan has them.");
        m_.erase("qk_norm");
        if (parse_integer(s_.value_of("context_parallel_size")).value_or(1) > 1
            && s_.value_of("cp_partition_mode") != "contiguous")
            s_.refusal("compressed-cp", "Megatron",
                       "dsv4_hybrid with cp needs --cp-partition-mode contiguous");
        compressed_layers();
    }

    // Returns which layers have experts, as the fields that are read so far say it.
    [[nodiscard]] std::vector<bool> layers_with_experts() const {
        std::vector<bool> out(
            static_cast<std::size_t>(std::clamp<std::int64_t>(value("layers", 0), 0, 1 << 16)));
        const auto moe = m_.find("moe");
        if (moe == m_.end()) return out;
        std::vector<bool> listed;
        for (const nlohmann::json& run : m_.value("pattern", nlohmann::json::array()))
            listed.insert(listed.end(), run["count"].get<std::size_t>(), run["ffn"] == "moe");
        const std::int64_t first = moe->value("first_dense_layers", std::int64_t{0}),
                           every = std::max<std::int64_t>(moe->value("every", std::int64_t{1}), 1);
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::int64_t behind = static_cast<std::int64_t>(i) - first;
            out[i] = listed.empty() ? behind >= 0 && (behind + 1) % every == 0 : listed[i % listed.size()];
        }
        return out;
    }

    // --csa-compress-ratios: 0 has a window only, 4 keys of overlapping tokens that an indexer picks from,
    // 128 keys of so many tokens; those of prediction layers stand behind.
    void compressed_layers() {
        constexpr std::int64_t kPicks = 4, kAll = 128;
        const char* key = "csa_compress_ratios";
        const auto text = s_.text(key, "/model/pattern");
        const auto ratios = text ? parse_number_list(*text) : std::nullopt;
        const std::vector<bool> experts = layers_with_experts();
        const std::size_t all = experts.size() + static_cast<std::size_t>(value("mtp_layers", 0));
        const auto known = [](std::int64_t n) { return n == 0 || n == kPicks || n == kAll; };
        if (!ratios || ratios->size() < all || !std::all_of(ratios->begin(), ratios->end(), known))
            return s_.error("compress-ratios",
                            "Megatron refuses: --csa-compress-ratios has to say 0, 4 or 128 for ", all,
                            " layers, those that predict further tokens among them: found ",
                            text ? shown_text(*text) : std::string("none"));
        for (std::size_t i = experts.size(); i < all; ++i)
            if ((*ratios)[i] != 0)
                s_.cannot_hold(key, "the plan's layers that predict further tokens have a window only");
        const std::int64_t by_table = s_.integer("moe_n_hash_layers", "/model/pattern", 0).value_or(0);
        nlohmann::json runs = nlohmann::json::array();
        for (std::size_t i = 0; i < experts.size(); ++i) {
            nlohmann::json run = {{"kind", "window"}, {"ffn", experts[i] ? "moe" : "dense"}, {"count", 1}};
            if ((*ratios)[i] > 0) run["compress"] = (*ratios)[i];
            if ((*ratios)[i] == kPicks) run["picks_compressed"] = true;
            if (experts[i] && std::cmp_less(i, by_table)) run["hash_routed"] = true;
            const bool same = !runs.empty() && [&] {
                nlohmann::json before = runs.back();
                before["count"] = 1;
                return before == run;
            }();
            if (same)
                runs.back()["count"] = runs.back()["count"].get<std::int64_t>() + 1;
            else
                runs.push_back(std::move(run));
        }
        if (runs.size() > kMostRuns)
            return s_.cannot_hold(key,
                                  "a plan holds at most " + std::to_string(kMostRuns) + " runs of layers");
        m_["pattern"] = runs;
        if (m_.contains("moe")) {
            m_["moe"].erase("first_dense_layers");
            m_["moe"]["every"] = 1;
        }
    }

    // The branches main and dev name them apart.
    void hyper_connections() {
        bool on = false;
        std::int64_t streams = 4;
        const std::string path = "/model/hyper_streams";
        for (const char* key : {"enable_hyper_connections", "enable_mhc_connections"})
            on = s_.flag(key, path).value_or(false) || on;
        for (const char* key : {"num_residual_streams", "mhc_num_residual_streams"})
            streams = s_.integer(key, path).value_or(streams);
        if (on && whole_) m_["hyper_streams"] = streams;
    }

    // Sets layers as the plan's pattern has them: runs of equal layers, repeated to all.
    void set_pattern(const std::string& letters, const char* key) {
        std::size_t period = 1;
        constexpr std::size_t kLongest = 64;  // period that is looked for
        while (period <= kLongest
               && letters.substr(0, letters.size() - std::min(period, letters.size()))
                      != letters.substr(std::min(period, letters.size())))
            ++period;
        if (period > kLongest) period = letters.size();
        nlohmann::json runs = nlohmann::json::array();
        for (std::size_t i = 0; i < std::min(period, letters.size()); ++i) {
            const auto& kind = words("megatron_layers")[std::string(1, letters[i])];
            if (i > 0 && letters[i] == letters[i - 1])
                runs.back()["count"] = runs.back()["count"].get<std::int64_t>() + 1;
            else
                runs.push_back({{"kind", kind[0]}, {"ffn", kind[1]}, {"count", 1}});
        }
        if (runs.size() > kMostRuns)
            return s_.cannot_hold(key,
                                  "a plan holds at most " + std::to_string(kMostRuns) + " runs of layers");
        m_["pattern"] = runs;
        s_.map(key, "/model/pattern");
    }

    SettingsSheet& s_;
    PlanDraft& d_;
    nlohmann::json& m_;
    const KnownSettings& known_;
    bool whole_, command_line_, require_;
    const Model* base_;  // the model that the text names and changes; null: it says all itself
};

}  // namespace

void read_megatron_model(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect) {
    ModelReader(sheet, draft, dialect).read();
}

namespace {

// delayed and current scaling have one scale a tensor; subchannel: NeMo's name of blocks.
std::string recipe_name(std::string_view word) {
    const auto has = [&](std::string_view part) { return word.find(part) != std::string_view::npos; };
    if (has("mxfp8") || has("fp8_mx")) return "mxfp8";
    if (has("block") || has("subchannel") || has("fp8_sc")) return "blockwise";
    return "tensorwise";
}

// Reads what is captured: a whole iteration has its own name among the ways or among the scopes.
void read_graphs(SettingsSheet& s, PlanDraft& d) {
    constexpr const char* kField = "/training/cuda_graphs";
    std::string graphs = "none";
    if (s.flag("enable_cuda_graph", kField).value_or(false)) graphs = "layers";
    const std::string way = s.text("cuda_graph_impl", kField).value_or("none");
    if (way != "none") graphs = way == "full_iteration" ? "iteration" : "layers";
    for (const char* key : {"cuda_graph_scope", "cuda_graph_modules"})
        if (const auto scope = s.text(key, kField);
            scope && way != "none" && scope->find("full_iteration") != std::string::npos)
            graphs = "iteration";
    if (graphs != "none") d.training["cuda_graphs"] = graphs;
}

// Reads a recipe of Megatron-Bridge's by the name under which it is registered; another word is refused there
// too. A configuration that is made in the text says its fields, which are settings.
void read_mixed_precision(SettingsSheet& s, nlohmann::json& t, std::string& base) {
    constexpr const char* kKey = "mixed_precision";
    auto word = s.text(kKey, "/training/compute");
    if (!word || word->starts_with("MixedPrecisionConfig")) return;
    std::replace(word->begin(), word->end(), '-', '_');
    const auto& known = words("bridge_precisions");
    const auto row = known.find(*word);
    if (row == known.end()) {
        // In Python a bare word is a variable, whose value the text may not have.
        const bool literal =
            s.last(kKey)->quoted
            || (word->find_first_of(".( ") == std::string::npos && word->find("config") == std::string::npos);
        if (!literal) return s.not_known(kKey);
        return s.not_allowed(kKey,
                             "one of " + join(known.items(), ", ", [](const auto& e) { return e.key(); }));
    }
    base = word_of((*row)["parameters"]);
    if (row->contains("compute")) t["compute"] = (*row)["compute"];
    if (row->contains("fp8_recipe")) t["fp8_recipe"] = (*row)["fp8_recipe"];
    if (row->contains("gather")) t["parameters"] = "fp8";
}

// Reads the word of a trainer, or of a performance script: "bf16-mixed", "32-true", "fp8_cs", "nvfp4".
void read_precision_word(SettingsSheet& s, nlohmann::json& t, const char* key, std::string& base) {
    const auto text = s.text(key, "/training/compute");
    if (!text) return;
    std::string word;
    for (const char c : *text) word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
    if (word.starts_with("16") || has("fp16"))
        base = "fp16";
    else if (word.starts_with("32") || has("fp32"))
        base = "fp32";
    else if (has("bf16") || has("fp8") || has("fp4"))
        base = "bf16";
    else
        return s.not_allowed(key, "a type: bf16, fp16, fp32, fp8 or nvfp4");
    if (has("fp4")) t["compute"] = "fp4";
    if (!has("fp8")) return;
    t["compute"] = "fp8";
    if (word != "fp8") t["fp8_recipe"] = recipe_name(word);
}

void read_precision(SettingsSheet& s, PlanDraft& d, const MegatronDialect& dialect) {
    nlohmann::json& t = d.training;
    const bool bf16 = s.flag("bf16", "/training/compute").value_or(false);
    const bool fp16 = s.flag(own::kFp16).value_or(false);
    if (bf16 && fp16) s.error("two-precisions", "--bf16 and --fp16 are both set: Megatron takes one");
    std::string base = bf16 ? "bf16" : fp16 ? "fp16" : dialect.command_line ? "fp32" : "bf16";
    if (s.flag("fp32", "/training/compute").value_or(false)) base = "fp32";
    for (const char* key : {"precision", "compute_dtype"}) read_precision_word(s, t, key, base);
    read_mixed_precision(s, t, base);
    if (const auto word = s.text("fp8_recipe", "/training/fp8_recipe")) t["fp8_recipe"] = recipe_name(*word);
    if (const auto word = s.text("params_dtype", "/training/parameters"))
        if (const std::string name = dtype_name(*word); !name.empty()) base = name;
    if (!t.contains("parameters") || s.flag("fp8_param_gather", "/training/parameters") == false)
        t["parameters"] = base;
    if (!t.contains("compute")) t["compute"] = base;
    if (t["parameters"] == "fp32") t.emplace("master_weights", "none");  // optimizer.py, FP32Optimizer
    static constexpr std::string_view kNarrow[] = {"fp8_format", own::kFp8.name, "fp4_format", "fp4"};
    for (const std::string_view key : kNarrow)
        if (const auto word = s.text(key, "/training/compute"); word && flag_of_word(*word) != false)
            t["compute"] = std::string(key.substr(0, 3));

    // From arguments.py: bf16 accumulates and reduces gradients in fp32 unless a flag says otherwise.
    bool wide = base != "fp16";
    if (const auto on = s.flag("accumulate_allreduce_grads_in_fp32", "/training/gradients"))
        wide = wide || *on;
    if (const auto on = s.flag("grad_reduce_in_fp32", "/training/gradients")) wide = *on;
    if (s.flag("grad_reduce_in_bf16", "/training/gradients").value_or(false)) wide = false;
    t["gradients"] = wide ? "fp32" : base;
    if (const auto word = s.text("main_grads_dtype", "/training/gradients"))
        if (const std::string name = dtype_name(*word); !name.empty() && wide) t["gradients"] = name;
}

// From core/optimizer/optimizer_config.py, __post_init__: types other than fp32 go only with the
// precision-aware optimizer.
void check_states(SettingsSheet& s) {
    const auto type_of = [&](const char* key) {
        const std::string name = dtype_name(s.value_of(key));
        return name.empty() ? std::string("fp32") : name;
    };
    if (!s.flag("use_precision_aware_optimizer", "/training/optimizer_state").value_or(false))
        for (const char* key : {"main_grads_dtype", "main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"})
            if (type_of(key) != "fp32")
                s.refusal("states-of-other-types", "Megatron", s.written(key), " ", s.value_of(key),
                          " stands without --use-precision-aware-optimizer: it can only be fp32 then")
                    .set_field_mends = true;
    const std::string first = type_of("exp_avg_dtype"), second = type_of("exp_avg_sq_dtype");
    if (first != second && s.has("exp_avg_sq_dtype"))
        s.cannot_hold("exp_avg_sq_dtype", "the plan has one type for both moments: " + first + " stands");
    else if (first != second)
        s.problem(Severity::warning, "moments-differ", "The second moment is in ", second,
                  " (exp_avg_sq_dtype is not said): the plan has one type for both, ", first, ".");
}

void read_optimizer(SettingsSheet& s, PlanDraft& d) {
    for (const char* key : {"optimizer", "optim.name", "optimizer.optimizer"}) {
        const auto word = s.text(key, "/training/optimizer");
        if (!word) continue;
        if (word->find("muon") != std::string::npos)
            d.training["optimizer"] = "muon";
        else if (*word == "sgd")
            d.training["optimizer"] = "sgd-momentum";
        else if (word->find("bit") != std::string::npos
                 || (word->find("adam") == std::string::npos && *word != "mcore_distributed_optim"))
            s.cannot_hold(key, "the plan has AdamW, Muon and SGD with states of one type");  // 8-bit, Lion
        else
            d.training["optimizer"] = "adamw";
    }
}

// Reads "mla_up_proj layernorm", "[core_attn, mlp]": modules by Megatron's names, which are the plan's. With
// an unknown module the setting is not held whole.
void read_modules(SettingsSheet& s, PlanDraft& d, const std::string& text) {
    nlohmann::json list = nlohmann::json::array();
    bool all = true;
    std::string names = text;
    std::replace_if(
        names.begin(), names.end(), [](char c) { return !is_name_char(c); }, ' ');
    for (const std::string_view word : split_words(names)) {
        if (parse_name<RecomputeModule>(word))
            list.push_back(word);
        else
            all = false;
    }
    if (!all)
        s.cannot_hold("recompute_modules", "the plan knows the modules of attention, MLP and MoE layers");
    if (list.empty()) {
        d.training["recompute"] = "none";
    } else if (list.size() == 1 && list.front() == pentamesh::name_of(RecomputeModule::core_attn)) {
        d.training["recompute"] = "selective";
    } else {
        d.training["recompute"] = {{"modules", list}};
        s.problem(Severity::info, "recompute-modules", s.written("recompute_modules"), " ", text,
                  ": the memory of these modules and their work are counted, not the host's time to "
                  "launch their kernels again.");
    }
}

// Reads how many layers: a unit's (uniform), or those of a chunk that are recomputed (block).
void read_method(PlanDraft& d, const std::string& method, std::int64_t layers) {
    if (method == "block")
        d.training["recompute"] = {{"layers", layers}, {"method", "block"}};
    else if (layers > 1)
        d.training["recompute"] = {{"layers", layers}, {"method", "uniform"}};
}

void read_recompute(SettingsSheet& s, PlanDraft& d) {
    const bool activations = s.flag("recompute_activations", "/training/recompute").value_or(false);
    auto granularity = s.text("recompute_granularity", "/training/recompute");
    if (!granularity)
        granularity = s.text("activations_checkpoint_granularity", "/training/recompute");  // NeMo 1
    auto method = s.text("recompute_method", "/training/recompute");
    if (!method) method = s.text("activations_checkpoint_method", "/training/recompute");
    auto layers = s.integer("recompute_num_layers", "/training/recompute", 0);
    if (!layers) layers = s.integer("activations_checkpoint_num_layers", "/training/recompute", 0);
    const bool none = layers && *layers == 0 && method && *method == "block";  // of each stage none
    if (layers && *layers == 0) layers.reset();  // NeMo 1 writes 0 where nothing is recomputed
    // Megatron of 2021 and 2022, and Megatron-DeepSpeed, whose own switch of the same sound only says whose
    // code recomputes (megatron/model/gpt_model.py, GPTModelPipe).
    if (!layers) layers = s.integer("checkpoint_num_layers", "/training/recompute");
    bool whole = s.has("activations_checkpoint_method") && method && !granularity;
    whole = s.flag("checkpoint_activations", "/training/recompute").value_or(false) || whole;
    const std::string word = activations ? "selective" : granularity.value_or(whole ? "full" : "none");
    d.training["recompute"] = (word == "full" && !none) || word == "selective" ? word : "none";
    // Habana's Megatron-DeepSpeed: what stands behind attention, experts too (megatron/model/transformer.py,
    // _checkpointed_mlp_forward).
    if (word == "mlp") {
        nlohmann::json list = nlohmann::json::array({pentamesh::name_of(RecomputeModule::mlp)});
        if (d.model.contains("moe")) list.push_back(pentamesh::name_of(RecomputeModule::moe));
        d.training["recompute"] = {{"modules", list}};
    }
    if (word == "full" && s.has("recompute_method") && method && !layers && !none)
        s.refusal("recompute-num-layers", "Megatron", s.written("recompute_method"),
                  " stands without --recompute-num-layers");
    if (word == "full" && layers && (method || whole)) read_method(d, method.value_or("uniform"), *layers);
    const auto modules = s.text("recompute_modules", "/training/recompute");
    if (modules && word == "selective") read_modules(s, d, *modules);
}

// Without --moe-grouped-gemm a layer's experts run one after the other (gpt_layer_specs.py, SequentialMLP).
void read_experts(SettingsSheet& s, PlanDraft& d, const MegatronDialect& dialect) {
    const auto grouped = s.flag("moe_grouped_gemm", "/training/experts_one_by_one");
    const bool flags_only = dialect.command_line && !dialect.model_named;  // a named model's tool groups them
    if (grouped ? !*grouped : flags_only && d.model.contains("moe")) d.training["experts_one_by_one"] = true;
}

// gpt_model.py, compute_language_model_loss: fused by torch.jit it still has the logits in fp32, Transformer
// Engine's writes the gradient over them, and "linear" never has them whole.
void read_loss(SettingsSheet& s, PlanDraft& d) {
    const auto fused = s.flag("cross_entropy_loss_fusion", "/training/loss_kernel");
    const auto by = s.text("cross_entropy_fusion_impl", "/training/loss_kernel");
    if (!fused.value_or(false)) return;
    const std::string word = by.value_or("native");
    d.training["loss_kernel"] = word == "te" ? "in_place" : word == "linear" ? "chunked" : "fp32";
}

// From transformer_config.py (cpu_offloading), optimizer_config.py (optimizer_cpu_offload).
void read_offload(SettingsSheet& s, PlanDraft& d) {
    nlohmann::json away = nlohmann::json::object();
    const auto layers =
        s.integer("cpu_offloading_num_layers", "/training/offload/activations_layers", 0).value_or(0);
    const bool on = s.flag("cpu_offloading", "/training/offload/activations_layers").value_or(layers > 0);
    if (on && layers > 0) away["activations_layers"] = layers;
    const double share = s.number("optimizer_offload_fraction", "/training/offload/optimizer").value_or(1.0);
    if (s.flag("optimizer_cpu_offload", "/training/offload/optimizer").value_or(false))
        away["optimizer"] = std::clamp(share, 0.0, 1.0);
    if (!away.empty()) d.training["offload"] = away;
}

}  // namespace

void read_megatron_training(SettingsSheet& s, PlanDraft& d, const MegatronDialect& dialect) {
    nlohmann::json& t = d.training;
    t["overlap"]["dp"] = dialect.overlap_default;
    take_fields(s, d, dialect.known, "/training/overlap");
    take_fields(s, d, dialect.known, "/training");
    read_precision(s, d, dialect);
    read_graphs(s, d);
    read_experts(s, d, dialect);
    read_loss(s, d);
    read_optimizer(s, d);
    check_states(s);
    read_recompute(s, d);
    read_offload(s, d);
    if (dialect.micro_batch_default > 0) t.emplace("micro_batch", dialect.micro_batch_default);
    if (dialect.global_batch_default > 0) t.emplace("global_batch", dialect.global_batch_default);
    if (dialect.command_line && !dialect.model_named)
        for (const char* key : {"seq_length", "micro_batch_size"})
            if (!s.has(key) && !s.has("encoder_seq_length")) {
                std::string flag = key;
                std::replace(flag.begin(), flag.end(), '_', '-');
                s.error("setting-missing", "--", flag, " is missing: Megatron asks for it");
            }

    double dropout = 0;
    bool said = false;
    for (const char* key : {"attention_dropout", "hidden_dropout"}) {
        const auto x = s.number(key, "/training/dropout");
        said = said || x;
        dropout = std::max(dropout, x.value_or(dialect.command_line && !dialect.model_named ? 0.1 : 0.0));
    }
    if (said || dialect.command_line) t["dropout"] = dropout > 0;
}

}  // namespace pentamesh::interop
