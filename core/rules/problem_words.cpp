// Says of each problem that a rule finds how grave it is, whose rule it is, which field it is about, in which
// words.
#include "core/rules/rules.h"

#include <algorithm>

namespace pentamesh {
namespace {

// "{tp}" stands for a value that the rule gives. "{bad?words|other words}" chooses by a value: the first
// words for a flag that is set or a text that is not empty, those at its place for a number.
struct Row {
    ProblemCode code = ProblemCode::below_one;
    Severity severity = Severity::error;
    Rule rule = Rule::arithmetic;
    std::string_view field{}, words{};
};

constexpr EnumArray<ProblemCode, Row> make_rows() {
    using enum ProblemCode;
    using enum Severity;
    using enum Rule;
    EnumArray<ProblemCode, Row> out{};
    for (const Row& row : {
             // Numbers that mean something (rules.cpp).
             Row{below_one, error, arithmetic, "{field}", "{field} is {value}; it must be at least 1."},
             Row{zero_out_of_range, error, arithmetic, "/layout/zero",
                 "zero = {zero}; ZeRO has the stages 0, 1, 2 and 3."},
             Row{order_not_a_permutation, error, arithmetic, "/layout/order",
                 "The order must name each of tp, cp, ep, dp_shard, dp_replicate and pp exactly once."},
             Row{top_k_exceeds_experts, error, arithmetic, "/model/moe/top_k",
                 "A token uses top_k = {top_k} experts, but the model has {experts}."},
             Row{imbalance_below_one, error, arithmetic, "/training/router_imbalance",
                 "router_imbalance is {value}; the busiest expert rank carries at least the mean, so it is 1 "
                 "or more."},
             Row{negative_variation, error, arithmetic, "/training/straggler_cv",
                 "straggler_cv is a coefficient of variation: 0 or more."},
             Row{number_too_large, error, arithmetic, "{field}",
                 "{model?{model}|A GPU of stage {stage} would hold {most} bytes of {category} or more, the "
                 "most that is counted{tokens?: sequence_length = {sequence}, micro_batch = {micro}}.}"},

             // The factors fill the cluster (rules.cpp).
             Row{cluster_too_large, error, arithmetic, "/cluster/gpus",
                 "gpus = {gpus} is more than the {most} that can be laid out."},
             Row{world_differs_from_gpus, error, arithmetic, "/cluster/gpus",
                 "{which?{product} asks for more than {most} GPUs; the cluster has gpus = {gpus}."
                 "|gpus = {gpus} is not a multiple of tp × cp × pp = {ranks}: no data-parallel degree fills "
                 "the cluster. {product} = {world}."
                 "|{product} = {world} GPUs, but the cluster has gpus = {gpus}.}"},
             Row{pipeline_groups_differ, error, megatron, "/layout/order",
                 "With this order the pipeline groups of the dense mesh (stride {stride}) and of the expert "
                 "mesh (etp {etp} × ep {ep}) differ: a layer's attention and experts would lie in different "
                 "stages, and Megatron refuses it. With pp outermost they always agree."},
             Row{expert_mesh_does_not_fold, error, arithmetic, "/layout/ep",
                 "A pipeline stage has {ranks} GPUs ({world} / pp {pp}), not a multiple of etp "
                 "{etp}{as_tp? (left out, so it is tp)} × ep {ep} = {width}. ep re-folds the same GPUs: it "
                 "multiplies nothing."},

             // The finer choices go together (rules.cpp).
             Row{cp_inner, error, arithmetic, "/layout/cp_inner",
                 "{missing?cp_comm is ulysses+ring, so cp_inner must say how many of the {cp} context ranks "
                 "exchange heads; a ring joins these groups.|cp_inner = {inner} does not divide cp = {cp}.}"},
             Row{ulysses_heads, error, arithmetic, "{inner?/layout/cp_inner|/layout/cp}",
                 "Ulysses hands each rank whole heads: {heads} heads do not divide by "
                 "{inner?tp × cp_inner = {ranks}.|tp × cp = {ranks}. The ring has no such limit.}"},
             Row{mtp_chunk, error, arithmetic, "/layout/mtp_chunk",
                 "mtp_chunk = {chunk}, but {beyond?the chunks are 0 to {last}."
                 "|chunk {last} still holds layers: prediction layers come behind the last one.}"},
             Row{weight_shards, error, megatron, "/layout/weight_shards",
                 "weight_shards = {shards} does not divide the {dp} data-parallel ranks that the weights are "
                 "cut over."},
             Row{offload_needs_zero_3, error, arithmetic, "/training/offload/parameters",
                 "Parameters lie in host memory only where they are gathered layer by layer: ZeRO-3, not "
                 "zero = {zero}."},
             Row{gradient_reduction, error, arithmetic, "/layout/gradient_reduction",
                 "{zero?gradient_reduction run is for zero 2 and 3: with zero = 0 gradients are reduced "
                 "after each micro-batch or once a step."
                 "|gradient_reduction {asked} is for zero {run?2 and 3|0, 2 and 3}: with zero = 1 "
                 "gradients are reduced once a step."
                 "|gradient_reduction run is not for schedule {schedule}: a GPU's two chunks take turns "
                 "after every micro-batch, so there is no run of micro-batches after which gradients "
                 "could be reduced. schedule interleaved has such runs.}"},
             Row{recompute_module_missing, warning, megatron, "/training/recompute",
                 "Recomputing {lost} saves nothing: the model has no {needs}."},

             // These are about what the figures leave out, or a kernel cannot do (rules.cpp).
             Row{deepep_domain, warning, hardware, "/layout/ep_comm",
                 "DeepEP's kernels know {peers} NVLink peers and go over the network beyond them; the "
                 "figures let it use the whole domain of {domain}. HybridEP knows larger domains."},
             Row{ep_kernel_rate, info, advice, "/layout/ep_comm",
                 "{how} is counted by what it sends on each tier, at the rate of an all-to-all; the "
                 "multiprocessors that it takes from the products are not counted."},
             Row{offload_time, info, advice, "/training/offload",
                 "What lies in host memory leaves the GPU's memory; the time of {counted?an optimizer on the "
                 "CPU is not counted, that of its way there and back is.|its way over PCIe or C2C and of an "
                 "optimizer on the CPU is not counted.}{optimizer? Gradients are counted on the GPU.}"},
             Row{megatron_offload, warning, megatron, "/training/offload/activations_layers",
                 "Megatron keeps activations in host memory (--cpu-offloading-num-layers) neither with "
                 "recomputation nor with a pipeline; here {pipeline?pp = {pp}|recompute is {recompute}}."},
             Row{recompute_launches, info, advice, "/training/recompute",
                 "Modules that are recomputed are counted with their work, not with the host's time to "
                 "launch their kernels again: where the host is the slower one, a step takes a few per cent "
                 "more."},
             Row{reshard_without_zero_3, info, arithmetic, "/layout/reshard",
                 "reshard says what ZeRO-3 does with gathered weights; with zero = {zero} nothing is "
                 "gathered."},
             Row{weight_shards_not_counted, info, megatron, "/layout/weight_shards",
                 "Weights in {shards} further shards, gathered for each pass, are not in the figures yet: "
                 "memory is too high by them, communication too low."},
             Row{weight_shards_outside, warning, megatron, "/layout/weight_shards",
                 "Megatron lays the {shards} ranks that share a matrix (gtp_remat) next to tp, {tp} ranks "
                 "apart. Here they lie among the ranks of data parallelism, the first two {apart} ranks "
                 "apart{scattered?, and not next to each other}: groups of gtp_remat, cp, pp and dp have "
                 "other ranks than in Megatron."},
             Row{mtp_message, info, megatron, "/layout/mtp_chunk",
                 "From chunk {chunk} on a message carries the states of {predictions} on top; they are not "
                 "counted in the pipeline's messages."},
             Row{mla_qkv_bias, info, advice, "/model/qkv_bias",
                 "qkv_bias does nothing with attention mla: biases of its projections are attention_bias."},
             Row{fp32_as_tf32, warning, hardware, "/training/compute",
                 "fp32 products are timed at the peak of {tf32?tf32|bf16}, as where a framework allows that. "
                 "Without it they run on the vector units, many times slower, which is not counted."},

             // The model can be cut by tp, etp, ep and pp (rules_model.cpp).
             Row{kv_heads, error, arithmetic, "/model/kv_heads",
                 "{heads} query heads cannot share {kv_heads} key-value heads evenly."},
             Row{tp_heads, error, arithmetic, "/layout/tp",
                 "tp = {tp} cannot share out {heads} attention heads evenly; tp may be {may}."},
             Row{tp_kv_heads, error, megatron, "/layout/tp",
                 "tp = {tp} and {kv_heads} key-value heads: neither divides the other, so they can be "
                 "neither shared out nor copied evenly."},
             Row{tp_ffn, error, arithmetic, "/layout/tp",
                 "tp = {tp} cannot cut the MLP's width of {width} into equal parts."},
             Row{tp_layers, error, arithmetic, "/layout/tp",
                 "tp = {tp} cannot share out the {size} {name} of some layers of the pattern evenly."},
             Row{ep_without_experts, error, arithmetic, "/layout/ep",
                 "ep = {ep} on a dense model: there are no experts to share out."},
             Row{ep_experts, error, arithmetic, "/layout/ep",
                 "ep = {ep} cannot share out {experts} experts evenly; ep may be {may}."},
             Row{etp_ffn, error, arithmetic, "/layout/etp",
                 "etp = {etp}{as_tp? (left out, so it is tp)} cannot cut an expert's width of {width} into "
                 "equal parts."},
             Row{stage_layers, error, arithmetic, "/layout/stage_layers",
                 "{which?stage_layers holds a negative number of layers."
                 "|stage_layers names {named} chunks, but pp x virtual_stages = {chunks}."
                 "|stage_layers adds up to {sum} layers, the model has {layers}.}"},
             Row{too_many_chunks, error, arithmetic, "/layout/pp",
                 "pp × virtual_stages = {chunks} chunks are more than the {most} that can be laid out."},
             Row{pp_exceeds_layers, error, arithmetic, "/layout/pp",
                 "pp = {pp} {whole?stages for {layers} layers leaves stages empty."
                 "|x virtual_stages = {virtual} are more chunks than the {layers} layers.}"},

             // Layers that differ (rules_model.cpp).
             Row{layer_kinds, error, arithmetic, "/model/pattern",
                 "The pattern has more kinds of layers than the {most} that can be laid out."},
             Row{pattern_linear, error, arithmetic, "/model/linear",
                 "The pattern has linear layers, but /model/linear is not there."},
             Row{pattern_mamba, error, arithmetic, "/model/mamba",
                 "The pattern has Mamba layers, but /model/mamba is not there."},
             Row{pattern_moe, error, arithmetic, "/model/moe",
                 "The pattern has MoE layers, but /model/moe is not there."},
             Row{pattern_window, error, arithmetic, "/model/sliding_window",
                 "The pattern has layers with a window, but /model/sliding_window is not there."},
             Row{linear_sizes, error, arithmetic, "/model/linear",
                 "Linear attention needs key_heads, value_heads, key_head_dim and value_head_dim of 1 or "
                 "more."},
             Row{mamba_sizes, error, arithmetic, "/model/mamba",
                 "{first?Mamba of version 1 needs inner, state and dt_rank of 1 or more."
                 "|Mamba-2 needs state, groups and heads of 1 or more, and heads = {heads} must divide "
                 "inner = {inner}.}"},
             Row{scan_not_measured, info, advice, "/model/pattern",
                 "Linear and Mamba layers: the scan takes its published operations at the rate of fused "
                 "attention and keeps what the published kernels save; no measured run stands behind these "
                 "figures."},
             Row{selective_scan, info, advice, "/model/mamba",
                 "Mamba of version 1 scans outside the matrix units: only its traffic to memory is timed."},
             Row{scan_context_parallel, info, advice, "/layout/cp_comm",
                 "Context parallelism exchanges heads for tokens around each scan (all-to-all), whatever "
                 "cp_comm says: so Megatron does."},
             Row{window_context_parallel, info, advice, "/layout/cp",
                 "Layers with a window send their keys and values to all cp ranks here, as layers over all "
                 "keys do."},
             Row{indexer_not_modelled, info, advice, "/model/mla",
                 "Sparse attention: the indexer's scores are counted, the choice of keys and its own loss "
                 "are not."},
             Row{compressed_tp, error, megatron, "/layout/tp",
                 "tp = {tp}, but attention over compressed keys is not cut by tensor parallelism: Megatron "
                 "Core refuses it above tp = 1, and transformers has no plan for it."},
             Row{compressed_cp, error, megatron, "/layout/cp",
                 "cp = {cp}, but how context parallelism shares compressed keys is not modelled here: "
                 "Megatron Core has it only for packed sequences that lie in a row on the ranks."},
             Row{compressed_not_measured, info, advice, "/model/compressed",
                 "Attention over compressed keys: windows, compressed keys and the indexer's scores are "
                 "counted and timed at the rate of fused attention, which no measured run stands behind; the "
                 "choice of keys, the indexer's own loss and positions turned back in the output are not."},
             Row{hyper_not_measured, info, advice, "/model/hyper_streams",
                 "Hyper-connections: {streams} residual streams are kept, sent between stages and timed as "
                 "fused kernels do; no measured run stands behind this. Recomputing only them (Megatron's "
                 "module mhc) cannot be stated, and the steps that normalise their weights have no time."},

             // Tokens, micro-batches, schedule and number formats (rules_model.cpp).
             Row{sequence_exceeds_positions, error, arithmetic, "/training/sequence_length",
                 "sequence_length = {tokens}, but the model has learned {positions} positions."},
             Row{sequence_does_not_divide, error, arithmetic, "/training/sequence_length",
                 "sequence_length = {tokens} is not a multiple of {unit} (tp {tp}, cp {cp}): "
                 "{why?sequence parallelism cuts it by tp|cp cuts it|each cp rank holds one chunk from "
                 "either end}{by_tp?, sequence parallelism cuts that by tp}."},
             Row{batch_does_not_divide, error, arithmetic, "/training/global_batch",
                 "global_batch = {batch} sequences is not a multiple of micro_batch {micro} × {dp} "
                 "data-parallel replicas."},
             Row{too_many_microbatches, error, arithmetic, "/training/global_batch",
                 "global_batch = {batch} makes {number} micro-batches per step, more than {most}."},
             Row{schedule_refuses, error, schedule, "{field?{field}|/layout/schedule}", "{why}"},
             Row{compute_type_unsupported, error, hardware, "/training/compute",
                 "{gpu} has no {type} matrix units; bf16 it has."},

             // One software enforces these (rules.cpp).
             Row{leftover_replicas, info, arithmetic, "/layout/dp_replicate",
                 "tp {tp} × cp {cp} × dp_shard {shard} × pp {pp} = {ranks} GPUs; what is left of the {gpus} "
                 "makes {replicas} replicas of that (dp_replicate = {replicas})."},
             Row{zero_refused, warning, schedule, "{stage?/layout/zero|/layout/gradient_reduction}",
                 "DeepSpeed refuses zero = {zero} under a pipeline (pp = {pp}): it would reduce the "
                 "gradients of every micro-batch over the wire."},
             Row{no_such_reduction, info, schedule, "{stage?/layout/zero|/layout/gradient_reduction}",
                 "{software} has no such setting: {stage?any zero_stage above 0 is ZeRO-1 there, not zero = "
                 "{zero}.|gradient_reduction {asked} with zero = {zero}{pipeline? and a pipeline}; it is "
                 "laid out all the same.}"},
             Row{megatron_moe_needs_sp, warning, megatron, "/layout/sequence_parallel",
                 "Megatron refuses experts with tp = {tp} without sequence parallelism: every tp rank would "
                 "route the same tokens."},
             Row{torchtitan_ep, warning, torchtitan, "/layout/ep",
                 "torchtitan takes ep out of dp_shard × cp × tp = {width}, which ep = {ep} does not "
                 "divide."},
             Row{uneven_stages, info, megatron, "/layout/stage_layers",
                 "{layers} layers over {chunks} chunks: {fuller} hold {more}, the others {fewer} (the first "
                 "and last take the fewer). Megatron wants the stages listed "
                 "(--pipeline-model-parallel-layout) for this."},
             Row{vocab_padded, info, megatron, "/model/vocab",
                 "{software} pads the vocabulary of {vocab} to {padded}, a multiple of {multiple} × tp "
                 "{tp}: {more} rows that no token uses."},
             Row{megatron_expert_order, warning, megatron, "/layout/order",
                 "Megatron refuses an order with pp not outermost where experts and the rest have different "
                 "data-parallel sizes{moe?|, and it builds both for every model}: here {experts} and "
                 "{dense}."},
             Row{megatron_p2p_overlap, warning, megatron, "/training/overlap/pp",
                 "Megatron refuses the interleaved schedule on pp = 2 without overlap of its messages "
                 "(--no-overlap-p2p-communication)."},
             Row{megatron_tp_overlap, warning, megatron, "/training/overlap/tp",
                 "Megatron refuses overlap of tensor parallelism (--tp-comm-overlap) without sequence "
                 "parallelism."},
             Row{megatron_ep_overlap, warning, megatron, "/training/overlap/ep",
                 "Megatron refuses overlap of the experts' exchange (--overlap-moe-expert-parallel-comm): it "
                 "wants {wants}."},
             Row{megatron_fsdp_optimizer, warning, megatron, "/training/optimizer",
                 "Megatron refuses muon with Megatron-FSDP, which ZeRO-{zero} needs: it takes Adam and "
                 "SGD."},
             Row{megatron_positions, warning, megatron, "/training/sequence_length",
                 "Megatron refuses sequences of {tokens} tokens: the model has {positions} learned "
                 "positions."},
         })
        out[row.code] = row;
    return out;
}
constexpr EnumArray<ProblemCode, Row> kWordsOf = make_rows();

// True if each brace that opens is closed.
constexpr bool closes(std::string_view text) {
    int open = 0;
    for (const char c : text) {
        open += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (open < 0) return false;
    }
    return open == 0;
}
static_assert(std::all_of(kWordsOf.begin(), kWordsOf.end(),
                          [](const Row& row) { return closes(row.field) && closes(row.words); }));

// Returns the end of the part of a text that begins at `from`: the next `end` outside of inner braces.
std::size_t end_of_part(std::string_view text, std::size_t from, char end) {
    int open = 0;
    for (std::size_t i = from; i < text.size(); ++i) {
        if (text[i] == end && open == 0) return i;
        open += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    }
    return text.size();
}

// Says at which place the words stand that a value chooses.
std::int64_t place_of(const Named* value) {
    if (!value) return 1;
    if (const auto* n = std::get_if<std::int64_t>(&value->value)) return *n;
    const auto* word = std::get_if<std::string_view>(&value->value);
    return (word ? !word->empty() : std::get<bool>(value->value)) ? 0 : 1;
}

void fill(std::string& out, std::string_view text, std::initializer_list<Named> values) {
    for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
        out += text.substr(0, open);
        const std::size_t close = end_of_part(text, open + 1, '}');
        std::string_view part = text.substr(open + 1, close - open - 1);
        const std::size_t mark = part.find('?');
        const std::string_view name = part.substr(0, mark);
        const auto* const at =
            std::find_if(values.begin(), values.end(), [&](const Named& v) { return v.name == name; });
        const Named* const value = at == values.end() ? nullptr : at;
        if (mark == std::string_view::npos) {
            if (const auto* n = value ? std::get_if<std::int64_t>(&value->value) : nullptr)
                append_part(out, *n);
            else if (const auto* word = value ? std::get_if<std::string_view>(&value->value) : nullptr)
                out += *word;
            else
                append_part(out, sentence("{", name, "}"));
        } else {
            part.remove_prefix(mark + 1);
            for (std::int64_t skip = place_of(value); skip > 0; --skip)
                part.remove_prefix(std::min(end_of_part(part, 0, '|') + 1, part.size()));
            fill(out, part.substr(0, end_of_part(part, 0, '|')), values);
        }
        text.remove_prefix(close + 1);
    }
    out += text;
}

}  // namespace

Problem& Rules::find(ProblemCode code, std::initializer_list<Named> values, std::initializer_list<Mend> fix) {
    const Row& row = kWordsOf[code];
    Problem& p = add(row.severity, row.rule, code, {});
    if (!messages) return p;
    fill(p.pointer, row.field, values);
    fill(p.message, row.words, values);
    for (const Mend& m : fix) {
        const auto* const word = std::get_if<std::string_view>(&m.value);
        p.fix.push_back({std::string(m.path), word ? EditValue(std::string(*word)) : EditValue()});
        if (const auto* n = std::get_if<std::int64_t>(&m.value)) p.fix.back().value = *n;
        if (const auto* x = std::get_if<double>(&m.value)) p.fix.back().value = *x;
        if (const auto* on = std::get_if<bool>(&m.value)) p.fix.back().value = *on;
    }
    return p;
}

}  // namespace pentamesh
