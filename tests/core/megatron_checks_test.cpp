// Tests settings of Megatron-LM that exclude each other, by the asserts of NVIDIA/Megatron-LM d98e8a64:
// megatron/training/arguments.py and megatron/core/transformer/transformer_config.py.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::problem_called;

namespace {

Import with_flags(const std::string& flags) {
    return import_text(
        "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
        "--ffn-hidden-size 14336 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
        "--micro-batch-size 1 --global-batch-size 64 --vocab-size 128256 --swiglu "
        + flags + "\n");
}

}  // namespace

TEST_CASE("settings that Megatron's arguments refuse together are refused") {
    for (const char* flags :
         {"--bf16 --use-torch-fsdp2 --pipeline-model-parallel-size 2 --no-gradient-accumulation-fusion "
          "--untie-embeddings-and-output-weights",
          "--bf16 --use-torch-fsdp2 --use-distributed-optimizer --no-gradient-accumulation-fusion "
          "--untie-embeddings-and-output-weights",
          "--bf16 --use-torch-fsdp2 --untie-embeddings-and-output-weights",
          "--bf16 --optimizer muon --use-megatron-fsdp", "--bf16 --overlap-param-gather",
          "--bf16 --fp8-format hybrid --fp8-param-gather",
          "--bf16 --recompute-granularity selective --recompute-method uniform",
          "--bf16 --recompute-granularity full", "--bf16 --tp-comm-overlap --tensor-model-parallel-size 2",
          "--bf16 --optimizer-cpu-offload", "--bf16 --fp8-format hybrid --fp4-format e2m1"}) {
        CAPTURE(flags);
        const Import made = with_flags(flags);
        CHECK(made.failed());
        CHECK(problem_called(made, "settings-at-odds"));
    }
    for (const char* flags :
         {"--bf16 --use-torch-fsdp2 --no-gradient-accumulation-fusion --untie-embeddings-and-output-weights",
          "--bf16 --overlap-param-gather --use-distributed-optimizer", "--bf16 --optimizer muon",
          "--bf16 --recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
          "--bf16 --recompute-activations",
          "--bf16 --tp-comm-overlap --sequence-parallel --tensor-model-parallel-size 2",
          "--bf16 --optimizer-cpu-offload --use-precision-aware-optimizer --use-distributed-optimizer"}) {
        CAPTURE(flags);
        CHECK_FALSE(with_flags(flags).failed());
    }
}

TEST_CASE("dist_muon shares its states out over the data-parallel ranks; fp32 keeps no second copy") {
    const Import muon = with_flags("--bf16 --optimizer dist_muon --tensor-model-parallel-size 2");
    REQUIRE(muon.plan);
    CHECK(muon.plan->training.optimizer == Optimizer::muon);
    CHECK(muon.plan->layout.zero == 1);
    CHECK(muon.plan->layout.dp_shard == 8);
    const Import whole = with_flags("");
    REQUIRE(whole.plan);
    CHECK(whole.plan->training.parameters == Dtype::fp32);
    CHECK(whole.plan->training.master_weights == MasterWeights::none);
}
