// Finds flags of Megatron-LM that are misspelt or exclude each other.
#include "core/interop/megatron.h"

#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/import.h"
#include "core/interop/script/read_python.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Returns true if `key` is `known` without one of its words. A longer name is another setting.
bool lacks_a_word(std::string_view key, std::string_view known) {
    const std::vector<std::string_view> x = split(key, '_'), y = split(known, '_');
    if (y.size() != x.size() + 1 || x.size() < 2) return false;
    std::size_t i = 0;
    for (const std::string_view word : y)
        if (i < x.size() && x[i] == word) ++i;
    return i == x.size();
}

std::string_view near_miss(std::string_view key, const std::vector<std::string>& names) {
    for (const std::string_view known : names) {
        if (key == known) continue;
        const std::size_t off = known.size() > 8 ? 2 : 1;
        const std::size_t longer = std::max(key.size(), known.size()) - std::min(key.size(), known.size());
        if (longer <= off && edit_distance(key, known) <= off) return known;
        if (lacks_a_word(key, known)) return known;
    }
    return {};
}

// Refuses settings that exclude each other or ask for one another (words.json, "megatron_refuses": the
// asserts of megatron/training/arguments.py and of megatron/core/transformer/transformer_config.py that look
// at no sizes).
void refuse_other_pairs(SettingsSheet& s) {
    if (s.has("deepspeed") || s.has("zero_stage")) return;  // Megatron-DeepSpeed has its own
    for (const auto& row : words("megatron_refuses")) {
        const nlohmann::json when = row["when"];
        bool holds = true;
        for (const auto& item : when.items()) {
            const Setting* said = s.last(item.key());
            const bool known = said && said->unknown.empty() && !(said->stated && says_nothing(said->value));
            holds = holds && setting_fits(item.value(), known ? said : nullptr);
        }
        if (holds) s.refusal("settings-at-odds", "Megatron", word_of(row["why"]));
    }
}

}  // namespace

void refuse_misspelt(SettingsSheet& s, const KnownSettings& known) {
    if (s.printed) return;
    const std::vector<std::string> names = names_read("megatron", known);
    int strange = 0;  // settings of no known name
    for (const std::string& key : s.open_keys()) {
        if (known.knows(key) || std::find(names.begin(), names.end(), key) != names.end()
            || ++strange > kMostStrange)
            continue;
        if (key.find(' ') != std::string::npos) {  // "${ARGS[@]}" of an array with "--flag value" in it
            s.error("word-with-blank", shown_text(s.written(key)),
                    " is one word of the shell, which Megatron takes for no flag: without quotes around the "
                    "array, ${ARGS[@]}, it is a flag and its value");
            continue;
        }
        std::string flag(near_miss(key, names));
        if (flag.empty()) continue;
        std::replace(flag.begin(), flag.end(), '_', '-');
        s.error("setting-unknown", s.written(key), " is no setting of Megatron; the closest is --", flag);
    }
    if (strange > kMostStrange)
        s.problem(Severity::warning, "many-unknown", strange,
                  " settings are none of Megatron's; of the first ", kMostStrange,
                  " only it was looked whether one is misspelled.");
}

void refuse_other_words(SettingsSheet& s) {
    if (s.printed) return;  // Megatron took them
    const bool deepspeed = s.has("deepspeed") || s.has("zero_stage");
    for (const auto& row : words("megatron_choices").items()) {
        const nlohmann::json& choices = row.value();
        const Setting* said = s.last(row.key());
        if (!said || !said->unknown.empty() || says_nothing(said->value)) continue;
        const auto is_choice = [&](std::string_view word) {
            return std::any_of(choices.begin(), choices.end(), [&](const auto& one) {
                // Megatron-DeepSpeed writes its choices in small letters: rmsnorm.
                return word_of(one) == word || (deepspeed && same_letters(word_of(one), word));
            });
        };
        // HabanaAI/Megatron-DeepSpeed 891d6db9 has a third one (megatron/arguments.py).
        if (deepspeed && row.key() == "recompute_granularity" && said->value == "mlp") continue;
        const std::vector<std::string_view> all = split_words(said->value);  // a flag may take several
        if (said->value[0] != '[' && !std::all_of(all.begin(), all.end(), is_choice))
            s.error("word-not-allowed", said->name, ": ", shown_text(said->value),
                    " is not among its words: ",
                    join(choices, ", ", [](const auto& one) { return std::string(word_of(one)); }));
    }
    refuse_other_pairs(s);
}

namespace {

// Reads "2,4", "[2, 4]": whole numbers between anything else.
std::vector<std::int64_t> numbers_in(std::string_view text) {
    std::vector<std::int64_t> out;
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        out.push_back(parse_integer(text.substr(at, end - at)).value_or(0));
        at = end;
    }
    return out;
}

class LayoutReader {
  public:
    LayoutReader(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect)
        : s_(sheet), d_(draft), l_(draft.layout), dialect_(dialect) {}

    void read() {
        degrees();
        if (s_.failed()) return;
        world();
        sharding();
        dispatcher();
        stages();
        shared_prediction();
        empty_layers();
        batch();
        cuts();
    }

  private:
    void degrees() {
        take_fields(s_, d_, dialect_.known, "/layout");
        tp_ = degree(d_, "tp");
        pp_ = degree(d_, "pp");
        cp_ = degree(d_, "cp");
        ep_ = degree(d_, "ep");
        // DeepSpeed's experts are whole on each rank of tp unless a flag cuts them.
        const bool whole = s_.has("moe_expert_parallel_size")
                           && !s_.flag("enable_expert_tensor_parallelism", "/layout/etp").value_or(false);
        etp_ = s_.integer("expert_tensor_parallel_size", "/layout/etp").value_or(whole ? 1 : tp_);
        if (s_.flag("moe_tp_extend_ep", "/layout/ep").value_or(false)) {
            l_["ep"] = ep_ *= etp_;  // MindSpeed: ranks of tp hold other experts, each of them whole
            etp_ = 1;
        }
        if (d_.model.contains("moe") || ep_ > 1 || s_.has("expert_tensor_parallel_size")) l_["etp"] = etp_;
        l_["sequence_parallel"] = l_.value("sequence_parallel", false) && tp_ > 1;
        const bool outside = s_.flag("use_tp_pp_dp_mapping", "/layout/order").value_or(false);
        l_["order"] = outside ? "tp-cp-ep-pp-dp" : "tp-cp-ep-dp-pp";
        // Megatron-DeepSpeed's own way: heads for tokens over these ranks.
        const auto ulysses = s_.integer("ds_sequence_parallel_size", "/layout/cp");
        if (ulysses.value_or(1) > 1 && !s_.has("context_parallel_size")) {
            l_["cp"] = cp_ = *ulysses;
            l_.emplace("cp_comm", "ulysses");
        }
        hierarchy(s_.value_of("cp_comm_type") == "a2a+p2p");
        weight_shards();
    }

    // From model_parallel_config.py: the sizes of the levels, the all-to-all's first.
    void hierarchy(bool used) {
        const auto sizes = s_.text("hierarchical_context_parallel_sizes", "/layout/cp_inner");
        if (!sizes) return;
        const std::vector<std::int64_t> levels = numbers_in(*sizes);
        std::int64_t all = 1;
        for (const std::int64_t n : levels) all *= std::clamp<std::int64_t>(n, 0, 1 << 20);
        if (used && levels.size() == 2 && all == cp_)
            l_["cp_inner"] = levels.front();
        else if (used && levels.size() != 2)
            s_.cannot_hold("hierarchical_context_parallel_sizes", "the plan has two levels");
        else if (used)
            s_.refusal("context-levels", "Megatron", s_.written("hierarchical_context_parallel_sizes"), " ",
                       *sizes, " do not multiply to cp = ", cp_);
    }

    // MindSpeed's empty layers (mindspeed/arguments.py, noop_layers): "60,61" are places of the split that
    // hold nothing.
    void empty_layers() {
        const auto text = s_.text("noop_layers", "/layout/stage_layers");
        const std::int64_t layers = d_.model.value("layers", std::int64_t{0});
        if (!text || layers < 1) return;
        const std::int64_t parts = pp_ * l_.value("virtual_stages", std::int64_t{1});
        std::vector<std::int64_t> held(static_cast<std::size_t>(parts), layers / parts);
        if (l_.contains("stage_layers")) held = l_["stage_layers"].get<std::vector<std::int64_t>>();
        std::int64_t empty = 0;
        for (std::int64_t place : numbers_in(*text)) {
            std::size_t part = 0;
            while (part < held.size() && place >= layers / parts) place -= layers / parts, ++part;
            if (part == held.size() || held[part] == 0) continue;
            --held[part];
            ++empty;
        }
        if (empty == 0) return;
        d_.model["layers"] = layers - empty;
        if (parts > 1) l_["stage_layers"] = held;
    }

    // From model_parallel_config.py: it counts all shards of each weight, tp among them; its quotient by tp
    // is the size of the axis gtp_remat.
    void weight_shards() {
        const auto all = s_.integer("tensor_parallel_num_weight_shards", "/layout/weight_shards");
        const auto remat = s_.integer("gtp_weight_remat_size", "/layout/weight_shards");
        if (!all && remat && *remat > 1) l_["weight_shards"] = *remat;
        if (!all) return;
        if (*all % tp_ != 0)
            s_.refusal("weight-shards", "Megatron", *all, " weight shards are not a multiple of tp = ", tp_);
        else if (*all > tp_)
            l_["weight_shards"] = *all / tp_;
    }

    // token_dispatcher.py: flex is DeepEP's kernels unless another backend is named.
    void dispatcher() {
        const std::string path = "/layout/ep_comm";
        const auto type = s_.text("moe_token_dispatcher_type", path);
        const auto backend = s_.text("moe_flex_dispatcher_backend", path);
        const bool deepep = s_.flag("moe_enable_deepep", path).value_or(false);
        l_["ep_comm"] =
            type && *type == "allgather" ? "allgather" : "alltoall";  // said, not its recipes' own
        if (!deepep && (!type || *type != "flex")) return;
        const std::string kernel = backend.value_or("deepep");
        if (kernel != "deepep" && kernel != "hybridep")
            return s_.cannot_hold("moe_flex_dispatcher_backend", "the plan knows deepep and hybridep");
        l_["ep_comm"] = kernel;
        s_.problem(Severity::info, "ep-kernel-rate", s_.written("moe_flex_dispatcher_backend"), " ", kernel,
                   ": counted by what it sends on each tier, at the rate of an all-to-all.");
    }

    // From arguments.py: world size over tp * pp * cp; parallel_state.py: over etp * ep * pp.
    void world() {
        ask_for_gpus(s_, d_, std::max(tp_ * cp_ * pp_, etp_ * ep_ * pp_));
        const std::int64_t model = tp_ * pp_ * cp_;
        if (d_.gpus % model != 0)
            s_.refusal("world-not-divisible", "Megatron", d_.gpus,
                       " GPUs are not a multiple of tp x pp x cp = ", model)
                .set_field_mends = true;
        if (etp_ * ep_ > 1 && d_.model.contains("moe") && d_.gpus % (etp_ * ep_ * pp_) != 0)
            s_.refusal("expert-world-not-divisible", "Megatron", d_.gpus,
                       " GPUs are not a multiple of etp x ep x pp = ", etp_ * ep_ * pp_)
                .set_field_mends = true;
        dp_ = std::max<std::int64_t>(1, d_.gpus / model);
    }

    void sharding() {
        std::int64_t zero = 0;
        const bool distributed = s_.flag("use_distributed_optimizer", "/layout/zero")
                                     .value_or(dialect_.distributed_optimizer_default);
        // NeMo's names of the distributed optimizer.
        const std::string nemo = s_.value_of("optim.name");
        if (distributed || nemo == "distributed_fused_adam" || nemo == "mcore_distributed_optim") zero = 1;
        // Megatron-DeepSpeed: the stage is another flag than the switch that hands the step to DeepSpeed.
        const auto stage = s_.integer("zero_stage", "/layout/zero", 0, 3);
        if (s_.flag("deepspeed", "/training/software").value_or(false)) {
            d_.training["software"] = pentamesh::name_of(Software::deepspeed);
            zero = stage.value_or(zero);
            unfused_attention();
        } else if (stage) {
            s_.cannot_hold("zero_stage", "without --deepspeed nothing reads it");
        }
        const bool fsdp = s_.flag("use_megatron_fsdp", "/layout/zero").value_or(false);
        const auto strategy = s_.text("data_parallel_sharding_strategy", "/layout/zero");
        if (fsdp) {  // the default of the strategy shards everything
            const std::string word = strategy.value_or("optim_grads_params");
            zero = word == "no_shard" ? 0 : word == "optim" ? 1 : word == "optim_grads" ? 2 : 3;
        }
        if (s_.flag("use_torch_fsdp2", "/layout/zero").value_or(false)) zero = 3;
        // arguments.py, use_layer_wise_distributed_optimizer: each rank keeps the states of some layers.
        if (zero == 0 && s_.value_of("optimizer").starts_with("dist_")) {
            zero = 1;
            s_.problem(
                Severity::info, "states-by-layer", s_.written("optimizer"), " ", s_.value_of("optimizer"),
                ": each rank keeps the states of some layers, which the plan shares out evenly (ZeRO 1).");
        }
        if (s_.flag("torch_fsdp2_no_reshard_after_forward", "/layout/zero").value_or(false))
            l_["reshard"] = "never", s_.map("torch_fsdp2_no_reshard_after_forward", "/layout/reshard");
        std::int64_t instances =
            s_.integer("num_distributed_optimizer_instances", "/layout/dp_replicate").value_or(1);
        if (dp_ % instances != 0) {
            s_.refusal("optimizer-instances", "Megatron", instances,
                       " instances of the optimizer do not divide ", dp_, " data-parallel ranks");
            instances = 1;
        }
        l_["zero"] = zero;
        l_["dp_shard"] = zero > 0 ? dp_ / instances : 1;
        l_["dp_replicate"] = zero > 0 ? instances : dp_;
    }

    // Megatron-DeepSpeed, microsoft's and argonne-lcf's (megatron/arguments.py): only a flag brings
    // FlashAttention, without one the core attention writes its scores; bigscience-workshop's has none.
    void unfused_attention() {
        for (const char* key : {"use_flash_attn", "use_flash_attn_v1", "use_flash_attn_v2",
                                "use_flash_attn_triton", "use_flash_attn_builder"}) {
            const Setting* said = s_.last(key);
            if (said && (!said->stated || flag_of_word(said->value) != false)) return;
        }
        if (d_.training.contains("attention")) return;
        d_.training["attention"] = "math";
        s_.problem(
            Severity::info, "attention-unfused",
            "Megatron-DeepSpeed writes the scores of attention unless a flag (--use-flash-attn-v2) says "
            "another kernel: /training/attention is math.");
    }

    void batch() {
        nlohmann::json& t = d_.training;
        const std::int64_t micro = t.value("micro_batch", std::int64_t{1});
        // Tools over transformers' Trainer say how many micro-batches of a rank make a step.
        const auto calls = s_.integer(own::kMicroBatchesOfAStep);
        if (calls && !t.contains("global_batch")) {
            const bool split = s_.flag("step_is_split_by_ep", "/training/global_batch").value_or(false);
            const std::int64_t all = std::min(micro, kMost) * std::min(*calls, kMost) * std::min(dp_, kMost);
            t["global_batch"] = std::max(all / (split ? ep_ : 1), std::min(micro, kMost));
        }
        if (!t.contains("global_batch")) t["global_batch"] = micro * dp_;
        const std::int64_t global = t["global_batch"].get<std::int64_t>();
        if (global % (micro * dp_) != 0 && !s_.has("global_batch_size") && !s_.has("micro_batch_size"))
            ask_for_batch(s_, d_, 1, dp_);  // the text says neither: its recipe's own are not known
        else if (global % (micro * dp_) != 0)
            s_.refusal("batch-not-divisible", "Megatron", "the global batch of ", global,
                       " is not a multiple of micro-batch ", micro, " x ", dp_, " data-parallel ranks")
                .set_field_mends = true;
        for (const char* key : {"rampup_batch_size", "step_batch_size_schedule"})
            s_.cannot_hold(key, "the plan has one batch: the final one stands");
        if (s_.has("step_batch_size_schedule") && s_.has("global_batch_size") && dialect_.command_line)
            s_.refusal("two-batches", "Megatron",
                       "--step-batch-size-schedule stands together with --global-batch-size");
    }

    // ---- stages ---------------------------------------------------------------------------------------

    void stages() {
        const auto per_chunk = s_.integer("num_layers_per_virtual_pipeline_stage", "/layout/virtual_stages");
        auto chunks = s_.integer("num_virtual_stages_per_pipeline_rank", "/layout/virtual_stages");
        if (!chunks) chunks = s_.integer("virtual_pipeline_model_parallel_size", "/layout/virtual_stages");
        auto layout = written_layout();
        const Setting* const said = s_.last("pipeline_model_parallel_layout");
        const bool unread = said && !layout && !said->unknown.empty();
        for (const char* key : {"hybrid_layer_pattern", "hybrid_override_pattern"})
            if (std::string all = s_.value_of(key);
                all.find('|') < all.find('/') && d_.model.contains("pattern")) {
                all.erase(std::min(all.find('/'), all.size()));
                std::replace_if(
                    all.begin(), all.end(), [](char c) { return c != '|'; }, 't');
                layout = "E" + all + "L";
            }
        if (per_chunk.has_value() + chunks.has_value() + layout.has_value() > 1 && dialect_.command_line) {
            std::string named;
            for (const char* key : {"num_layers_per_virtual_pipeline_stage",
                                    "num_virtual_stages_per_pipeline_rank", "pipeline_model_parallel_layout"})
                if (s_.has(key)) named += (named.empty() ? "" : " and ") + s_.written(key);
            s_.refusal("two-virtual-stages", "Megatron", named,
                       " stand together: one says the virtual stages");
            return;
        }
        if (const auto n =
                s_.integer("microbatch_group_size_per_virtual_pipeline_stage", "/layout/microbatch_group"))
            group_ = *n;
        if (const auto n = s_.integer("microbatch_group_size_per_vp_stage", "/layout/microbatch_group"))
            group_ = *n;  // Megatron-Core's own name, which Bridge uses
        const std::int64_t layers = d_.model.value("layers", std::int64_t{0});
        const bool embedding =
            s_.flag("account_for_embedding_in_pipeline_split", "/layout/stage_layers").value_or(false);
        const bool loss =
            s_.flag("account_for_loss_in_pipeline_split", "/layout/stage_layers").value_or(false);
        const std::int64_t counted = layers + (embedding ? 1 : 0) + (loss ? 1 : 0);
        std::int64_t v = chunks.value_or(1);
        if (per_chunk && layers > 0) {
            if (counted % (pp_ * *per_chunk) != 0) {
                s_.refusal("layers-not-divisible", "Megatron", counted, " layers are not a multiple of pp ",
                           pp_, " x ", *per_chunk, " layers a virtual stage")
                    .set_field_mends = true;
                return;
            }
            v = counted / pp_ / *per_chunk;
        }
        if (layout) {
            v = from_layout(*layout, layers);
            if (v == 0) return;
        } else if (!unread) {
            split(layers, v, embedding, loss);
        }
        l_["virtual_stages"] = v;
        l_["schedule"] = std::string(pentamesh::name_of(usual_schedule(v)));
        if (v > 1 && group_ > 0) l_["microbatch_group"] = group_;
    }

    // Returns true at a text that a program works out: a name, a list that has more than the words of a
    // layout.
    [[nodiscard]] static bool is_made(std::string_view text) {
        if (!text.starts_with('['))
            return text.find_first_of("|*") == std::string_view::npos
                   && !parse_pipeline_layout(text).error.empty();
        bool any = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            std::size_t end = i;
            while (end < text.size() && is_name_char(text[end])) ++end;
            const std::string_view word = text.substr(i, end - i);
            if (word.empty() && std::string_view("[], '\"\n").find(text[i]) == std::string_view::npos)
                return true;
            if (word.empty()) continue;
            if (word != "embedding" && word != "decoder" && word != "mtp" && word != "loss") return true;
            any = true;
            i = end - 1;
        }
        return !any;
    }

    // Returns the layout that is written; nothing, and asks for it, where a program makes it.
    std::optional<std::string> written_layout() {
        const char* const key = "pipeline_model_parallel_layout";
        auto text = s_.text(key, "/layout/stage_layers");
        if (!text || dialect_.command_line || s_.last(key)->quoted
            || !parse_number_list(*text).value_or(std::vector<std::int64_t>{}).empty() || !is_made(*text))
            return text;
        s_.leave_unknown(key, *text);
        return s_.text(key, "/layout/stage_layers");
    }

    std::int64_t from_layout(const std::string& text, std::int64_t layers) {
        PipelineParts parts = parse_pipeline_layout(text);
        if (const auto list = parse_number_list(text);
            list && !list->empty())  // given for /layout/stage_layers
            parts = {*list, -1, {}};
        const std::string name = s_.written("pipeline_model_parallel_layout");
        if (!parts.error.empty()) {
            s_.error("pipeline-layout", name, ": ", text, ": ", parts.error);
            return 0;
        }
        const auto n = static_cast<std::int64_t>(parts.layers.size());
        std::int64_t sum = 0;
        for (const std::int64_t x : parts.layers) sum += x;
        if (n % pp_ != 0 || (layers > 0 && sum != layers)) {
            s_.refusal("pipeline-layout", "Megatron", name, " has ", n, " stages with ", sum,
                       " layers, where pp is ", pp_, " and the model has ", layers, " layers");
            return 0;
        }
        l_["stage_layers"] = parts.layers;
        if (parts.mtp_part >= 0 && parts.mtp_part + 1 < n) l_["mtp_chunk"] = parts.mtp_part;
        return n / pp_;
    }

    void split(std::int64_t layers, std::int64_t v, bool embedding, bool loss) {
        auto first = s_.integer("decoder_first_pipeline_num_layers", "/layout/stage_layers");
        auto last = s_.integer("decoder_last_pipeline_num_layers", "/layout/stage_layers");
        const bool older =
            s_.has("num_layers_in_first_pipeline_stage") || s_.has("num_layers_in_last_pipeline_stage");
        if (!first) first = s_.integer("num_layers_in_first_pipeline_stage", "/layout/stage_layers");
        if (!last) last = s_.integer("num_layers_in_last_pipeline_stage", "/layout/stage_layers");
        if ((first || last) && (embedding || loss) && older) {
            s_.refusal("two-splits", "Megatron",
                       "--num-layers-in-first/last-pipeline-stage stands together with "
                       "--account-for-embedding/loss-in-pipeline-split");
            return;
        }
        if (layers <= 0) return;
        // MindSpeed-LLM's own list, "15,15,15,16", and that of Yuan's fork.
        for (const char* key : {"num_layer_list", "pipeline_model_parallel_blocks"})
            if (const auto list = s_.text(key, "/layout/stage_layers")) {
                l_["stage_layers"] = numbers_in(*list);
                return;
            }
        const std::int64_t n = pp_ * v;
        std::vector<std::int64_t> out;
        if (first || last) {
            const std::int64_t ends = first.value_or(0) + last.value_or(0), rest = layers - ends;
            const std::int64_t middle = pp_ - (first ? 1 : 0) - (last ? 1 : 0);
            const bool fits = rest >= 0 && (middle == 0 ? rest == 0 : rest % (middle * v) == 0)
                              && first.value_or(0) % v == 0 && last.value_or(0) % v == 0;
            if (!fits) return refuse_split(rest, middle * v, "layers between the first and the last stage");
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t stage = i % pp_;
                out.push_back(stage == 0 && first        ? *first / v
                              : stage == pp_ - 1 && last ? *last / v
                                                         : rest / std::max<std::int64_t>(middle * v, 1));
            }
        } else {
            const std::int64_t counted = layers + (embedding ? 1 : 0) + (loss ? 1 : 0);
            if (counted % n != 0) return refuse_split(counted, n, "layers");
            if (!embedding && !loss) return;  // even: the plan's default
            out.assign(static_cast<std::size_t>(n), counted / n);
            if (embedding) --out.front();
            if (loss) --out.back();
        }
        l_["stage_layers"] = out;
    }

    void refuse_split(std::int64_t layers, std::int64_t stages, const char* what) {
        s_.refusal("layers-not-divisible", "Megatron", layers, " ", what, " do not divide over ", stages,
                   " stages")
            .set_field_mends = true;
    }

    // Megatron can predict every further token with the same layer (multi_token_prediction.py).
    void shared_prediction() {
        const char* const key = "mtp_use_repeated_layer";
        if (!s_.has(key)) return;
        const bool shared = s_.flag(key, "/model/mtp_layers").value_or(false);
        const auto depths = d_.model.value("mtp_layers", std::int64_t{0});
        if (!shared || depths < 2) return s_.ignore(key);
        s_.cannot_hold(key, "the plan has a prediction layer of its own for each further token");
        s_.problem(Severity::warning, "prediction-layers", s_.written(key),
                   ": Megatron holds one prediction layer and runs it ", depths, " times; the plan counts ",
                   depths, " layers, so that parameters and their memory come out too high.");
    }

    // Checks the sizes that a degree must divide; a model from a preset is checked with the plan.
    void cuts() {
        const auto has = [&](const char* field, std::int64_t& n) {
            const auto it = d_.model.find(field);
            if (it == d_.model.end()) return false;
            n = it->get<std::int64_t>();
            return true;
        };
        std::int64_t n = 0;
        if (has("heads", n) && n % tp_ != 0)
            s_.refusal("heads-not-divisible", "Megatron", n,
                       " attention heads are not a multiple of tp = ", tp_)
                .set_field_mends = true;
        hybrid_cp();
        const auto moe = d_.model.find("moe");
        if (moe == d_.model.end()) {
            if (ep_ > 1 && !dialect_.model_named)
                s_.refusal("ep-without-experts", "Megatron", s_.written("expert_model_parallel_size"),
                           " stands without --num-experts");
            return;
        }
        const std::int64_t experts = moe->value("experts", std::int64_t{0});
        if (experts > 0 && experts % ep_ != 0)
            s_.refusal("experts-not-divisible", "Megatron", experts,
                       " experts are not a multiple of ep = ", ep_)
                .set_field_mends = true;
        const bool deepspeed = s_.has("moe_expert_parallel_size");  // its arguments.py has no such check
        if (tp_ > 1 && !l_["sequence_parallel"].get<bool>() && dialect_.command_line && !dialect_.model_named
            && !deepspeed)
            s_.refusal("moe-without-sequence-parallel", "Megatron", "experts with tp ", tp_,
                       " need --sequence-parallel");
    }

    // Checks what arguments.py asks for with --hybrid-context-parallel.
    void hybrid_cp() {
        const auto on = [&](const char* key) {
            return s_.has(key) && flag_of_word(s_.value_of(key)) != false;
        };
        if (!dialect_.command_line || !on("hybrid_context_parallel")) return;
        const std::string what = s_.written("hybrid_context_parallel");
        if (pp_ > 1) s_.refusal("hybrid-cp", "Megatron", what, " with pipeline parallelism");
        if (on("use_megatron_fsdp")) s_.refusal("hybrid-cp", "Megatron", what, " with Megatron FSDP");
        if (on("multi_latent_attention"))
            s_.refusal("hybrid-cp", "Megatron", what, " with multi-latent attention");
        if (!on("calculate_per_token_loss"))
            s_.refusal("hybrid-cp", "Megatron", what, " without --calculate-per-token-loss");
    }

    static constexpr std::int64_t kMost = std::int64_t{1} << 20;  // hostile numbers multiply to no more
    SettingsSheet& s_;
    PlanDraft& d_;
    nlohmann::json& l_;
    const MegatronDialect& dialect_;
    std::int64_t tp_ = 1, pp_ = 1, cp_ = 1, ep_ = 1, etp_ = 1, dp_ = 1, group_ = 0;
};

}  // namespace

void read_megatron_layout(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect) {
    LayoutReader(sheet, draft, dialect).read();
}

// Reads the two small languages inside Megatron's flags: which layers are MoE, and which layers make a stage.

namespace {

constexpr std::size_t kMostItems = std::size_t{1} << 16;
constexpr int kMostPatternLevels = 40;

// Returns the layout's letters with every "*n" written out: "Et*3|(tt|)*2" -> "Ettt|tt|tt|". It is empty
// where the text is no layout.
std::string written_out(std::string_view text, int level) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ',' || c == ' ') continue;
        std::string unit;
        if (c == '(') {
            int depth = 1;
            std::size_t end = i + 1;
            while (end < text.size() && depth > 0) {
                depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
                ++end;
            }
            if (depth > 0 || level > kMostPatternLevels) return "";
            unit = written_out(text.substr(i + 1, end - i - 2), level + 1);
            if (unit.empty()) return "";
            i = end - 1;
        } else {
            unit = c;
        }
        std::size_t times = 1;
        if (i + 1 < text.size() && text[i + 1] == '*') {
            std::size_t j = i + 2;
            times = 0;
            while (j < text.size() && text[j] >= '0' && text[j] <= '9' && times < kMostItems)
                times = times * 10 + static_cast<std::size_t>(text[j++] - '0');
            if (j == i + 2) return "";
            i = j - 1;
        }
        if (out.size() + unit.size() * times > kMostItems) return "";
        for (std::size_t n = 0; n < times; ++n) out += unit;
    }
    return out;
}

// Returns "Et|tL" of [["embedding", "decoder"], ["decoder", "loss"]], Megatron-Core's other notation.
std::string letters_of_lists(std::string_view text) {
    std::string out, word;
    int depth = 0;
    for (const char c : text) {
        if ((c >= 'a' && c <= 'z') || c == '_') {
            word.push_back(c);
            continue;
        }
        if (!word.empty())
            out += word == "embedding" ? "E" : word == "decoder" ? "t" : word == "mtp" ? "m" : "L";
        word.clear();
        if (c == '[' && ++depth == 2 && !out.empty()) out += '|';
        if (c == ']') --depth;
    }
    return out;
}

}  // namespace

std::optional<std::vector<std::int64_t>> parse_number_list(std::string_view text) {
    const PythonValue list = python_value(text, {}, kMostItems);
    if (list.kind != PythonValue::Kind::list) return std::nullopt;
    std::vector<std::int64_t> out;
    for (const PythonValue& item : list.items) {
        if (item.kind != PythonValue::Kind::number) return std::nullopt;
        out.push_back(item.number);
    }
    return out;
}

std::optional<std::vector<int>> parse_layer_pattern(std::string_view text) {
    const auto list = parse_number_list(text);
    if (!list) return std::nullopt;
    std::vector<int> out;
    for (const std::int64_t n : *list) {
        if (n < 0 || n > 1) return std::nullopt;
        out.push_back(static_cast<int>(n));
    }
    return out;
}

// From Megatron-LM, megatron/core/transformer/pipeline_parallel_layer_layout.py: E is embedding, t layer, m
// prediction layer, L loss, | the end of a stage.
PipelineParts parse_pipeline_layout(std::string_view text) {
    PipelineParts out;
    std::string letters = written_out(text, 0);
    if (text.starts_with("[[")) letters = letters_of_lists(text);
    if (letters.empty()) {
        out.error = "it is no layout of stages such as Et*3|(tt|)*29,m|L";
        return out;
    }
    out.layers.push_back(0);
    for (const char c : letters) {
        if (c == '|')
            out.layers.push_back(0);
        else if (c == 't')
            ++out.layers.back();
        else if (c == 'm')
            out.mtp_part = static_cast<std::int64_t>(out.layers.size()) - 1;
        else if (c != 'E' && c != 'L') {
            out.error = std::string("it has the letter ") + c + "; E, t, m, L, |, * and ( ) are known";
            out.layers.clear();
            return out;
        }
    }
    return out;
}

// Reads Megatron-Bridge and NeMo. Recipes: megatron/bridge/recipes/common.py; performance scripts:
// scripts/performance/argument_parser.py; NeMo 1: megatron_gpt_config.yaml; NeMo 2:
// nemo/collections/llm/recipes.

namespace {

// Takes the recipe or model that a text names.
void take_named(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets) {
    // A provider that has the sizes of one model: OlMoEModelProvider.
    if (!preset_for(presets, sheet.value_of("model()")).empty())
        return take_model(sheet, draft, presets, "model()");
    static constexpr std::string_view kNaming[] = {
        own::kFromHfPretrained.name, "recipe",      "mr",     "model_recipe_name",
        "pretrain_recipe()",         "hf_model_id", "factory"};
    for (const std::string_view key : kNaming) {
        std::string value = sheet.value_of(key);
        if (value.empty()) continue;
        value = value.substr(0, value.find('('));  // nemo llm pretrain --factory "llama3_8b(num_nodes=2)"
        if (value.ends_with("_recipe")) {          // llm.llama3_70b.pretrain_recipe
            const std::size_t end = value.rfind('.');
            const std::size_t begin = value.rfind('.', end == std::string::npos || end == 0 ? end : end - 1);
            if (begin == std::string::npos || end == std::string::npos || begin >= end) continue;
            value = value.substr(begin + 1, end - begin - 1);
        }
        // A recipe's name goes on behind the model's: nemotron_3_super_peft_config.
        if (preset_for(presets, value).empty())
            if (const RecipeName of = read_recipe_name(value, presets); !of.model.empty()) value = of.model;
        take_model(sheet, draft, presets, key, value);
        if (!draft.model_preset.empty()) return;
    }
}

// Sets what HybridModelProvider has where the text does not say it (models/hybrid/hybrid_provider.py).
void hybrid_defaults(const SettingsSheet& s, nlohmann::json& m) {
    if (!s.has("add_bias_linear")) {
        m["mlp_bias"] = m["attention_bias"] = false;
        if (m.contains("mamba")) m["mamba"]["bias"] = false;
    }
    if (!s.has("share_embeddings_and_output_weights")) m["tied_embeddings"] = false;
    if (!s.has("normalization")) m["norm"] = "rmsnorm";
    if (s.has("position_embedding_type")) return;
    m["positions"] = "rope";
    m.erase("max_positions");
}

// Sets what Gemma3ModelProvider has (models/gemma/gemma3_provider.py): it is called with sizes only.
void gemma3_defaults(nlohmann::json& m) {
    m["ffn_kind"] = "geglu";
    m["tied_embeddings"] = m["post_norms"] = true;
    m["norm"] = "rmsnorm";
    m["qk_norm"] = "head";
    m["mlp_bias"] = m["attention_bias"] = false;
    m["positions"] = "rope";
    m.erase("max_positions");
    // Its window_size is how many keys a token sees, itself too, where Megatron counts those before it.
    if (m.contains("sliding_window")) m["sliding_window"] = m["sliding_window"].get<std::int64_t>() - 1;
    m["pattern"] = {{{"kind", "window"}, {"ffn", "dense"}, {"count", 5}},
                    {{"kind", "full"}, {"ffn", "dense"}, {"count", 1}}};
}

void read_world(SettingsSheet& s, PlanDraft& d, const Launch* launch) {
    const auto total = s.integer(own::kNumGpus);
    const auto devices = s.integer(own::kDevices), per_node = s.integer("num_gpus_per_node", "/cluster/gpus");
    const auto nodes = s.integer(own::kNumNodes);
    const auto of_node = s.integer(own::kGpusPerNode);
    d.gpus_per_node = devices.value_or(per_node.value_or(of_node.value_or(0)));
    if (d.gpus > 0) return;
    // Without the number of nodes nobody says how many there are: the launcher gives them (ask_for_gpus).
    if (total)
        d.gpus = *total;
    else if (d.gpus_per_node > 0 && nodes)
        d.gpus = d.gpus_per_node * *nodes;
    else if (launch)
        d.gpus = launch->gpus;
}

}  // namespace

std::string class_of_nemo(const std::vector<Setting>& settings, const Presets& presets) {
    constexpr std::string_view kModule = "llm.", kConfig = "Config";
    for (const Setting& s : settings) {
        const std::size_t at = s.value.find(kConfig);
        const std::size_t size = at == std::string::npos ? at : at + kConfig.size();
        if (!s.value.starts_with(kModule) || size >= s.value.size() || s.value[size] < '0'
            || s.value[size] > '9')
            continue;
        const std::string name =
            s.value.substr(kModule.size(), at - kModule.size()) + " " + s.value.substr(size);
        if (std::string id = preset_for(presets, name); !id.empty()) return id;
    }
    return {};
}

void read_bridge(SettingsSheet& s, PlanDraft& d, const Presets& presets, const Launch* launch,
                 const KnownSettings& known) {
    MegatronDialect dialect{.known = known};
    dialect.command_line = false;
    for (const char* key : {"crossattn_emb_size", "num_joint_layers"})  // Wan's, FLUX's
        if (s.has(key)) {
            d.model["hidden"] = s.integer("hidden_size", "/model/hidden").value_or(1);
            return s.error("other-model", "The model is a diffusion transformer (", s.written(key),
                           "): a plan holds language models.");
        }
    const bool sizes = (s.has("num_layers") || s.has("hybrid_layer_pattern")) && s.has("hidden_size");
    const bool own_model = sizes && d.class_model.empty();
    if (d.model_preset.empty()) d.model_preset = d.class_model;
    dialect.model_named = !own_model;
    if (!own_model && d.model_preset.empty()) take_named(s, d, presets);
    for (const char* key : {"recipe", "mr", "model_recipe_name"})
        if (launch && s.unread.empty() && !s.value_of(key).empty())
            s.leave_unread("the recipe " + s.value_of(key));
    if (!own_model && d.model_preset.empty()) d.model_preset = d.named_model;
    const bool nemo1 = s.has("optim.name");
    if (!nemo1) {
        dialect.overlap_default = true;
        dialect.distributed_optimizer_default = true;
        dialect.micro_batch_default = 2;
        dialect.global_batch_default = s.has(own::kMicroBatchesOfAStep.name) ? 0 : 32;
    }
    read_world(s, d, launch);
    const bool experts = presets.has(PresetKind::model, d.model_preset) && presets.model(d.model_preset).moe;
    if (experts) d.model["moe"] = nlohmann::json::object();
    if (!own_model && presets.has(PresetKind::model, d.model_preset))
        dialect.named = presets.model(d.model_preset);
    know_layers(d, presets);
    const bool performance =
        launch
        && (!s.value_of("tensor_model_parallel_size").empty()
            && (launch->program.ends_with("setup_experiment.py") || launch->program == "run_script.py"));
    read_megatron_model(s, d, dialect);
    if (own_model && d.model.contains("pattern") && s.has("hybrid_layer_pattern"))
        hybrid_defaults(s, d.model);
    // A class without kv_channels has heads of hidden over heads.
    if (sizes && !own_model && !s.has("kv_channels") && d.model.contains("heads"))
        d.model["head_dim"] = std::max<std::int64_t>(
            d.model.value("hidden", std::int64_t{1}) / d.model.value("heads", std::int64_t{1}), 1);
    if (own_model && s.written("num_layers").starts_with("Gemma3ModelProvider.")) gemma3_defaults(d.model);
    if (d.model.contains("moe") && d.model["moe"].empty()) d.model.erase("moe");
    read_megatron_training(s, d, dialect);
    if (experts && !d.no_experts && !d.model.contains("moe")) d.model["moe"] = nlohmann::json::object();
    read_megatron_layout(s, d, dialect);
    if (d.model.contains("moe") && d.model["moe"].empty()) d.model.erase("moe");
    // The performance scripts set it wherever there is tensor parallelism.
    if (performance && !s.has("sequence_parallel")) d.layout["sequence_parallel"] = degree(d, "tp") > 1;
}

}  // namespace pentamesh::interop
