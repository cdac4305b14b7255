// Tests what a micro-batch and a step's batch are in sequences: pairs of preference training, micro-batches
// that are filled by tokens; and other faults of readers that public texts showed.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::check_batch;
using test::import_text;
using test::problem_called;
using test::stands_in;

// NVIDIA-NeMo/RL 7ea279ab: nemo_rl/algorithms/dpo.py:602-603 and rm.py:542 double both.
TEST_CASE("NeMo RL: any setting of dpo or rm makes a sample a pair") {
    const std::string policy =
        "policy:\n  model_name: meta-llama/Llama-3.1-8B-Instruct\n  train_global_batch_size: 256\n"
        "  train_micro_batch_size: 1\n  max_total_sequence_length: 8192\n  megatron_cfg:\n    enabled: true\n"
        "    tensor_model_parallel_size: 4\ncluster:\n  gpus_per_node: 8\n  num_nodes: 4\n";
    check_batch(import_text("dpo:\n  val_period: 50\n" + policy), 2, 512, true);
    check_batch(import_text("rm:\n  val_batches: -1\n" + policy), 2, 512, true);
    check_batch(import_text("sft:\n  val_period: 50\n" + policy), 1, 256, false);
    const Import open = import_text("defaults: ../../dpo.yaml\n" + policy);  // the file is not there
    check_batch(open, 1, 256, false);
    CHECK(problem_called(open, "pairs-open"));
}

// hiyouga/LLaMA-Factory ff6d4d12, src/llamafactory/data/collator.py:570: 2 n examples of n pairs.
TEST_CASE("LLaMA-Factory: the stages dpo and rm train pairs, kto does not") {
    const auto stage = [](const std::string& name) {
        return import_text(
            "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\nstage: " + name
                + "\ndo_train: true\nfinetuning_type: full\ncutoff_len: 2048\n"
                  "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n",
            8);
    };
    check_batch(stage("dpo"), 2, 128, true);
    check_batch(stage("rm"), 2, 128, true);
    check_batch(stage("sft"), 1, 64, false);
    check_batch(stage("kto"), 1, 64, false);
    CHECK(stands_in(stage("dpo").settings.mapped, "stage"));
    CHECK(stands_in(stage("sft").settings.ignored, "stage"));
}

// axolotl-ai-cloud/axolotl 067b021c, core/builders/rl.py: TRL's trainers of pairs.
TEST_CASE("axolotl: rl dpo and a reward model train pairs") {
    const std::string text =
        "base_model: meta-llama/Meta-Llama-3-8B-Instruct\nsequence_len: 2048\nmicro_batch_size: 2\n"
        "gradient_accumulation_steps: 4\noptimizer: adamw_torch\nbf16: auto\n";
    check_batch(import_text(text + "rl: dpo\n", 4), 4, 64, true);
    check_batch(import_text(text + "reward_model: true\n", 4), 4, 64, true);
    check_batch(import_text(text + "rl: grpo\n", 4), 2, 32, false);
}

// huggingface/trl f2cd5771: trl/trainer/dpo_trainer.py and reward_trainer.py put the rejected behind the
// chosen.
TEST_CASE("programs of TRL, OpenRLHF and ms-swift that train pairs") {
    const auto started = [](const std::string& program) {
        return import_text("accelerate launch --num_processes 8 " + program
                           + " --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 "
                             "--gradient_accumulation_steps 4 --max_length 2048 --bf16\n");
    };
    check_batch(started("trl/scripts/dpo.py"), 4, 128, true);
    check_batch(started("examples/scripts/reward_modeling.py"), 4, 128, true);
    check_batch(started("trl/scripts/sft.py"), 2, 64, false);
    const Import named = started("train_dpo_of_ours.py");
    check_batch(named, 2, 64, false);
    CHECK(problem_called(named, "pairs-open"));
    check_batch(import_text("trl dpo --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 "
                            "--max_length 2048 --bf16\n",
                            8),
                4, 32, true);
    const Import yaml = import_text("model_name_or_path: Qwen/Qwen2.5-7B\nbeta: 0.01\nmax_length: 1024\n"
                                    "max_prompt_length: 512\nper_device_train_batch_size: 8\nbf16: true\n"
                                    "gradient_accumulation_steps: 2\n",
                                    8);
    check_batch(yaml, 8, 128, false);
    CHECK(problem_called(yaml, "pairs-open"));

    check_batch(import_text("deepspeed --num_gpus 8 --module openrlhf.cli.train_rm --train.batch_size 256 "
                            "--train.micro_batch_size 1 --model.model_name_or_path Qwen/Qwen3-8B "
                            "--data.max_len 8192 --ds.zero_stage 3\n"),
                2, 512, true);
    check_batch(import_text("deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --train.batch_size 256 "
                            "--train.micro_batch_size 1 --model.model_name_or_path Qwen/Qwen3-8B "
                            "--data.max_len 8192 --ds.zero_stage 3\n"),
                1, 256, false);
    const std::string swift =
        " --model Qwen/Qwen2.5-7B --tuner_type full --torch_dtype bfloat16 --max_length "
        "2048 --per_device_train_batch_size 1 --gradient_accumulation_steps 4 "
        "--deepspeed zero3\n";
    check_batch(import_text("NPROC_PER_NODE=8 swift rlhf --rlhf_type orpo" + swift), 2, 64, true);
    check_batch(import_text("NPROC_PER_NODE=8 swift rlhf" + swift), 2, 64, true);  // its default is dpo
    check_batch(import_text("NPROC_PER_NODE=8 swift rlhf --rlhf_type kto" + swift), 1, 32, false);
}

// volcengine/verl b178a3cd: workers/actor/dp_actor.py:551-558.
TEST_CASE("verl: a micro-batch that is filled by tokens has the sequences that fit, whatever else is said") {
    const auto actor = [](const std::string& more) {
        return import_text("python3 -m verl.trainer.main_ppo data.max_prompt_length=2048 "
                           "data.max_response_length=8192 actor_rollout_ref.rollout.n=16 "
                           "actor_rollout_ref.model.path=Qwen/Qwen2.5-3B-Instruct "
                           "actor_rollout_ref.actor.ppo_mini_batch_size=128 "
                           "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 "
                           "trainer.n_gpus_per_node=8 trainer.nnodes=1 "
                           + more + "\n");
    };
    const std::string dynamic = "actor_rollout_ref.actor.use_dynamic_bsz=True ",
                      most = "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=";
    const Import made = actor(dynamic + most + "20480");
    check_batch(made, 2, 2048, false);
    CHECK(problem_called(made, "micro-batches-by-tokens"));
    CHECK(stands_in(made.settings.mapped, "actor_rollout_ref.actor.ppo_max_token_len_per_gpu"));
    CHECK(stands_in(made.settings.unmapped, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"));
    check_batch(actor(dynamic + most + "1000"), 1, 2048, false);  // at least one
    check_batch(actor(dynamic), 1, 2048, false);                  // 16384 is the default
    // 3 fit; 256 sequences of a rank are 128 twos.
    check_batch(actor(dynamic + most + "31000"), 2, 2048, false);
    // Ranks that share a sequence have as many tokens each: 4 x 20480 are 8 of 10240.
    check_batch(actor(dynamic + most + "20480 actor_rollout_ref.actor.ulysses_sequence_parallel_size=4"), 8,
                2048, false);
    const Import plain = actor("actor_rollout_ref.actor.use_dynamic_bsz=False " + most + "20480");
    check_batch(plain, 8, 2048, false);
    CHECK_FALSE(problem_called(plain, "micro-batches-by-tokens"));
    CHECK(plain.settings.not_known.empty());
    const Import megatron = actor(dynamic + most
                                  + "40960 actor_rollout_ref.actor.strategy=megatron "
                                    "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2");
    CHECK(megatron.kind == "verl-megatron");
    check_batch(megatron, 4, 2048, false);
}

// microsoft/Megatron-DeepSpeed f4157bea, megatron/arguments.py:432 and 927-936; bigscience-workshop's
// 8387ae17 has no FlashAttention; EleutherAI/gpt-neox, megatron/model/transformer.py:407.
TEST_CASE("Megatron-DeepSpeed and GPT-NeoX write the scores of attention unless a flag says flash") {
    const auto attention = [](const std::string& more) {
        const Import made = import_text(
            "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads "
            "16 "
            "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 4 --global-batch-size 256 "
            "--bf16 --vocab-size 50304 "
            + more + "\n");
        REQUIRE(made.plan);
        return made.plan->training.attention;
    };
    CHECK(attention("--deepspeed --zero-stage 1") == AttentionImpl::math);
    CHECK(attention("--deepspeed --zero-stage 1 --use-flash-attn-v2") == AttentionImpl::flash);
    CHECK(attention("--deepspeed --zero-stage 1 --use-flash-attn-triton") == AttentionImpl::flash);
    CHECK(attention("") == AttentionImpl::flash);  // Megatron-LM itself
    const auto neox = [](const std::string& more) {
        const Import made = import_text("pipe_parallel_size: 0\nmodel_parallel_size: 2\nnum_layers: 16\n"
                                        "hidden_size: 2048\nnum_attention_heads: 8\nseq_length: 2048\n"
                                        "max_position_embeddings: 2048\ntrain_micro_batch_size_per_gpu: 4\n"
                                            + more,
                                        8);
        REQUIRE(made.plan);
        return made.plan->training.attention;
    };
    CHECK(neox("") == AttentionImpl::math);
    CHECK(neox("attention_config: [[[\"flash\"], 16]]\n") == AttentionImpl::flash);
}

// allenai/open-instruct, mason.py:533-540: --num_processes is of one of its nodes.
TEST_CASE("accelerate behind a program that hands its command on is the launcher") {
    const std::string flags = " --mixed_precision bf16 --use_deepspeed --zero_stage 3 train.py "
                              "--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 "
                              "--gradient_accumulation_steps 2 --max_length 2048\n";
    const Import made = import_text(
        "python submit.py --num_nodes 8 --gpus 8 -- accelerate launch --num_processes 16" + flags);
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->training.compute == Dtype::bf16);
    CHECK(made.plan->training.software == Software::deepspeed);
    CHECK(made.plan->training.global_batch == 32);
    const Import each =
        import_text("python mason.py --num_nodes 8 --gpus 8 -- accelerate launch --num_processes 8" + flags);
    REQUIRE(each.plan);
    CHECK(each.plan->cluster.gpus == 64);
    const Import named = import_text(
        "python mason.py --num_nodes 2 --gpus 8 -- accelerate launch --mixed_precision bf16 --num_processes "
        "16 "
        "--num_machines 2 --use_deepspeed --deepspeed_config_file configs/stage3_no_offloading.conf train.py "
        "--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --max_length 2048\n");
    REQUIRE(named.plan);
    CHECK(named.plan->cluster.gpus == 16);
    CHECK(named.plan->layout.zero == 3);
    CHECK(problem_called(named, "file-by-name"));
}

// axolotl-ai-cloud/axolotl 067b021c, utils/schemas/validation.py:1733-1755.
TEST_CASE("axolotl gathers keys and values under sample packing, unless ring_attn_func says a ring") {
    const auto comm = [](const std::string& more) {
        const Import made =
            import_text("base_model: meta-llama/Llama-3.1-8B\nsequence_len: 65536\nmicro_batch_size: 1\n"
                        "gradient_accumulation_steps: 1\ncontext_parallel_size: 8\nbf16: auto\n"
                        "optimizer: adamw_torch\n"
                        + more);
        REQUIRE(made.plan);
        CHECK((problem_called(made, "cp-comm-default") != nullptr) == (more == "sample_packing: true\n"));
        return made.plan->layout.cp_comm;
    };
    CHECK(comm("sample_packing: true\n") == CpComm::allgather);
    CHECK(comm("sample_packing: true\nring_attn_func: batch_ring\n") == CpComm::ring);
    CHECK(comm("ring_attn_func: varlen_llama3\n") == CpComm::allgather);
    CHECK(comm("") == CpComm::ring);
}

// nvidia-cosmos/cosmos-rl 89f2e5b5, policy/model/gpt/parallelize.py:121-199: Schedule1F1B over one stage a
// rank, as pp_schedule is not read; sft's batch is train_batch_per_replica on each data-parallel rank.
TEST_CASE("cosmos-rl: pipelines of a dense model are 1F1B, and the batch is the replica's") {
    const Import made = import_text(
        "[train]\ntrain_batch_per_replica = 64\nparam_dtype = \"bfloat16\"\n\n[policy]\n"
        "model_name_or_path = \"Qwen/Qwen2.5-7B-Instruct\"\nmodel_max_length = 1024\n\n[train.train_policy]\n"
        "type = \"sft\"\nmini_batch = 8\n\n[policy.parallelism]\nn_init_replicas = 1\ntp_size = 1\ncp_size = "
        "2\n"
        "dp_shard_size = -1\npp_size = 2\ndp_replicate_size = 1\n");
    CHECK(made.kind == "cosmos-rl");
    REQUIRE(made.plan);
    CHECK_FALSE(made.failed());
    CHECK(made.plan->layout.schedule == Schedule::one_f_one_b);
    CHECK(made.plan->layout.virtual_stages == 1);
    CHECK(made.plan->training.micro_batch == 1);
    CHECK(made.plan->training.global_batch == 64);
}

// hiyouga/LLaMA-Factory ff6d4d12, examples/extras/fp8/llama3_fp8_fsdp_sft.yaml.
TEST_CASE("LLaMA-Factory: fsdp is transformers' own") {
    const std::string text =
        "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\n"
        "finetuning_type: full\ncutoff_len: 1024\nper_device_train_batch_size: 1\n"
        "gradient_accumulation_steps: 8\nbf16: true\nfsdp:\n  - full_shard\n  - auto_wrap\n"
        "fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer\n";
    const Import made = import_text(text, 8);
    REQUIRE(made.plan);
    CHECK(made.plan->layout.zero == 3);
    CHECK(made.plan->layout.dp_shard == 8);
    CHECK(made.plan->training.compute == Dtype::bf16);
    CHECK_FALSE(problem_called(made, "launcher-file"));
    CHECK(made.settings.not_known.empty());
    const Import eight = import_text(text + "fp8: true\n", 8);
    REQUIRE(eight.plan);
    CHECK(eight.plan->training.compute == Dtype::fp8);
}
