// Reads Hugging Face accelerate's YAML: accelerate/commands/config, utils/dataclasses.py (ParallelismConfig,
// FullyShardedDataParallelPlugin). num_processes counts the processes of all machines.
#include "core/interop/readers.h"

#include <algorithm>
#include <tuple>

namespace pentamesh::interop {
namespace {

struct Sizes {
    std::int64_t replicate = 0, shard = 0, tp = 1, cp = 1, sp = 1;  // 0: not said
};

Sizes read_sizes(Sheet& s) {
    Sizes z;
    const auto take = [&](const char* name, const char* path, std::int64_t otherwise) {
        return s.integer(std::string("parallelism_config_") + name, path).value_or(otherwise);
    };
    z.replicate = take("dp_replicate_size", "/layout/dp_replicate", 0);
    z.shard = take("dp_shard_size", "/layout/dp_shard", 0);
    z.tp = take("tp_size", "/layout/tp", 1);
    z.cp = take("cp_size", "/layout/cp", 1);
    z.sp = take("sp_size", "/layout/cp", 1);
    return z;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// FSDP 1 names strategies or numbers them; FSDP 2 says whether weights are freed after the forward pass.
void read_fsdp(Sheet& s, Draft& d, std::int64_t dp, std::int64_t machines, const Sizes& sizes) {
    const std::int64_t version = s.integer("fsdp_version", "/layout/zero").value_or(1);
    static constexpr std::string_view names[] = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                                 "HYBRID_SHARD_ZERO2"};
    std::string strategy = s.text("fsdp_sharding_strategy", "/layout/zero").value_or("FULL_SHARD");
    if (const auto n = parse_integer(strategy); n && *n >= 1 && *n <= 5) strategy = names[*n - 1];
    std::int64_t zero = strategy == "NO_SHARD"                                            ? 0
                        : strategy == "SHARD_GRAD_OP" || strategy == "HYBRID_SHARD_ZERO2" ? 2
                                                                                          : 3;
    bool hybrid = strategy.starts_with("HYBRID");
    const auto reshard = s.text("fsdp_reshard_after_forward", "/layout/zero");
    if (version >= 2) {
        hybrid = false;
        zero = 3;
        if (reshard && (lower(*reshard) == "false" || *reshard == "SHARD_GRAD_OP"))
            d.layout["reshard"] = "never", s.map("fsdp_reshard_after_forward", "/layout/reshard");
    }
    // From accelerator.py:1165-1170, 1284-1296: no_sync holds for all micro-batches but the last, unless each
    // is to be synced.
    const bool each = s.flag("sync_each_batch", "/layout/gradient_reduction").value_or(false);
    if (zero >= 2) d.layout["gradient_reduction"] = each ? "micro_batch" : "step";
    std::int64_t shard = zero == 0 ? 1 : dp;
    if (hybrid) shard = std::max<std::int64_t>(1, d.gpus / std::max<std::int64_t>(machines, 1));
    if (sizes.shard > 0) shard = sizes.shard;
    d.layout["zero"] = zero;
    d.layout["dp_shard"] = shard;
    d.layout["dp_replicate"] = std::max<std::int64_t>(1, dp / shard);
    if (s.flag("fsdp_activation_checkpointing", "/training/recompute").value_or(false))
        d.training["recompute"] = "full";
    else
        d.training["recompute"] = "none";
    if (!s.flag("fsdp_offload_params", "/training/offload").value_or(false)) return;
    if (zero != 3) return s.cannot_hold("fsdp_offload_params", "the plan offloads parameters only at ZeRO-3");
    d.training["offload"] = {{"parameters", 1.0}, {"optimizer", 1.0}};
    s.problem(
        Severity::info, "offload-time",
        "fsdp_offload_params: the memory is counted; the way over PCIe and the CPU's own time are not.");
}

void read_deepspeed_part(Sheet& s, Draft& d, std::int64_t dp) {
    const std::int64_t zero = s.integer("zero_stage", "/layout/zero", 0, 3).value_or(2);
    d.layout["zero"] = zero;
    d.layout["dp_shard"] = zero > 0 ? dp : 1;
    d.layout["dp_replicate"] = zero > 0 ? 1 : dp;
    const std::tuple<const char*, const char*, bool> places[] = {
        {"offload_optimizer_device", "optimizer", zero >= 1},
        {"offload_param_device", "parameters", zero == 3}};
    for (const auto& [key, field, allowed] : places) {
        const std::string v = s.value_of(key);
        if (v.empty() || v == "none") continue;
        if (v != "cpu" || !allowed) {
            s.cannot_hold(key, "the plan offloads to host memory, parameters only at ZeRO-3");
            continue;
        }
        s.map(key, std::string("/training/offload/") + field);
        d.training["offload"][field] = 1.0;
        s.problem(Severity::info, "offload-time",
                  std::string(key)
                      + ": the memory is counted; the way over PCIe and the CPU's time are not.");
    }
    if (s.has("deepspeed_config_file"))
        s.cannot_hold("deepspeed_config_file", "a second file holds the rest: import that one");
}

}  // namespace

void read_accelerate(Sheet& s, Draft& d) {
    const std::string kind = s.text("distributed_type", "/layout").value_or("NO");
    const std::int64_t machines = s.integer("num_machines", "/cluster/gpus").value_or(1);
    const auto processes = s.integer("num_processes", "/cluster/gpus");
    if (kind == "MULTI_CPU")
        return s.error("no-gpus", "distributed_type: MULTI_CPU trains on processors: a plan is of GPUs");
    // launch.py starts one process where the type is NO; num_processes is not read then.
    if (d.gpus == 0) d.gpus = s.has("distributed_type") && kind == "NO" ? 1 : processes.value_or(0);
    const Sizes z = read_sizes(s);
    if (s.failed()) return;
    if (z.cp > 1 && z.sp > 1)
        s.refusal("cp-and-sp",
                  "accelerate refuses cp and sp together: " + s.written("parallelism_config_cp_size")
                      + " and " + s.written("parallelism_config_sp_size") + " exclude each other");
    const std::int64_t cp = z.cp * z.sp;
    ask_for_gpus(s, d,
                 z.tp * cp * std::max<std::int64_t>(z.shard, 1) * std::max<std::int64_t>(z.replicate, 1));
    const std::int64_t dp = std::max<std::int64_t>(1, d.gpus / (z.tp * cp));
    const bool said = z.replicate > 0 || z.shard > 0;
    if (d.gpus % (z.tp * cp) != 0
        || (said && std::max<std::int64_t>(z.replicate, 1) * std::max<std::int64_t>(z.shard, 1) != dp))
        s.refusal("world-not-divisible",
                  "accelerate refuses: dp_replicate x dp_shard x tp x cp x sp is not the "
                      + std::to_string(d.gpus) + " processes (num_processes)");
    d.layout = {{"tp", z.tp},
                {"cp", cp},
                {"pp", 1},
                {"sequence_parallel", false},
                {"order", "tp-cp-ep-dp_shard-dp_replicate-pp"}};
    const std::string strategy =
        s.text("parallelism_config_cp_comm_strategy", "/layout/cp_comm").value_or("allgather");
    if (cp > 1) d.layout["cp_comm"] = z.sp > 1 ? "ulysses" : strategy == "alltoall" ? "ring" : "allgather";
    if (kind == "FSDP")
        read_fsdp(s, d, dp, machines, z);
    else if (kind == "DEEPSPEED")
        read_deepspeed_part(s, d, dp);
    else {
        d.layout["zero"] = 0;
        d.layout["dp_shard"] = 1;
        d.layout["dp_replicate"] = dp;
    }
    const std::string precision = lower(s.text("mixed_precision", "/training/compute").value_or("no"));
    d.training["compute"] = precision == "no" ? "fp32" : precision;
    const auto calls = s.integer("gradient_accumulation_steps", "/training/global_batch");
    ask_for_batch(s, d, 1, dp * calls.value_or(1));
}

}  // namespace pentamesh::interop
