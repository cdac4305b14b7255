// Reads torchtitan: TOML until February 2026 (torchtitan/config/job_config.py), Python and flags since
// (torchtitan/config, torchtitan/distributed/parallel_dims.py, pipeline_parallel.py).
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/script/settings.h"
#include "core/interop/state_types.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/names.h"

#include <algorithm>
#include <numeric>

namespace pentamesh::interop {
namespace {

class ClassReader {
  public:
    ClassReader(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const KnownSettings& known)
        : s_(sheet), d_(draft), l_(draft.layout), presets_(presets), known_(known) {}

    void read() {
        unknown_fields();
        model();
        degrees();
        if (s_.failed()) return;
        precision();
        pipeline();
        batch();
        recompute();
    }

  private:
    // The framework refuses a field of [parallelism] that it does not have.
    void unknown_fields() {
        const std::vector<std::string> names = known_.all_of_section("parallelism");
        const std::vector<std::string_view> known(names.begin(), names.end());
        int strange = 0;
        for (const std::string& key : s_.open_keys()) {
            const std::string name = s_.written(key);
            const bool degree = name.find("arallelism.") != std::string::npos
                                || name.find("ParallelismConfig.") != std::string::npos;
            const bool is_call = key.find('(') != std::string::npos;
            if (!degree || is_call || std::find(known.begin(), known.end(), key) != known.end()) continue;
            if (++strange > kMostStrange) continue;
            s_.error("setting-unknown", name, ": torchtitan has no such field; the closest is ",
                     nearest(key, known));
        }
        if (strange > kMostStrange)
            s_.error("many-unknown", strange, " fields of parallelism are none of torchtitan's; the first ",
                     kMostStrange, " are named.");
    }

    void model() {
        std::string name = s_.value_of("model.name");
        const std::string flavor = s_.value_of("flavor");
        if (!name.empty()) {
            s_.map("model.name", "/model");
            s_.map("flavor", "/model");
        }
        registered_flavour();
        for (const char* key : {"config", "model_registry(0)", "hf_assets_path", "tokenizer_path"}) {
            const std::string value = s_.value_of(key);
            if (value.empty() || !d_.model_preset.empty()) continue;
            if (!name.empty() && !flavor.empty()) d_.model_preset = preset_for(presets_, name + " " + flavor);
            if (d_.model_preset.empty()) d_.model_preset = preset_for(presets_, value);
            if (!d_.model_preset.empty()) s_.map(key, "/model");
        }
        if (d_.model_preset.empty() && !name.empty())
            d_.model_preset = preset_for(presets_, name + " " + flavor);
        if (d_.model_preset.empty() && !flavor.empty()) d_.model_preset = shipped(name, flavor);
        if (d_.model_preset.empty() && name.empty()) d_.model_preset = d_.named_model;
        if (!d_.model_preset.empty() && presets_.has(PresetKind::model, d_.model_preset))
            layers_ = presets_.model(d_.model_preset).layers;
        else if (const auto own = d_.model.find("layers"); own != d_.model.end() && own->is_number_integer())
            layers_ = own->get<std::int64_t>();  // of a model that is given in a file
    }

    // Returns the preset of a family's flavour, as torchtitan's own table has it; empty: none has its shape.
    [[nodiscard]] std::string shipped(std::string_view family, std::string_view flavour) const {
        for (const auto& [id, row] : words("torchtitan_flavours").items())
            if (word_of(row[0]) == family && same_letters(word_of(row[1]), flavour)
                && presets_.has(PresetKind::model, id))
                return id;
        return {};
    }

    // model_registry("70B") names the model; the assets are its tokenizer's, whose folder names the family.
    // torchtitan's llama3 is both Llama 3 and 3.1.
    void registered_flavour() {
        const std::string flavour = s_.value_of("model_registry(0)");
        const std::string assets = s_.value_of("hf_assets_path");
        const bool llama =
            assets.find("Llama-3.1") != std::string::npos || assets.find("Llama-3-") != std::string::npos;
        if (flavour.empty() || !llama || !d_.model_preset.empty()) return;
        d_.model_preset = preset_for(presets_, "llama3 " + flavour);
        if (!d_.model_preset.empty())
            s_.map("model_registry(0)", "/model"), s_.map("hf_assets_path", "/model");
    }

    void degrees() {
        take_fields(s_, d_, known_, "/layout");
        take_fields(s_, d_, known_, "/training/overlap");
        const std::int64_t tp = degree(d_, "tp"), cp = degree(d_, "cp"), ep = degree(d_, "ep");
        const std::int64_t replicate = degree(d_, "dp_replicate");
        pp_ = degree(d_, "pp");
        std::int64_t shard = l_.value("dp_shard", std::int64_t{-1});
        const std::int64_t rest = tp * cp * pp_ * replicate;
        // Experts are spread over all ranks but those of pp and of the replicas (parallel_dims.py).
        if (shard < 1 && d_.gpus == 0) ask_for_gpus(s_, d_, rest * (ep / std::gcd(ep, cp * tp)));
        if (d_.gpus == 0) d_.gpus = rest * shard;
        if (shard < 1) shard = std::max<std::int64_t>(1, d_.gpus / std::max<std::int64_t>(rest, 1));
        if (rest * shard != d_.gpus)
            s_.refusal("world-not-divisible", "torchtitan", "dp_replicate x dp_shard x cp x tp x pp is ",
                       rest * shard, ", the job has ", d_.gpus, " GPUs")
                .set_field_mends = true;
        l_["dp_shard"] = shard;
        l_["dp_replicate"] = replicate;
        l_["zero"] = shard > 1 || cp > 1 ? 3 : 0;
        l_["order"] = "tp-cp-ep-dp_shard-dp_replicate-pp";
        l_["sequence_parallel"] =
            tp > 1 && s_.flag("enable_sequence_parallel", "/layout/sequence_parallel").value_or(true);
        if (ep > 1) l_.emplace("etp", 1);
        // From parallelize.py: by default weights stay gathered under a pipeline.
        const std::string reshard =
            s_.text("fsdp_reshard_after_forward", "/layout/reshard").value_or("default");
        const bool kept = reshard == "never" || (reshard == "default" && pp_ > 1);
        if (l_["zero"] == 3 && (kept || pp_ > 1)) l_["reshard"] = kept ? "never" : "after_forward";
        if (cp > 1)
            l_.emplace("cp_comm", "allgather");
        else
            l_.erase("cp_comm");
        ranks_ = shard * replicate;
    }

    void precision() {
        d_.training["compute"] = "bf16";
        take_fields(s_, d_, known_, "/training");
        states();
        // TOML names converters, Python makes them: [Float8LinearConverter.Config()].
        const std::string converters = s_.text("converters", "/training/compute").value_or("");
        const auto made = [&](const std::string& call) {
            return s_.has(call) || converters.find(call.substr(0, call.size() - 1)) != std::string::npos;
        };
        const bool mxfp8 =
            converters.find("mxfp8") != std::string::npos || made("MXFP8LinearConverter.Config()");
        const bool python = made("Float8LinearConverter.Config()");
        if (mxfp8 || python || made("Float8LinearConfig()") || converters.find("float8") != std::string::npos)
            d_.training["compute"] = "fp8";
        // components/quantization/float8.py: rows, since the configurations are in Python; before, tensors
        // where no recipe was named.
        const std::string recipe = s_.text("recipe_name", "/training/fp8_recipe").value_or("");
        if (mxfp8)
            d_.training["fp8_recipe"] = "mxfp8";
        else if (d_.training["compute"] == "fp8" && (python || recipe.find("rowwise") != std::string::npos))
            d_.training["fp8_recipe"] = "rowwise";
        if (!s_.flag("enable_cpu_offload", "/training/offload").value_or(false)) return;
        if (l_["zero"] != 3)
            return s_.cannot_hold("enable_cpu_offload", "the plan offloads parameters only at ZeRO-3");
        d_.training["offload"] = {{"parameters", 1.0}, {"optimizer", 1.0}};
    }

    // config/configs.py: training.dtype is the type that weights are stored in, fp32 where it is not said;
    // mixed precision casts what is gathered.
    void states() {
        if (const std::string reduced = s_.value_of("mixed_precision_reduce"); reduced == "bfloat16")
            s_.cannot_hold("mixed_precision_reduce",
                           "gradients are sent in it and kept in the type of the weights: the plan has one "
                           "type for both (/training/gradients)");
        else
            s_.map("mixed_precision_reduce", "/training/gradients");
        StateSettings named;
        named.stored = own::kDtype.name;
        named.optimizer = "optimizer.name";
        read_state_types(s_, d_, named);
        if (d_.states_read) return;
        for (const char* field : {"parameters", "gradients", "optimizer_state"})
            d_.training.emplace(field, "fp32");
        d_.training.emplace("master_weights", "none");
        d_.states_read = true;
    }

    void pipeline() {
        const std::string name = s_.text("pipeline_parallel_schedule", "/layout/schedule").value_or("1F1B");
        const auto per_stage = s_.integer("pipeline_parallel_layers_per_stage", "/layout/virtual_stages");
        const auto less_first =
            s_.integer("pipeline_parallel_first_stage_less_layers", "/layout/stage_layers", 0);
        const auto less_last =
            s_.integer("pipeline_parallel_last_stage_less_layers", "/layout/stage_layers", 0);
        const std::vector<std::int64_t> listed = listed_parts();
        if (pp_ <= 1) return;
        std::optional<Schedule> schedule = schedule_called(&ScheduleTraits::torchtitan, name);
        if (!schedule && same_letters(name, "InterleavedZeroBubble")) {
            s_.cannot_hold("pipeline_parallel_schedule", "the plan has no interleaved zero-bubble schedule");
            schedule = usual_schedule(2);
        }
        if (!schedule) {
            s_.error("schedule-unknown", s_.written("pipeline_parallel_schedule"), ": ", name,
                     " is no schedule of torchtitan");
            return;
        }
        const std::int64_t input = less_first.value_or(1), output = less_last.value_or(1);
        std::int64_t v = usual_chunks(*schedule);
        if (per_stage && layers_ > 0)
            v = std::max<std::int64_t>(1, (layers_ + input + output + *per_stage - 1) / *per_stage / pp_);
        const auto parts = static_cast<std::int64_t>(listed.size());
        const bool whole = parts % pp_ == 0;
        if (!whole)
            s_.refusal("model-parts", "torchtitan", "module_fqns_per_model_part has ", parts,
                       " parts, no multiple of pp = ", pp_);
        if (parts > 0) v = std::max<std::int64_t>(1, parts / pp_);
        l_["virtual_stages"] = v;
        l_["schedule"] = std::string(pentamesh::name_of(*schedule));
        if (parts > 0 && whole)
            l_["stage_layers"] = listed;
        else
            stage_layers(pp_ * v, input, output);
    }

    // Reads [["tok_embeddings", "layers.0"], ["layers.1", "norm", "lm_head"]]: layers of each part. It is
    // empty where the list is missing or cannot be read.
    std::vector<std::int64_t> listed_parts() {
        const char* key = "module_fqns_per_model_part";
        const std::string text = s_.value_of(key);
        if (text.empty() || text == "[]" || says_nothing(text)) return {};
        std::vector<std::int64_t> out;
        std::int64_t all = 0;
        int depth = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
            if (text[i] == '[' && depth == 2) out.push_back(0);
            if (depth == 2 && !out.empty() && text.compare(i, 7, "layers.") == 0) ++out.back(), ++all;
        }
        if (depth != 0 || out.empty() || all == 0 || (layers_ > 0 && all != layers_)) {
            s_.cannot_hold(key, "it does not name each layer of the model in one part");
            return {};
        }
        s_.map(key, "/layout/stage_layers");
        return out;
    }

    // Follows pipeline_parallel.py, generate_llm_fqn_per_model_part: the ends hold fewer layers, the rest
    // goes to the first.
    void stage_layers(std::int64_t stages, std::int64_t input, std::int64_t output) {
        if (layers_ <= 0 || stages <= 1) return;
        const std::int64_t counted = layers_ + input + output;
        std::vector<std::int64_t> out;
        for (std::int64_t i = 0; i < stages; ++i)
            out.push_back(counted / stages + (i < counted % stages ? 1 : 0));
        out.front() = std::max<std::int64_t>(0, out.front() - input);
        out.back() = std::max<std::int64_t>(0, out.back() - output);
        l_["stage_layers"] = out;
    }

    void batch() {
        nlohmann::json& t = d_.training;
        std::int64_t sequence = s_.integer("seq_len", "/training/sequence_length").value_or(0);
        if (sequence == 0)
            sequence = s_.integer("max_context_length", "/training/sequence_length").value_or(0);
        if (sequence > 0) t["sequence_length"] = sequence;
        const auto tokens = product("num_tokens_per_microbatch_per_dp_rank", "/training/micro_batch");
        const auto total = product("num_tokens_per_train_step", "/training/global_batch");
        if (tokens && sequence > 0) {
            const std::int64_t micro = std::max<std::int64_t>(1, *tokens / sequence);
            const std::int64_t calls =
                s_.integer("num_pp_microbatches", "/training/global_batch").value_or(pp_ > 1 ? pp_ : 1);
            t["micro_batch"] = micro;
            t["global_batch"] = total && *total > 0 ? *total / sequence : micro * ranks_ * calls;
            return;
        }
        auto local = s_.integer("local_batch_size", "/training/micro_batch");
        if (!local) local = s_.integer("batch_size", "/training/micro_batch");
        const auto global = s_.integer("global_batch_size", "/training/global_batch", -1);
        const auto pipelined = s_.integer("pipeline_parallel_microbatch_size", "/training/micro_batch");
        if (!local) return ask_for_batch(s_, d_, 1, ranks_);
        const std::int64_t micro = pp_ > 1 ? pipelined.value_or(1) : *local;
        t["micro_batch"] = micro;
        t["global_batch"] = global && *global > 0 ? *global : *local * ranks_;
        if (t["global_batch"].get<std::int64_t>() % (micro * ranks_) != 0)
            s_.refusal("batch-not-divisible", "torchtitan", "the global batch of ",
                       t["global_batch"].get<std::int64_t>(), " is not a multiple of ", micro * ranks_)
                .set_field_mends = true;
    }

    // Reads "64 * 32768": a product of whole numbers, as Python configurations write tokens.
    std::optional<std::int64_t> product(std::string_view key, std::string_view path) {
        const auto text = s_.text(key, path);
        if (!text) return std::nullopt;
        std::int64_t n = 1;
        std::size_t at = 0;
        while (at <= text->size()) {
            const std::size_t end = std::min(text->find('*', at), text->size());
            std::string part = text->substr(at, end - at);
            std::erase(part, ' ');
            const auto x = parse_integer(part);
            if (!x || *x < -1 || *x > (std::int64_t{1} << 40) || n > (std::int64_t{1} << 40)) {
                s_.error("setting-not-allowed", s_.written(key), ": found ", *text,
                         ", must be a whole number of tokens");
                return std::nullopt;
            }
            n *= *x;
            at = end + 1;
        }
        return n;
    }

    void recompute() {
        nlohmann::json& t = d_.training;
        if (const auto call = s_.text("activation_checkpoint()", "/training/recompute"))
            t["recompute"] = call->find("Full") != std::string::npos        ? "full"
                             : call->find("Selective") != std::string::npos ? "selective"
                                                                            : "none";
        if (s_.has("activation_checkpoint") && says_nothing(s_.value_of("activation_checkpoint"))) {
            s_.map("activation_checkpoint", "/training/recompute");
            t["recompute"] = "none";
        }
        // Without a word of it torchtitan recomputes: trainer.py has SelectiveAC; the releases with TOML had
        // the mode "selective" with the option "2" (job_config.py).
        if (t.emplace("recompute", "selective").second) {
            s_.problem(
                Severity::info, "recompute-default",
                "The text does not say activation_checkpoint: torchtitan's default, selective, stands.");
        }
        const bool toml = s_.has("model.name");
        const std::string option =
            s_.text("selective_ac_option", "/training/recompute").value_or(toml ? "2" : "op");
        if (option != "op" && t["recompute"] == "selective") every_nth(option);
    }

    // Every n-th layer is recomputed whole: on average an n-th of each chunk.
    void every_nth(const std::string& option) {
        const auto n = parse_integer(option);
        const std::int64_t chunks = pp_ * l_.value("virtual_stages", std::int64_t{1});
        const std::int64_t layers = layers_ / std::max<std::int64_t>(chunks, 1);
        if (!n || *n < 1 || layers < 1)
            return s_.cannot_hold("selective_ac_option",
                                  "the plan counts recomputed layers, and the layers are not known");
        d_.training["recompute"] = "full";
        if (*n > 1)
            d_.training["recompute"] = {{"layers", std::max<std::int64_t>(layers / *n, 1)},
                                        {"method", "block"}};
    }

    SettingsSheet& s_;
    PlanDraft& d_;
    nlohmann::json& l_;
    const Presets& presets_;
    const KnownSettings& known_;
    std::int64_t pp_ = 1, ranks_ = 1, layers_ = 0;
};

}  // namespace

void read_torchtitan(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                     const KnownSettings& known) {
    if (launch && draft.gpus == 0) draft.gpus = launch->gpus;
    ClassReader(sheet, draft, presets, known).read();
}

}  // namespace pentamesh::interop
