// Tests words of launchers in the spellings that they take, and files of theirs next to a script.
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_beside;
using test::import_text;
using test::problem_called;

namespace {

const std::string kProgram =
    " sft.py --model_name_or_path meta-llama/Llama-3.1-8B "
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_length 4096 "
    "--bf16 True ";

Import started(const std::string& launcher, const std::string& more = "") {
    return import_text(launcher + kProgram + more + "\n");
}

}  // namespace

// huggingface/accelerate 16cb6eb8: commands/utils.py, _StoreAction takes "-" for "_".
TEST_CASE("accelerate launch: dashes for underscores, its choices, and one engine at a time") {
    const Import dashes = started("accelerate launch --num-machines=2 --num-processes=16 --use-fsdp "
                                  "--fsdp-sharding-strategy=HYBRID_SHARD --mixed-precision=bf16");
    REQUIRE(dashes.plan);
    CHECK(dashes.plan->cluster.gpus == 16);
    CHECK(dashes.plan->layout.dp_shard == 8);
    CHECK(dashes.plan->layout.dp_replicate == 2);
    CHECK(dashes.plan->training.global_batch == 128);
    // utils/dataclasses.py: the strategy is read in any case.
    const Import small = started("accelerate launch --num_processes 8 --use_fsdp --fsdp_sharding_strategy "
                                 "shard_grad_op --mixed_precision bf16");
    REQUIRE(small.plan);
    CHECK(small.plan->layout.zero == 2);
    CHECK(
        problem_called(started("accelerate launch --num_processes 8 --use_fsdp --fsdp_sharding_strategy FULL "
                               "--mixed_precision bf16"),
                       "word-not-allowed"));
    CHECK(problem_called(started("accelerate launch --num_processes 8 --use_fsdp --mixed_precision bf17"),
                         "word-not-allowed"));
    // commands/launch.py, _validate_launch_command
    const Import two =
        started("accelerate launch --num_processes 8 --use_fsdp --use_deepspeed --zero_stage 2 "
                "--mixed_precision bf16");
    CHECK(two.failed());
    CHECK(problem_called(two, "two-engines"));
}

TEST_CASE("srun takes a number behind the letter") {
    const Import made = started("srun -N4 -n32 --gpus-per-task=1 python", "--fsdp full_shard");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(made.settings.not_known.empty());
}

// deepspeedai/DeepSpeed edaa7221: launcher/runner.py.
TEST_CASE("DeepSpeed's list of hosts says the GPUs") {
    const auto gpus = [](const std::string& flags) {
        const Import made =
            import_beside("deepspeed " + flags + kProgram + "--deepspeed ds.json\n",
                          {{"ds.json", "{\"bf16\": {\"enabled\": true}, \"zero_optimization\": "
                                       "{\"stage\": 2}}"},
                           {"hosts", "# nodes\nw1 slots=8\nw2 slots=8\nw3 slots=4\n"}});
        REQUIRE(made.plan);
        return made.plan->cluster.gpus;
    };
    CHECK(gpus("--hostfile hosts") == 20);
    CHECK(gpus("--hostfile=hosts --exclude=w3") == 16);
    CHECK(gpus("--hostfile hosts --exclude w2:0,1@w3") == 14);
    CHECK(gpus("--hostfile hosts --include w1@w3:0,1") == 10);
    CHECK(gpus("--hostfile hosts --include w1:0@w3:1@w1:0,2") == 3);  // parse_node_config_list joins them
    CHECK(gpus("--hostfile hosts --num_nodes 2") == 16);
    CHECK(gpus("--hostfile hosts --num_gpus 2") == 6);
}
