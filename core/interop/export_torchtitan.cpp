// Writes torchtitan's Python configuration: torchtitan/config/configs.py, distributed/pipeline_parallel.py.
#include "core/interop/export_page.h"
#include "core/interop/words.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Returns torchtitan's family and flavour of the plan's model; null: it ships none.
const nlohmann::ordered_json* flavour_of(const Plan& plan) {
    const auto& all = words("torchtitan_flavours");
    const auto it = all.find(plan.model_source.preset);
    return it == all.end() || !plan.model_source.overrides.empty() ? nullptr : &*it;
}

// Follows _generate_llm_fqn_per_model_part: the ends count for `first` and `last` layers more, the rest goes
// to the first parts. It is empty where torchtitan refuses.
std::vector<std::int64_t> titan_split(std::int64_t layers, std::int64_t parts, std::int64_t first,
                                      std::int64_t last) {
    const std::int64_t counted = layers + first + last, each = counted / parts;
    if (each == 0 || first > each || last > each) return {};
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < parts; ++i) out.push_back(each + (i < counted % parts ? 1 : 0));
    out.front() -= first;
    out.back() -= last;
    return out;
}

Parts module_names(const std::vector<std::int64_t>& layers) {
    Parts out;
    std::int64_t next = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        std::vector<std::string>& part = out.emplace_back();
        if (i == 0) part.emplace_back("tok_embeddings");
        for (std::int64_t k = 0; k < layers[i]; ++k) part.push_back("layers." + std::to_string(next++));
        if (i + 1 == layers.size()) part.insert(part.end(), {"norm", "lm_head"});
    }
    return out;
}

// Finds the shortest way to the plan's own split.
void titan_stages(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const std::vector<std::int64_t> layers = chunk_layers(p);
    const auto parts = static_cast<std::int64_t>(layers.size());
    if (parts != l.pp * l.virtual_stages) return;  // a schedule that is lost anyway
    const std::int64_t usual = usual_chunks(l.schedule);
    for (std::int64_t ends = 0; ends <= 8; ++ends) {
        const std::int64_t first = ends % 3, last = ends / 3, counted = p.model.layers + first + last;
        if (titan_split(p.model.layers, parts, first, last) != layers) continue;
        const std::int64_t each = (counted + parts - 1) / parts;
        if (l.virtual_stages != usual && (counted + each - 1) / each != parts) continue;
        if (l.virtual_stages != usual) page.put("/layout/virtual_stages", each);
        page.say("parallelism.pipeline_parallel_first_stage_less_layers", first);
        page.say("parallelism.pipeline_parallel_last_stage_less_layers", last);
        return;
    }
    page.put("/layout/stage_layers", module_names(layers));
}

void titan_pipeline(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    if (l.pp == 1) return;
    const std::string_view name = traits_of(l.schedule).torchtitan;
    if (name.empty()) return;
    page.put("/layout/schedule", std::string(name));
    titan_stages(page);
    page.say("parallelism.num_pp_microbatches", microbatches_of(p));
}

void titan_degrees(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const bool shards = l.dp_shard * l.cp > 1 && l.zero == 3;
    const bool merged = l.zero == 0;  // all ranks are replicas
    page.put("/layout/dp_replicate", merged ? data_ranks(p) : replicas(p));
    page.put("/layout/dp_shard", merged ? std::int64_t{1} : l.dp_shard);
    if (shards)
        page.put("/layout/reshard", std::string(reshard_of(p) == Reshard::never ? "never" : "always"));
    lose_reduction(page, usual_reduction(p, Software::torchtitan));
    page.put("/layout/tp", l.tp);
    if (l.tp > 1) page.put("/layout/sequence_parallel", l.sequence_parallel);
    page.put("/layout/cp", l.cp);
    if (l.cp > 1 && l.cp_comm != CpComm::allgather)
        page.note("cp_comm ", l.cp_comm,
                  ": torchtitan gathers keys and values (allgather); its attention backend decides");
    page.put("/layout/pp", l.pp);
    if (p.model.moe) page.put("/layout/ep", l.ep);
    lose_lacks(page, Software::torchtitan);
    refuse_by_rules(page, Rule::torchtitan, Software::torchtitan);
}

void titan_training(Page& page) {
    const Plan& p = page.plan;
    const Training& t = p.training;
    page.put("/training/sequence_length", t.sequence_length);
    page.put("/training/micro_batch", t.micro_batch * t.sequence_length);
    page.put("/training/global_batch", t.global_batch * t.sequence_length);
    if (t.compute == Dtype::fp32 || t.compute == Dtype::tf32)
        page.put("/training/compute", std::string("float32"));
    else if (t.compute != Dtype::bf16 && t.compute != Dtype::fp8)
        page.lose("/training/compute", "compute ", t.compute,
                  ": torchtitan has bfloat16, float32 and float8");
    if (t.compute == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::rowwise && t.fp8_recipe != Fp8Recipe::mxfp8)
        page.lose("/training/fp8_recipe", "fp8_recipe ", t.fp8_recipe,
                  ": torchtitan scales rows (rowwise) or blocks of 32 (mxfp8)");
    const Offload& o = t.offload;
    if (o.parameters == 1 && o.optimizer == 1)
        page.put("/training/offload/parameters", true);
    else if (o.any())
        page.lose("/training/offload",
                  "offload: torchtitan moves parameters and optimizer whole, or nothing");
    // From trainer.py: graphs need fixed shapes.
    if (p.layout.pp > 1 || p.layout.ep > 1) page.say("training.disable_cuda_graphs", true);
    if (t.overlap.tp && p.layout.tp > 1) {
        page.say("compile.enable", true);
        page.say("compile.enable_async_tensor_parallel", true);
    }
}

std::string titan_group(const Page& page, std::string_view prefix, const std::string& call) {
    std::string out = call + "(\n";
    for (const Said& s : page.said)
        if (s.name.starts_with(prefix))
            out += "            " + s.name.substr(prefix.size()) + "=" + python_text(s.value) + ",\n";
    return out + "        )";
}

// Returns true if the experts' exchange uses kernels that model_registry takes.
bool titan_kernel(const Plan& p) {
    return p.model.moe && p.layout.ep > 1
           && (p.layout.ep_comm == EpComm::deepep || p.layout.ep_comm == EpComm::hybridep);
}

std::string identifier(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        // "2,048 H800": a number's comma goes, all else between words is one "_".
        if (letter)
            out.push_back(c);
        else if (c != ',' && !out.empty() && out.back() != '_')
            out.push_back('_');
    }
    if (out.ends_with('_')) out.pop_back();
    return out.empty() || (out[0] >= '0' && out[0] <= '9') ? "plan_" + out : out;
}

}  // namespace

void export_torchtitan(Page& page) {
    const Plan& p = page.plan;
    const Training& t = p.training;
    const auto* const flavour = flavour_of(p);
    titan_degrees(page);
    titan_pipeline(page);
    titan_training(page);
    lose_finer_choices(page, titan_kernel(p));
    note_training(page, true);
    if (!flavour)
        page.note("model: torchtitan ships no flavour of ", p.model.name, "; put yours into model_registry");
    const bool full = t.recompute.whole_layers(), selective = t.recompute.any() && !full;
    const bool compiled = t.overlap.tp && p.layout.tp > 1, small = t.compute == Dtype::fp8;
    std::string text = as_comment(head_lines(page));
    if (flavour)
        text += "# Stands in torchtitan/models/" + (*flavour)[0].get<std::string>() + "/config_registry.py\n";
    text += "from torchtitan.config import " + std::string(compiled ? "CompileConfig, " : "")
            + "ParallelismConfig, TrainingConfig\n";
    const std::string converter =
        t.fp8_recipe == Fp8Recipe::mxfp8 ? "MXFP8LinearConverter" : "Float8LinearConverter";
    if (small) text += "from torchtitan.components.quantization import " + converter + "\n";
    if (full || selective)
        text += "from torchtitan.distributed.activation_checkpoint import "
                + std::string(full ? "FullAC" : "SelectiveAC") + "\n";
    text += "from torchtitan.trainer import Trainer\n\nfrom . import model_registry\n\n\n";
    text += "def " + identifier(p.name) + "() -> Trainer.Config:\n    return Trainer.Config(\n";
    const std::string name = flavour ? (*flavour)[1].get<std::string>() : p.model.name;
    text += "        model_spec=model_registry(" + python_text(Value(name));
    if (small) text += ", converters=[" + converter + ".Config()]";
    if (titan_kernel(p))
        text += ", moe_comm_backend=" + python_text(Value(std::string(pentamesh::name_of(p.layout.ep_comm))));
    text += "),\n";
    if (flavour)
        text += "        hf_assets_path="
                + python_text(Value("./assets/hf/" + hub_name(page).substr(hub_name(page).find('/') + 1)))
                + ",\n";
    text += "        training=" + titan_group(page, "training.", "TrainingConfig") + ",\n";
    text += "        parallelism=" + titan_group(page, "parallelism.", "ParallelismConfig") + ",\n";
    if (compiled) text += "        compile=" + titan_group(page, "compile.", "CompileConfig") + ",\n";
    // Left out, it would be SelectiveAC (torchtitan/trainer.py).
    text += std::string("        activation_checkpoint=")
            + (full        ? "FullAC.Config()"
               : selective ? "SelectiveAC.Config()"
                           : "None")
            + ",\n";
    page.out.text = text + "    )\n";
}

}  // namespace pentamesh::interop
