// Tests manifests of jobs for a cluster's scheduler: the command in them, and the GPUs that they ask for.
#include "core/base/files.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::import_text;
using test::listed;

namespace {

const std::string kManifestFlags = "--tensor-model-parallel-size 2 --num-layers 8 --hidden-size 512 "
                                   "--num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
                                   "--micro-batch-size 1 --global-batch-size 96 --vocab-size 1024";

std::string container(const std::string& command) {
    return "            - name: pytorch\n              image: ours\n              command: " + command
           + "\n              resources:\n                limits:\n                  nvidia.com/gpu: 8\n";
}

std::string pytorch_job(const std::string& command) {
    const std::string template_ = "      template:\n        spec:\n          containers:\n";
    return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: small\nspec:\n"
           "  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n"
           + template_ + container(command) + "    Worker:\n      replicas: 2\n" + template_
           + container(command);
}

}  // namespace

// 1 master and 2 workers of 8 GPUs are 24.
TEST_CASE("a PyTorchJob: its command is read on the GPUs of master and workers") {
    const Import made = import_text(
        pytorch_job("[\"bash\", \"-c\", \"torchrun --nproc_per_node 8 --nnodes ${WORLD_SIZE} pretrain_gpt.py "
                    + kManifestFlags + "\"]"));
    REQUIRE(made.plan);
    CHECK(made.kind == "megatron");
    CHECK(made.plan->cluster.gpus == 24);
    CHECK(made.plan->layout.tp == 2);
    CHECK(listed(made.settings.mapped, "spec.pytorchReplicaSpecs.Worker.replicas"));
}

TEST_CASE("a PyTorchJob whose command starts no known program is refused by its kind") {
    CHECK_THROWS_WITH_AS(
        import_text(pytorch_job("[\"python\", \"serve.py\"]")),
        doctest::Contains("a Kubernetes PyTorchJob: its command starts serve.py, which is not read"), Error);
}

TEST_CASE("a SkyPilot task: nodes, accelerators, and the text that it runs") {
    const Import made = import_text("name: small\nnum_nodes: 3\nresources:\n  accelerators: H100:8\nrun: |\n"
                                    "  torchrun --nnodes $SKYPILOT_NUM_NODES "
                                    "--nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE pretrain_gpt.py "
                                    + kManifestFlags + "\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 24);
    CHECK(listed(made.settings.mapped, "num_nodes"));
    CHECK(made.plan->cluster.gpu.name.find("H100") != std::string::npos);
}

TEST_CASE("the accelerators of a SkyPilot task name the cluster; a count that no job has is none") {
    const auto task = [](const std::string& accelerators) {
        return import_text("num_nodes: 2\nresources:\n  accelerators: " + accelerators
                           + "\nrun: |\n  torchrun --nnodes $N --nproc_per_node $G pretrain_gpt.py "
                           + kManifestFlags + "\n");
    };
    const Import a100 = task("A100-80GB:8");
    REQUIRE(a100.plan);
    CHECK(a100.plan->cluster.gpus == 16);
    CHECK(a100.plan->cluster.gpu.name.find("A100") != std::string::npos);
    CHECK_FALSE(test::problem_called(a100, "cluster-assumed"));
    for (const char* count : {"-8", "99999999999999999999", "9223372036854775807", "x"}) {
        CAPTURE(count);
        const Import made = task(std::string("H100:") + count);
        CHECK((!made.plan || made.plan->cluster.gpus < 64));
    }
}

TEST_CASE("settings of a manifest's command have the lines of the manifest") {
    const std::string text =
        "apiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 2\n  template:\n    spec:\n"
        "      containers:\n        - command: [\"bash\", \"-c\"]\n          env:\n"
        "            - name: TP\n              value: \"2\"\n          resources:\n"
        "            limits:\n              nvidia.com/gpu: 8\n          args:\n"
        "            - |\n              set -e\n              torchrun --nproc_per_node 8 \\\n"
        "                pretrain_gpt.py --sequence-parallel "
        + kManifestFlags + "\n";
    ImportRequest asked{.text = text, .path = "job"};
    for (const char* tool : {"", "megatron"}) {
        CAPTURE(tool);
        asked.tool = tool;
        const Import made = import_settings(asked, test::presets());
        REQUIRE(made.plan);
        CHECK(made.plan->cluster.gpus == 16);
        for (const Listed& row : made.settings.mapped) {
            CAPTURE(row.setting);
            if (row.setting == "--nproc_per_node") CHECK(row.line == 18);
            if (row.setting == "--tensor-model-parallel-size") CHECK(row.line >= 18);
        }
    }
}

TEST_CASE("counts of a manifest that its command says otherwise are not in the plan") {
    const Import made =
        import_text("num_nodes: 4\nresources:\n  accelerators: H100:8\nrun: torchrun --nnodes 1 "
                    "--nproc_per_node 8 pretrain_gpt.py "
                    + kManifestFlags + "\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 8);
    CHECK_FALSE(listed(made.settings.mapped, "num_nodes"));
    CHECK(listed(made.settings.unmapped, "num_nodes"));
}

// Four pods a group, the leader among them (kubernetes-sigs/lws, docs/examples/sample/lws.yaml); a replica is
// a job.
TEST_CASE("a LeaderWorkerSet has the GPUs of one group, with a template of the leader or without") {
    const std::string pod =
        "\n      spec:\n        containers:\n        - command: [\"bash\", \"-c\", \"torchrun "
        "--nproc_per_node 8 --nnodes ${LWS_GROUP_SIZE} pretrain_gpt.py "
        + kManifestFlags
        + "\"]\n          resources:\n            limits:\n              nvidia.com/gpu: 8\n";
    const std::string head = "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n"
                             "  replicas: 3\n  leaderWorkerTemplate:\n    size: 4\n";
    for (const std::string& leader : {std::string(), "    leaderTemplate:" + pod}) {
        const Import made = import_text(head + leader + "    workerTemplate:" + pod);
        REQUIRE(made.plan);
        CHECK(made.plan->cluster.gpus == 32);
    }
}
