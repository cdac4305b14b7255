// Tests manifests of jobs for a cluster's scheduler: the command in them, and the GPUs that they ask for.
#include "core/base/files.h"
#include "tests/core/imports.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <utility>

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

const std::string kNotSaid = "|\n  torchrun --nnodes $N --nproc_per_node $G";

std::string sky_task(int nodes, const std::string& accelerators, const std::string& launch) {
    return "num_nodes: " + std::to_string(nodes) + "\nresources:\n  accelerators: " + accelerators
           + "\nrun: " + launch + " pretrain_gpt.py " + kManifestFlags + "\n";
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

TEST_CASE("of several jobs of a manifest one is read with its own GPUs, and the others are said") {
    const auto command = [](const std::string& more) {
        return "[\"bash\", \"-c\", \"torchrun --nproc_per_node 8 --nnodes ${WORLD_SIZE} " + more
               + " pretrain_gpt.py " + kManifestFlags + "\"]";
    };
    const std::string job = pytorch_job(command("--node_rank 0"));
    CHECK_FALSE(test::problem_called(import_text(job), "several-jobs"));
    std::string larger =
        pytorch_job("[\"bash\", \"-c\", \"torchrun --nproc_per_node 8 --nnodes ${WORLD_SIZE} pretrain_gpt.py "
                    "--tensor-model-parallel-size 4 "
                    + kManifestFlags + "\"]");
    larger.replace(larger.find("replicas: 2"), 11, "replicas: 11");
    const Import made = import_text(job + "---\n" + larger);
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 24);
    const ImportProblem* said = test::problem_called(made, "several-jobs");
    REQUIRE(said);
    CHECK(said->severity == Severity::warning);
    CHECK(said->message.find("1 other is not") != std::string::npos);
    // Ranks of one job differ by no more than their number.
    CHECK_FALSE(test::problem_called(import_text(job + "---\n" + pytorch_job(command("--node_rank=1"))),
                                     "several-jobs"));
}

TEST_CASE("a pipeline of SkyPilot's jobs: the first one's nodes are its own") {
    const auto task = [](const char* nodes, const char* more) {
        return std::string("num_nodes: ") + nodes + "\nresources:\n  accelerators: H100:8\nrun: |\n"
               + "  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node 8 pretrain_gpt.py " + more
               + kManifestFlags + "\n";
    };
    const Import made = import_text("name: both\n---\n" + task("3", "") + "---\n" + task("6", "--swiglu "));
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 24);
    CHECK(test::problem_called(made, "several-jobs"));
}

TEST_CASE("a manifest without a command that is read is refused by its kind, a template as one") {
    const std::string job = "apiVersion: batch/v1\nkind: Job\nspec:\n";
    const std::pair<std::string, const char*> refused[] = {
        {pytorch_job("[\"python\", \"serve.py\"]"),
         "a Kubernetes PyTorchJob: its command starts serve.py, which is not read"},
        {job + "  template:\n    spec:\n      containers:\n        - image: ours\n",
         "a Kubernetes Job: it holds no command"},
        {job + "  {{- if .Values.on }}\n  parallelism: {{ .Values.nodes }}\n  {{- end }}\n", "a template"}};
    for (const auto& row : refused) {
        CAPTURE(row.first);
        CHECK_THROWS_WITH_AS(import_text(row.first), doctest::Contains(row.second), Error);
    }
}

// GPUs are nodes times the devices of each. A task of Azure ML names no device.
TEST_CASE("tasks of SkyPilot, dstack and Azure ML: nodes, devices, and the text that they run") {
    struct Task {
        std::string text;
        std::int64_t gpus;
        const char *nodes, *device;
    };
    const Task tasks[] = {
        {sky_task(3, "H100:8",
                  "|\n  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE"),
         24, "num_nodes", "H100"},
        {sky_task(2, "A100-80GB:8", kNotSaid), 16, "num_nodes", "A100"},
        {"type: task\nnodes: 2\nenv:\n  - NODES=2\n  - GPUS=8\ncommands:\n  - torchrun "
         "--nproc_per_node $GPUS --nnodes $NODES pretrain_gpt.py "
             + kManifestFlags + "\nresources:\n  gpu: H200:8\n",
         16, "nodes", "H200"},
        {"$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ncommand: >-\n"
         "  python pretrain_gpt.py "
             + kManifestFlags
             + "\ndistribution:\n  type: pytorch\n  process_count_per_instance: 8\nresources:\n"
               "  instance_count: 3\n",
         24, "instance_count", ""}};
    for (const Task& task : tasks) {
        CAPTURE(task.text);
        const Import made = import_text(task.text);
        REQUIRE(made.plan);
        CHECK(made.plan->cluster.gpus == task.gpus);
        CHECK(listed(made.settings.mapped, task.nodes));
        const std::string device = task.device;
        CHECK(made.plan->cluster.gpu.name.find(device) != std::string::npos);
        CHECK((test::problem_called(made, "cluster-assumed") != nullptr) == device.empty());
        // The text does not say the network between them: it is the preset's.
        const ImportProblem* network = test::problem_called(made, "network-assumed");
        REQUIRE((network != nullptr) == !device.empty());
        if (network) CHECK(network->message.find(device) != std::string::npos);
    }
}

TEST_CASE("a count of accelerators that no job has is none") {
    for (const char* count : {"-8", "99999999999999999999", "9223372036854775807", "x"}) {
        CAPTURE(count);
        const Import made = import_text(sky_task(2, std::string("H100:") + count, kNotSaid));
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
    const Import made = import_text(sky_task(4, "H100:8", "torchrun --nnodes 1 --nproc_per_node 8"));
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

// A store of keys stands before the job, whose counts are a template's: awsome-distributed-training has
// both.
TEST_CASE("a manifest's job is the command on GPUs, its counts may be given") {
    const std::string text =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: etcd\nspec:\n  replicas: 1\n  "
        "template:\n"
        "    spec:\n      containers:\n        - name: etcd\n          command: [\"etcd\", "
        "\"--data-dir\", "
        "\"/v\"]\n"
        "---\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n"
        "      replicas: ${NUM_NODES}\n      template:\n        spec:\n          nodeSelector:\n"
        "            cloud.google.com/gke-accelerator: nvidia-h200-141gb\n          containers:\n"
        + container("[\"torchrun\", \"--nproc_per_node=8\", \"--nnodes=${NUM_NODES}\", \"pretrain_gpt.py\", "
                    "\"--tensor-model-parallel-size=2\", \"--num-layers=8\", \"--hidden-size=512\", "
                    "\"--num-attention-heads=8\", \"--seq-length=512\", \"--max-position-embeddings=512\", "
                    "\"--micro-batch-size=1\", \"--global-batch-size=96\", \"--vocab-size=1024\"]");
    const Import open = import_text(text);
    REQUIRE(open.plan);
    CHECK(test::problem_called(open, "gpus-unknown"));
    ImportRequest r;
    r.text = text;
    r.path = "test";
    r.variables = {"NUM_NODES=3"};
    const Import given = import_settings(r, test::presets());
    REQUIRE(given.plan);
    CHECK(given.plan->cluster.gpus == 24);
    CHECK_FALSE(test::problem_called(given, "cluster-assumed"));
}

// A launcher of MPI without GPUs starts the job on workers that have them.
TEST_CASE("an MPIJob: its launcher's command on its workers' GPUs") {
    const Import made = import_text(
        "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  slotsPerWorker: 8\n  mpiReplicaSpecs:\n"
        "    Launcher:\n      replicas: 1\n      template:\n        spec:\n          containers:\n"
        "            - name: mpi\n              command: [\"mpirun\"]\n              args:\n             "
        "   "
        "- -np\n"
        "                - \"16\"\n                - python\n                - pretrain_gpt.py\n"
        "                - --tensor-model-parallel-size=4\n                - --num-layers=8\n"
        "                - --hidden-size=512\n                - --num-attention-heads=8\n"
        "                - --seq-length=512\n                - --max-position-embeddings=512\n"
        "                - --micro-batch-size=1\n                - --global-batch-size=64\n"
        "                - --vocab-size=1024\n"
        "    Worker:\n      replicas: 2\n      template:\n        spec:\n          containers:\n"
        "            - name: mpi\n              resources:\n                limits:\n"
        "                  nvidia.com/gpu: 8\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->layout.tp == 4);
    CHECK_FALSE(test::problem_called(made, "gpus-of-manifest"));
}

TEST_CASE("a script in a ConfigMap is the job's") {
    const Import made = import_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scripts\ndata:\n  train.sh: |\n"
        "    python pretrain_gpt.py "
        + kManifestFlags
        + "\n---\napiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 6\n  template:\n    spec:\n"
          "      containers:\n        - name: main\n          command: [\"bash\", "
          "\"/scripts/train.sh\"]\n"
          "          resources:\n            limits:\n              nvidia.com/gpu: 8\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 48);
    // The seed's first job takes its script from a ConfigMap, its second one has a command.
    const Import seed = import_text(read_file(SOURCE_DIR "/tests/fuzz/seeds/import/manifest.yaml"));
    REQUIRE(seed.plan);
    CHECK(seed.plan->model.layers == 8);
    CHECK(seed.plan->cluster.gpus == 24);
    CHECK(test::problem_called(seed, "several-jobs"));
}
