// Reads DeepSpeed's JSON: deepspeed/runtime/config.py, runtime/zero/config.py. DeepSpeed counts data-parallel
// ranks as the world over tensor and sequence parallelism.
#include "core/interop/readers.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

bool is_auto(const Sheet& s, std::string_view key) {
    return s.value_of(key) == "auto";
}

std::optional<std::int64_t> count(Sheet& s, std::string_view key, std::string_view path) {
    if (is_auto(s, key)) {
        s.map(key, path);
        return std::nullopt;
    }
    return s.integer(key, path);
}

// From runtime/zero/offload_config.py: NVMe is no host memory, and parameters leave the GPU only at stage 3.
void read_deepspeed_offload(Sheet& s, Draft& d, const std::string& which, const char* field, bool allowed) {
    const std::string prefix = "zero_optimization." + which, device = s.value_of(prefix + ".device");
    if (device.empty() || device == "none") return;
    const bool held = device == "cpu" && allowed;
    const std::string path = std::string("/training/offload/") + field;
    double share = 1;
    if (held) share = s.number(prefix + ".ratio", path).value_or(1.0);
    for (const std::string& key : s.open_keys()) {
        if (!key.starts_with(prefix)) continue;
        if (held)
            s.map(key, path);
        else
            s.cannot_hold(key, "the plan offloads to host memory, parameters only at ZeRO-3");
    }
    if (!held) return;
    d.training["offload"][field] = std::clamp(share, 0.0, 1.0);
    s.problem(Severity::info, "offload-time",
              which + ": the memory is counted; the way over PCIe and the CPU's own time are not.");
}

void read_sharding(Sheet& s, Draft& d, std::int64_t dp) {
    const std::int64_t stage = s.integer("zero_optimization.stage", "/layout/zero", 0, 3).value_or(0);
    const std::int64_t mics =
        s.integer("zero_optimization.mics_shard_size", "/layout/dp_shard", -1).value_or(-1);
    std::int64_t shard = stage > 0 ? dp : 1;
    if (stage > 0 && mics > 0) {
        shard = mics;
        if (dp % mics != 0) {
            s.refusal("mics-shard-size", "DeepSpeed refuses: mics_shard_size " + std::to_string(mics)
                                             + " does not divide " + std::to_string(dp)
                                             + " data-parallel ranks");
            shard = dp;
        }
    }
    d.layout["zero"] = stage;
    d.layout["dp_shard"] = shard;
    d.layout["dp_replicate"] = dp / shard;
    const bool overlap =
        s.flag("zero_optimization.overlap_comm", "/training/overlap/dp").value_or(stage == 3);
    d.training["overlap"] = {{"dp", overlap}};
    read_deepspeed_offload(s, d, "offload_optimizer", "optimizer", stage >= 1);
    read_deepspeed_offload(s, d, "offload_param", "parameters", stage == 3);
    for (const char* key :
         {"zero_optimization.zero_hpz_partition_size", "zero_optimization.zero_quantized_weights",
          "zero_optimization.zero_quantized_gradients"})
        if (const std::string v = s.value_of(key); !v.empty() && v != "1" && v != "false")
            s.cannot_hold(key, "the plan has no second shard and no compressed messages");
}

// From config.py, _set_batch_related_parameters: two of the three determine the third.
void read_batch(Sheet& s, Draft& d, std::int64_t dp) {
    auto total = count(s, "train_batch_size", "/training/global_batch");
    auto micro = count(s, "train_micro_batch_size_per_gpu", "/training/micro_batch");
    auto calls = count(s, "gradient_accumulation_steps", "/training/global_batch");
    if (s.failed()) return;
    const auto refuse = [&] {
        s.refusal("batch-not-divisible",
                  "DeepSpeed refuses: train_batch_size is not micro-batch x accumulation x "
                      + std::to_string(dp) + " data-parallel ranks");
    };
    if (total && micro && calls) {
        if (*total != *micro * *calls * dp) refuse();
    } else if (total && micro) {
        if (*total % (*micro * dp) != 0) refuse();
    } else if (total) {
        const std::int64_t rows = calls.value_or(1) * dp;
        if (*total % rows != 0) refuse();
        micro = std::max<std::int64_t>(1, *total / rows);
    } else if (micro) {
        if (!calls && is_auto(s, "gradient_accumulation_steps")) return ask_for_batch(s, d, *micro, dp);
        total = *micro * calls.value_or(1) * dp;
    } else {
        return ask_for_batch(s, d, 1, dp);
    }
    d.training["micro_batch"] = *micro;
    d.training["global_batch"] = *total;
}

void read_precision(Sheet& s, Draft& d) {
    nlohmann::json& t = d.training;
    const auto on = [&](const char* key) {
        return !is_auto(s, key) && s.flag(key, "/training/compute").value_or(false);
    };
    if (on("bf16.enabled"))
        t["compute"] = t["parameters"] = "bf16";
    else if (on("fp16.enabled"))
        t["compute"] = t["parameters"] = "fp16";
    for (const char* key : {"bf16.enabled", "fp16.enabled"}) s.map(key, "/training/compute");
    const std::string word = s.text("data_types.grad_accum_dtype", "/training/gradients").value_or("");
    if (word == "fp32" || word == "bf16" || word == "fp16") t["gradients"] = word;
    const std::string type = s.text("optimizer.type", "/training/optimizer").value_or("");
    if (type.find("Muon") != std::string::npos || type == "muon")
        t["optimizer"] = "muon";
    else if (type == "SGD")
        t["optimizer"] = "sgd-momentum";
    else if (!type.empty())
        t["optimizer"] = "adamw";
}

}  // namespace

void read_deepspeed(Sheet& s, Draft& d, const std::vector<std::string>& duplicates) {
    for (const std::string& key : duplicates)
        s.refusal("key-twice", "DeepSpeed refuses a key that stands twice: " + key);
    const std::int64_t tp = count(s, "tensor_parallel.autotp_size", "/layout/tp").value_or(1);
    const std::int64_t sp = count(s, "sequence_parallel_size", "/layout/cp").value_or(1);
    const std::int64_t pp = count(s, "pipeline.stages", "/layout/pp").value_or(1);
    const std::int64_t ep = count(s, "expert_parallel.autoep_size", "/layout/ep").value_or(1);
    if (s.failed()) return;
    ask_for_gpus(s, d, tp * sp * pp);
    if (d.gpus % (tp * sp * pp) != 0)
        s.refusal("world-not-divisible", "DeepSpeed refuses: " + std::to_string(d.gpus)
                                             + " GPUs are not a multiple of " + std::to_string(tp * sp * pp));
    d.layout = {
        {"tp", tp}, {"cp", sp}, {"pp", pp}, {"order", "tp-cp-ep-dp-pp"}, {"sequence_parallel", false}};
    if (sp > 1) d.layout["cp_comm"] = "ulysses";
    if (ep > 1) d.layout["ep"] = ep, d.layout["etp"] = 1;
    const std::int64_t dp = std::max<std::int64_t>(1, d.gpus / (tp * sp * pp));
    read_sharding(s, d, dp);
    read_batch(s, d, dp);
    read_precision(s, d);
}

}  // namespace pentamesh::interop
