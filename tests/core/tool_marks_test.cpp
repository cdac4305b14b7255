#include "core/interop/guess.h"
#include "core/interop/tools.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

// A tool is recognized by words that only it has: texts of others that share some of them are not taken for
// it.

using namespace pentamesh;
using namespace pentamesh::interop;

namespace {

bool taken_for(std::string_view text, std::string_view tool) {
    for (const Tool* t : guess_tools(text))
        if (t->name == tool) return unread_tool(text).empty();
    return false;
}

}  // namespace

// AI-Hypercomputer/maxtext e591f30c, src/maxtext/configs: gpu/models and custom_mesh_and_rule.
TEST_CASE("MaxText is known by its own words, and texts that share its names are not MaxText's") {
    CHECK(taken_for("base_config: \"base.yml\"\nrun_name: \"gpu\"\nmodel_name: \"llama2-7b\"\n"
                    "per_device_batch_size: 4\nmax_target_length: 4096\n",
                    "maxtext"));
    CHECK(taken_for("python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml run_name=x "
                    "per_device_batch_size=4 max_target_length=4096 model_name=llama2-7b\n",
                    "maxtext"));
    // A sequence to sequence model's targets have a largest length too.
    CHECK_FALSE(taken_for("model: google/flan-t5-small\nmax_source_length: 512\nmax_target_length: 128\n"
                          "per_device_batch_size: 8\nlearning_rate: 1e-4\n",
                          "maxtext"));
    CHECK_FALSE(
        taken_for("python train.py model=t5 per_device_batch_size=8 max_target_length=128\n", "maxtext"));
    // AI-Hypercomputer/maxdiffusion, src/maxdiffusion/configs/base_xl.yml: the same mesh, images.
    const std::string_view images =
        "pretrained_model_name_or_path: 'stabilityai/stable-diffusion-xl-base-1.0'\n"
        "dcn_data_parallelism: -1\nici_fsdp_parallelism: 1\nici_tensor_parallelism: 1\n"
        "resolution: 1024\nper_device_batch_size: 2\nnum_inference_steps: 20\n";
    CHECK_FALSE(taken_for(images, "maxtext"));
    CHECK(unread_tool(images) == "MaxDiffusion");
}

// NVIDIA/NeMo-Aligner 003b655f, examples/nlp/gpt/conf/gpt_ppo_actor.yaml.
TEST_CASE("NeMo's, NeMo-Aligner's and Megatron-Bridge's YAML are known by their own words, and a model that "
          "is cut is "
          "not enough") {
    CHECK(taken_for("trainer:\n  num_nodes: 8\n  devices: 8\n  ppo:\n    max_epochs: 1\nmodel:\n"
                    "  mcore_gpt: True\n  micro_batch_size: 1\n  global_batch_size: 64\n",
                    "nemo-aligner"));
    CHECK(taken_for("trainer:\n  devices: 8\nmodel:\n  encoder_seq_length: 4096\n  "
                    "tensor_model_parallel_size: 4\n",
                    "bridge"));
    CHECK(taken_for("model:\n  tensor_model_parallel_size: 4\nddp:\n  use_distributed_optimizer: true\n",
                    "bridge"));
    // Somebody's own trainer over Megatron's modules.
    CHECK_FALSE(taken_for("trainer:\n  devices: 8\n  epochs: 3\nmodel:\n  name: my-gpt\n"
                          "  tensor_model_parallel_size: 4\n",
                          "bridge"));
    // A server's settings.
    CHECK_FALSE(taken_for(
        "model:\n  path: /m/x\n  tensor_model_parallel_size: 4\n  max_batch_size: 64\nport: 80\n", "bridge"));
    // Another's own training.
    CHECK_FALSE(taken_for("model:\n  tensor_model_parallel_size: 2\ntrain:\n  epochs: 3\n  batch_size: 8\n",
                          "bridge"));
}
