#include "app/cli/commands.h"

#include "app/cli/plan_argument.h"

#include <array>
#include <vector>

namespace pentamesh::cli {
namespace {

constexpr std::string_view kFigures = "A plan in figures", kChoice = "Which layout, and why",
                           kFrameworks = "Frameworks and their settings", kRuns = "Runs that were made",
                           kPages = "Pictures, pages, lessons", kProgram = "The program";

constexpr std::array kCommands{
    Command{"report", "the whole evaluation of a plan", add_report, kFigures,
            "pentamesh report llama-3.1-405b-16k\n"
            "pentamesh report llama-3-70b-3d --set layout.tp=4 --set layout.dp_shard=16 --json\n"
            "pentamesh report mesh-8 --html -o report.html\n"},
    Command{"memory", "bytes per GPU by category and pipeline stage", add_memory, kFigures,
            "pentamesh memory llama-3-70b-3d\n"
            "pentamesh memory llama-3-70b-3d --csv -o memory.csv\n"},
    Command{"comm", "every collective of one step", add_comm, kFigures,
            "pentamesh comm llama-3-70b-3d\n"
            "pentamesh comm deepseek-v3-2048 --markdown\n"},
    Command{"timeline", "the pipeline schedule in time", add_timeline, kFigures,
            "pentamesh timeline llama-3-70b-3d\n"
            "pentamesh timeline llama-3-70b-3d --costs F=1,I=1,W=1,comm=0\n"
            "pentamesh timeline llama-3-70b-3d --trace trace.json          # Perfetto opens it\n"},
    Command{"groups", "rank groups by axis and the tiers they cross", add_groups, kFigures,
            "pentamesh groups mesh-8\n"
            "pentamesh groups llama-3-70b-3d --axis tp dp_shard --summary\n"},
    Command{"rank", "one GPU: coordinates, groups, what it holds, whom it talks to", add_rank, kFigures,
            "pentamesh rank mesh-8 5\n"
            "pentamesh rank mesh-8 5 --hosts node[01-02]\n"},
    Command{"tensors", "every tensor: shape, placement by axis, bytes per rank", add_tensors, kFigures,
            "pentamesh tensors llama-3-70b-3d\n"},
    Command{"layer", "one layer step by step, forward and backward", add_layer, kFigures,
            "pentamesh layer llama-3-70b-3d\n"
            "pentamesh layer deepseek-v3-2048 --kind moe --notation dtensor\n"},
    Command{"params", "parameter counts of a model", add_params, kFigures, "pentamesh params llama-3-8b\n"},
    Command{"search", "ranked layouts for a model on a cluster", add_search, kChoice,
            "pentamesh search llama-3-70b-3d --hold tp=8 --vary pp=1..8\n"
            "pentamesh search llama-3-70b-3d --hold \"pp<=8\" --hold \"memory<=70GiB\" --hold \"tp inside "
            "the node\"\n"
            "pentamesh search llama-3-70b-3d --goal memory --within 5%    # least memory near the best time\n"
            "pentamesh search --model llama-3-8b --cluster h100-sxm-ib --gpus 64 --for torchtitan\n",
            search_notes},
    Command{"compare", "plans side by side, and why one is faster", add_compare, kChoice,
            "pentamesh compare llama-3.1-405b-8k llama-3.1-405b-16k\n"
            "pentamesh compare mesh-8 hsdp-64 -o compare.svg\n"},
    Command{"sensitivity", "what each choice and constant is worth", add_sensitivity, kChoice,
            "pentamesh sensitivity mesh-8\n"},
    Command{"scale", "how far a plan scales: over GPUs, batch or sequence, and what sets the limit",
            add_scale, kChoice,
            "pentamesh scale llama-3.1-405b-16k\n"
            "pentamesh scale llama-3-70b-3d --weak --from 64 --to 4096\n"},
    Command{"sweep", "many variants of a plan, a row each", add_sweep, kChoice,
            "pentamesh sweep mesh-8 --vary training.micro_batch=1,2,4 --vary layout.zero=0,1,3\n"
            "pentamesh sweep mesh-8 --vary training.sequence_length=4096,8192 --csv -o sweep.csv\n"},
    Command{"import", "a plan out of a framework's settings", add_import, kFrameworks,
            "pentamesh import train.sh -o train.plan.json\n"
            "pentamesh import ds_config.json --model llama-3-8b --gpus 64 --json\n"},
    Command{"export", "a framework's settings for a plan", add_export, kFrameworks,
            "pentamesh export llama-3-70b-3d --to megatron\n"
            "pentamesh export mesh-8 --to device-mesh -o mesh.py\n"},
    Command{"check", "a folder of recipes, scripts and plans: a line each, exit 1 where one cannot run",
            add_check, kFrameworks,
            "pentamesh check recipes --why\n"
            "pentamesh check recipes --gpus 64 --junit recipes.xml\n"},
    Command{"calibrate", "constants of your cluster out of your own runs", add_calibrate, kRuns,
            "pentamesh calibrate runs.json -o constants.json\n"
            "pentamesh calibrate train.log all_reduce.txt --cluster h100-sxm-ib --save ours\n"},
    Command{"blame", "which groups, links, stages and nodes some ranks share, and who waits", add_blame,
            kRuns,
            "pentamesh blame llama-3-70b-3d 12 76 140\n"
            "pentamesh blame llama-3-70b-3d 0-7 --hosts node[01-32]\n"},
    Command{"hang", "who hangs, and who waits for whom: a folder of flight-recorder dumps", add_hang, kRuns,
            "pentamesh hang dumps\n"
            "pentamesh hang dumps --plan job.plan.json --json\n"},
    Command{"measured", "where a run's time goes, beside its plan: traces, logs, timelines", add_measured,
            kRuns,
            "pentamesh measured rank0.pt.trace.json.gz --plan job.plan.json\n"
            "pentamesh measured train.log --plan job.plan.json\n"
            "pentamesh measured inspector/node0.log --plan job.plan.json --json\n"},
    Command{"screenshot", "a picture of a view, without a display", add_screenshot, kPages,
            "pentamesh screenshot mesh-8 -o mesh.png --view mesh\n"
            "pentamesh screenshot llama-3-8b-fsdp -o zero.png --view memory --page sheds\n"
            "pentamesh screenshot llama-3-70b-3d -o step.svg --view step --theme light --size 1200xauto\n"},
    Command{"review", "pages for a design review: PDF, HTML, or a folder of pictures", add_review, kPages,
            "pentamesh review llama-3-70b-3d -o review.pdf\n"
            "pentamesh review llama-3.1-405b-8k llama-3.1-405b-16k -o review.html\n"},
    Command{"lesson", "a lesson as text or as a page with pictures; what is wrong with one", add_lesson,
            kPages,
            "pentamesh lesson\n"
            "pentamesh lesson 01-two-walls --html -o page.html\n"},
    Command{"mark", "what pupils handed in: a line each, and how each question was answered", add_mark,
            kPages,
            "pentamesh mark handed-in\n"
            "pentamesh mark handed-in --csv -o marks.csv\n"},
    Command{"presets", "models, GPUs, clusters and plans: those that ship, and your own", add_presets,
            kProgram, "pentamesh presets\n"},
    Command{"schema", "JSON Schema of the plan file", add_schema, kProgram, "pentamesh schema plan\n"},
    Command{"serve", "answers requests, a line of JSON each, until its input ends", add_serve, kProgram,
            "echo '{\"id\": 1, \"command\": \"memory\", \"args\": [\"mesh-8\", \"--json\"]}' | pentamesh "
            "serve\n"},
    Command{"bench", "engine and frame benchmarks", add_bench, kProgram,
            "pentamesh bench --quick\npentamesh bench --json\n"},
    Command{"help", "the help of a command", add_help, kProgram, "pentamesh help search\n"},
    Command{"complete", "completions of a shell, the man page, or the ids of presets", add_complete, "", ""},
};

int refuse_help(const Context& /*context*/, const std::vector<std::string>& /*words*/) {
    refuse("help takes one command: pentamesh help search");
}

}  // namespace

// `pentamesh help COMMAND` is answered before commands are looked for (run.cpp).
void add_help(Options& app, Context& context) {
    app.add_option("COMMAND", run_with(app, context, refuse_help), "which command");
}

std::span<const Command> commands() {
    return kCommands;
}

}  // namespace pentamesh::cli
