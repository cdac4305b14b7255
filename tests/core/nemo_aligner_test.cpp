// Tests NeMo-Aligner, whose numbers are worked out here by its own code: NVIDIA/NeMo-Aligner af2b3bd9.
#include "core/interop/guess.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::check_batch;
using test::import_text;
using test::problem_called;
using test::stands_in;

namespace {

// The way docs/user-guide/*.rst start a program.
std::string aligner_job(const std::string& program, const std::string& words) {
    return "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\nGPFS=/opt/NeMo-Aligner\n"
           "read -r -d '' cmd <<EOF\ncd ${GPFS} \\\n&& export HYDRA_FULL_ERROR=1 \\\n"
           "&& python -u ${GPFS}/examples/nlp/gpt/"
           + program
           + " \\\n   trainer.num_nodes=${SLURM_JOB_NUM_NODES} \\\n   trainer.devices=8 \\\n"
             "   pretrained_checkpoint.restore_from_path=/m/llama-3.1-8b.nemo \\\n   "
           + words + "\nEOF\nsrun --no-container-mount-home --container-image=a.sqsh bash -c \"${cmd}\"\n";
}

Import aligner(const std::string& program, const std::string& words) {
    Import made = import_text(aligner_job(program, words));
    CHECK(made.kind == "nemo-aligner");
    return made;
}

}  // namespace

TEST_CASE("NeMo-Aligner is known by its programs and sections, and its neighbours are not it") {
    const auto first = [](std::string_view text) {
        const auto fits = guess_tools(text);
        return fits.empty() ? std::string() : std::string(fits.front()->name);
    };
    CHECK(first("python train_gpt_dpo.py trainer.devices=8 model.dpo.ref_policy_kl_penalty=0.1\n")
          == "nemo-aligner");
    CHECK(first("python serve_ppo_critic.py trainer.devices=8\n") == "nemo-aligner");
    CHECK(first("trainer:\n  devices: 8\n  rm:\n    max_epochs: 1\nmodel:\n  mcore_gpt: True\n")
          == "nemo-aligner");
    // NeMo 1's own pretraining, NeMo RL's DPO.
    CHECK(first("trainer:\n  devices: 8\nmodel:\n  mcore_gpt: True\n  encoder_seq_length: 4096\n")
          == "bridge");
    CHECK(first("dpo:\n  max_num_steps: 150\npolicy:\n  dtensor_cfg:\n    enabled: true\n") == "nemo-rl");
    CHECK(first("python train_reward_model.py --lr 1e-5\n").empty());
}

// megatron_gpt_dpo_model.py, get_loss_and_metrics: micro_batch_size *= 2; the calculator of micro-batches has
// global_batch_size pairs: 512 / (1 x 16 / 4) calls.
TEST_CASE("NeMo-Aligner's DPO counts pairs, and what its conf and its checkpoint say") {
    const Import made =
        aligner("train_gpt_dpo.py", "++model.micro_batch_size=1 ++model.global_batch_size=512 "
                                    "++model.tensor_model_parallel_size=4 "
                                    "++model.pipeline_model_parallel_size=1 "
                                    "++model.data.seq_length=2048 ++trainer.dpo.max_epochs=1");
    REQUIRE(made.plan);
    const Plan& p = *made.plan;
    CHECK(p.cluster.gpus == 16);
    CHECK(p.model.layers == 32);
    CHECK(p.layout.tp == 4);
    CHECK(p.layout.zero == 1);  // gpt_dpo.yaml: distributed_fused_adam
    CHECK_FALSE(p.training.overlap.dp);
    CHECK(p.training.sequence_length == 2048);
    check_batch(made, 2, 1024, true);
    CHECK_FALSE(stands_in(made.settings.not_known, "++model.data.seq_length"));
    CHECK(made.settings.not_known.empty());
    // Without a batch conf/gpt_dpo.yaml has 1 and 64.
    const Import usual = aligner("train_gpt_dpo.py", "++model.tensor_model_parallel_size=4 "
                                                     "++model.data.seq_length=2048");
    check_batch(usual, 2, 128);
}

TEST_CASE("NeMo-Aligner's packed DPO has packs and no pairs, and refuses what its asserts refuse") {
    const std::string packed = "++model.tensor_model_parallel_size=4 ++model.data.seq_length=4096 "
                               "++model.data.data_impl=packed_jsonl ++model.global_batch_size=64 ";
    const Import made = aligner("train_gpt_dpo.py", packed + "++model.micro_batch_size=1");
    check_batch(made, 1, 64);
    CHECK_FALSE(problem_called(made, "packed-micro-batch"));
    CHECK(stands_in(made.settings.unmapped, "++model.data.data_impl"));
    CHECK(problem_called(aligner("train_gpt_dpo.py", packed + "++model.micro_batch_size=2"),
                         "packed-micro-batch"));
    CHECK(problem_called(aligner("train_gpt_dpo.py", packed + "++model.transformer_engine=False"),
                         "packed-kernels"));
    CHECK(problem_called(aligner("train_gpt_dpo.py", "++model.dpo.preference_loss_weight=0"), "no-loss"));
    CHECK_FALSE(problem_called(aligner("train_gpt_dpo.py", "++model.dpo.preference_loss_weight=0 "
                                                           "++model.dpo.sft_loss_weight=0.5"),
                               "no-loss"));
}

// megatron_gpt_reward_model.py has two sequences a sample, megatron_gpt_regression_reward_model.py one;
// train_reward_model.py asks for a micro-batch of 2 where regression compares neighbours.
TEST_CASE("NeMo-Aligner's reward models: pairs by ranking, single samples by regression") {
    const std::string layout = "++model.tensor_model_parallel_size=2 ++model.pipeline_model_parallel_size=1 "
                               "++model.global_batch_size=64 trainer.rm.save_interval=100 ";
    const Import ranking = aligner("train_reward_model.py", layout + "++model.micro_batch_size=1");
    check_batch(ranking, 2, 128);
    CHECK(ranking.plan->training.sequence_length == 4096);  // conf/training_rm.yaml
    CHECK(problem_called(ranking, "one-output"));
    const std::string regression = layout + "++model.reward_model_type=regression ";
    const Import single = aligner("train_reward_model.py", regression + "++model.micro_batch_size=1");
    check_batch(single, 1, 64);
    const std::string neighbours = regression + "++model.regression.loss_func=scaled_bt ";
    CHECK(problem_called(aligner("train_reward_model.py", neighbours + "++model.micro_batch_size=4"),
                         "regression-micro-batch"));
    CHECK_FALSE(problem_called(aligner("train_reward_model.py", neighbours + "++model.micro_batch_size=2"),
                               "regression-micro-batch"));
}

// ppo.py, compute_num_rollout_microbatches: num_rollout_samples over rollout_micro_batch_size, over the ranks
// that generate: 16 / (2 x 2) = 4, and 8 where a pipeline's stages become replicas (parallel_state.py).
TEST_CASE("NeMo-Aligner's PPO: the actor trains single sequences, and its rollouts have to divide") {
    const std::string layout = "++model.tensor_model_parallel_size=2 ++model.pipeline_model_parallel_size=2 "
                               "++model.micro_batch_size=1 ++model.global_batch_size=64 "
                               "++model.ppo.rollout_micro_batch_size=8 ";
    const Import made = aligner("train_gpt_ppo_actor.py", layout
                                                              + "++model.ppo.num_rollout_samples=512 "
                                                                "remote_critic_rm.critic.port=5567");
    check_batch(made, 1, 64);
    CHECK(made.plan->training.sequence_length == 4096);  // conf/gpt_ppo_actor.yaml
    CHECK(made.plan->layout.pp == 2);
    CHECK(problem_called(made, "actor-gpus"));
    CHECK(stands_in(made.settings.unmapped, "remote_critic_rm.critic.port"));
    CHECK_FALSE(problem_called(made, "rollouts-not-divisible"));
    const std::string reshard = "trainer.ppo.trt_llm.enable=True trainer.ppo.trt_llm.reshard=True ";
    const auto rollouts = [&](const std::string& words) {
        return problem_called(aligner("train_gpt_ppo_actor.py", layout + words), "rollouts-not-divisible");
    };
    CHECK(rollouts("++model.ppo.num_rollout_samples=528"));             // 66 micro-batches over 4
    CHECK(rollouts("++model.ppo.num_rollout_samples=96"));              // no multiple of 64
    CHECK(rollouts("++model.ppo.num_rollout_samples=480 " + reshard));  // 60 over 8
    CHECK_FALSE(rollouts("++model.ppo.num_rollout_samples=512 " + reshard));
    CHECK(problem_called(aligner("train_gpt_ppo_actor.py", layout + reshard), "engine-stays"));
    CHECK(problem_called(aligner("serve_ppo_critic.py", "++model.tensor_model_parallel_size=2"),
                         "critic-gpus"));
}

// docs/user-guide/rlhf.rst starts critic and actor on nodes of their own.
TEST_CASE("NeMo-Aligner's PPO in one batch job: the actor has its own group of nodes") {
    const std::string words = " trainer.devices=8 ++model.tensor_model_parallel_size=8 "
                              "++model.pipeline_model_parallel_size=1 ++model.global_batch_size=64 "
                              "++model.micro_batch_size=1 "
                              "pretrained_checkpoint.restore_from_path=/m/llama-3.1-8b.nemo";
    const std::string text =
        "#!/bin/bash\n#SBATCH -N 1 --ntasks-per-node 8\n#SBATCH hetjob\n#SBATCH -N 4 --ntasks-per-node 8\n"
        "srun --het-group=0 bash -c \"python serve_ppo_critic.py "
        "trainer.num_nodes=${SLURM_JOB_NUM_NODES_HET_GROUP_0}"
        + words
        + "\" &\nsrun --het-group=1 bash -c \"python train_gpt_ppo_actor.py "
          "trainer.num_nodes=${SLURM_JOB_NUM_NODES_HET_GROUP_1}"
        + words + " ++model.ppo.num_rollout_samples=512 ++model.ppo.rollout_micro_batch_size=8\" &\nwait\n";
    const Import made = import_text(text);
    CHECK(made.kind == "nemo-aligner");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(problem_called(made, "actor-gpus"));
    CHECK_FALSE(problem_called(made, "critic-gpus"));
}

// conf/gpt_sft.yaml: the data loader's own batch is the model's.
TEST_CASE("NeMo-Aligner's supervised training has its data set's batch and length") {
    const Import made = aligner("train_gpt_sft.py", "model.data.train_ds.micro_batch_size=2 "
                                                    "model.data.train_ds.global_batch_size=64 "
                                                    "model.data.train_ds.max_seq_length=2048 "
                                                    "model.data.validation_ds.global_batch_size=256");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 1);
    check_batch(made, 2, 64);
    CHECK(made.plan->training.sequence_length == 2048);
    CHECK_FALSE(problem_called(made, "checkpoint-settings"));
    // Its megatron_amp_O2 is False: parameters stay in fp32.
    CHECK(std::any_of(made.settings.unmapped.begin(), made.settings.unmapped.end(),
                      [](const Listed& l) { return l.why.find("stay in fp32") != std::string::npos; }));
    const Import other =
        aligner("train_gpt_sft.py", "model.megatron_amp_O2=True trainer.sft.save_interval=150 "
                                    "trainer.sft.val_check_interval=100");
    CHECK_FALSE(stands_in(other.settings.unmapped, "model.megatron_amp_O2"));
    CHECK(problem_called(other, "save-interval"));  // trainer_utils.py, check_progress
}

// spin.py: 64 / (16 / 2) = 8 samples of a data-parallel rank, each of them with one that it generates.
TEST_CASE("NeMo-Aligner's SPIN and KTO train two sequences a sample") {
    const std::string layout = "++model.tensor_model_parallel_size=2 ++model.pipeline_model_parallel_size=1 "
                               "++model.micro_batch_size=1 ++model.global_batch_size=64 "
                               "++model.encoder_seq_length=2048 ";
    const Import spin = aligner("train_gpt_spin.py", layout + "++model.spin.rollout_micro_batch_size=32");
    check_batch(spin, 2, 128);
    CHECK_FALSE(problem_called(spin, "rollouts-not-divisible"));
    CHECK(problem_called(aligner("train_gpt_spin.py", layout + "++model.spin.rollout_micro_batch_size=12"),
                         "rollouts-not-divisible"));
    const Import kto = aligner("train_gpt_kto.py", layout + "trainer.kto.max_epochs=1");
    REQUIRE(kto.plan);
    CHECK(kto.plan->training.micro_batch == 2);
    REQUIRE(problem_called(kto, "pairs"));
    CHECK(problem_called(kto, "pairs")->message.find("rejected") == std::string::npos);
}
