// Commands read and write by these functions, so that `serve` can give each request streams of its own.
#pragma once

#include "app/cli/commands.h"
#include "app/tables/table.h"
#include "app/ui/review/review.h"
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/interop/import.h"
#include "core/interop/settings_sheet.h"
#include "core/io/plan_json.h"
#include "core/mesh/places.h"
#include "core/runs/measured.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::cli {

// Each list of presets, as `presets` and the resources of `mcp` call it.
inline constexpr std::array<std::pair<const char*, PresetKind>, 4> kPresetLists{
    {{"models", PresetKind::model},
     {"gpus", PresetKind::gpu},
     {"clusters", PresetKind::cluster},
     {"plans", PresetKind::plan}}};

// Returns the text of a file, or of standard input for "-".
[[nodiscard]] std::string read_input(const std::string& name);
// Writes a text to standard output: what a terminal would obey is named. Returns false if the reader closed
// the pipe: it has all it wanted, and more of the text need not come.
bool print(const std::string& text);
// Does the same with a JSON text, whose values stay.
bool print_json(const std::string& json);
// Writes a line to standard error as `print` does.
void say_error(const std::string& line);
// Writes to a file, or to standard output for "" and "-". A file that was read is refused.
void print_to(const std::string& file, const std::string& text);

// Writes a file that the command line names; one that was read is refused.
void write_output(const std::filesystem::path& file, const std::string& text);
// Notes that a file was read, as read_input does; another command line has read none.
void note_input(const std::string& name);
void forget_inputs();
// Throws Error (usage) where the file is one that was read: nobody means to lose it.
void refuse_input(const std::filesystem::path& file);

// Returns true while a request of `serve` is answered.
[[nodiscard]] bool has_own_streams();
// Returns the letters of a line of the terminal that is written to; 0 where it is a file or a pipe.
[[nodiscard]] std::size_t output_width();

// Keeps what is printed, while it lives.
class KeptOutput {
  public:
    KeptOutput();
    ~KeptOutput();
    KeptOutput(const KeptOutput&) = delete;
    KeptOutput& operator=(const KeptOutput&) = delete;
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    std::string* before_;
};

// Puts a text in the place of standard input, and keeps what goes to standard error and output.
class OwnStreams {
  public:
    explicit OwnStreams(const std::string& input);
    ~OwnStreams();
    OwnStreams(const OwnStreams&) = delete;
    OwnStreams& operator=(const OwnStreams&) = delete;
    [[nodiscard]] const std::string& output() const;
    [[nodiscard]] std::string messages() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A report is data: sections of sentences and a table, written as text, Markdown or HTML.

struct Section {
    std::string title;
    std::vector<std::string> lines;  // a paragraph each
    Table table;
    std::string svg{};                         // a picture above the table, only in HTML
    std::optional<ui::ReportFigure> figure{};  // the figure that the picture shows; empty: no picture
};

struct Document {
    std::string title;
    std::vector<Section> sections;
};

// Figures of the tables are written as people read them. Tables wider than `width` letters wrap their words;
// 0: no limit.
[[nodiscard]] std::string to_text(const Document& document, std::size_t width = 0);
[[nodiscard]] std::string to_markdown(const Document& document);
// Returns one file that needs no other, light or dark as the reader's system is.
[[nodiscard]] std::string to_html(const Document& document);

// Other programs read this JSON: its keys are stable, bytes are integers, seconds are floating point.

using Json = nlohmann::ordered_json;

// Returns a whole number as an integer, for any type that it was counted in.
[[nodiscard]] Json whole(double x);

[[nodiscard]] Json json_of_import_problems(const std::vector<interop::ImportProblem>& problems);
// Describes a plan that could not be read: it is invalid, with the one problem that stopped it.
[[nodiscard]] Json json_of_error(const Error& error);
// The groups come without their ranks.
[[nodiscard]] Json json_of_groups(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds);
// Sets "fits" and "may_fit"; both are null where there are no memory figures.
[[nodiscard]] std::string verdict_of_fit(MemoryFit fit);  // "may_not_fit"
void put_fit(Json& out, std::optional<MemoryFit> fit);
[[nodiscard]] Json json_of_memory(const Plan&, const Evaluation& e);
[[nodiscard]] Json json_of_comm(const Plan& plan, const Evaluation& e);
[[nodiscard]] Json json_of_timeline(const Timeline& timeline, bool ops);
[[nodiscard]] Json json_of_step(const Evaluation& e);
// Says who waits when the first node is lost: null where no group has two ranks.
[[nodiscard]] Json json_of_failure(const Plan& plan, const Evaluation& e);
// Returns what the whole training takes: null where the plan gives no part of it.
[[nodiscard]] Json json_of_cost(const Plan& plan, const Evaluation& e);
[[nodiscard]] Json json_of_parameters(const std::string& name, const ParameterCounts& counts);
// Puts null in the place of each number and flag of an impossible plan, so that a zero is not taken for a
// figure.
void void_figures(Json& out);
// Adds "valid" and "problems".
void add_validity(Json& out, const Evaluation& e);
// Does the same and writes it to standard output.
void print_json(Json out, const Evaluation& e);
// Returns an enumerator's name as a key.
template <typename E>
[[nodiscard]] std::string key_of(E e) {
    return std::string(name_of(e));
}
// Returns the axes of the expert mesh by their own names: those that `value` has something for.
template <typename F>
[[nodiscard]] Json json_of_expert_axes(F&& value) {
    static constexpr std::pair<Axis, const char*> kNames[] = {{Axis::tp, "etp"},
                                                              {Axis::ep, "ep"},
                                                              {Axis::pp, "pp"},
                                                              {Axis::dp_shard, "edp_shard"},
                                                              {Axis::dp_replicate, "edp_replicate"}};
    Json out = Json::object();
    for (const auto& [axis, name] : kNames)
        if (const std::optional<std::int64_t> v = value(axis)) out[name] = *v;
    return out;
}

// Most commands take PLAN and --set; this file reads them and says why a plan is invalid.

struct PlanArgument {
    std::string name;  // a plan file, a plan preset's id, a plan's JSON, or "-"
    std::vector<std::string> sets;
    std::string constants{};  // a file that `calibrate` wrote; empty: the plan's own constants
};
void add_plan_argument(Options& app, PlanArgument& argument);
// Declares what goes with a plan wherever a command takes one: --set and --constants.
void add_plan_options(Options& app, PlanArgument& argument);
void add_sets(Options& app, std::vector<std::string>& sets);
// Declares --set-b, which changes a second plan; `more` says which that is.
void add_sets_of_second(Options& app, std::vector<std::string>& sets, const std::string& more);

// --json sets the form of the output, and of errors too.
void add_json_flag(Options& app, Context& context);

[[nodiscard]] Plan load_plan(const Context& context, const PlanArgument& argument);
struct LoadedPlan {
    Plan plan;                     // with --set
    std::optional<Plan> before;    // without; nullopt: nothing is set, or --set mends what could not be read
    std::vector<Edit> followed{};  // of --set, as data parallelism that takes the rest (follow.h)
    bool names_software = false;   // its text has training.software, or --set sets it
};
[[nodiscard]] LoadedPlan load_plan_and_sets(const Context& context, const PlanArgument& argument);
// Throws an error about one of these settings as it was asked for: as --set-b, not as --set.
[[noreturn]] void throw_as_set_b(const Error& error, const std::vector<std::string>& sets);
// Puts into `out`, an object, what followed from --set: "followed": {"/layout/dp_shard": 16}. Where nothing
// did, there is no such key.
void put_followed(const std::vector<Edit>& followed, Json& out);
// Returns the file that the argument names; empty for a preset or standard input.
[[nodiscard]] std::filesystem::path file_of(const Context& context, const PlanArgument& argument);

// --lessons names a folder of one's own lessons.
void add_lessons(Options& app, std::string& folder);
// Returns it, or the one of PENTAMESH_LESSONS; empty where neither is set. Throws Error (io) where it is no
// folder.
[[nodiscard]] std::filesystem::path own_lessons_folder(const std::string& named);

// --hosts names the job's hosts: a node list of SLURM or a file that has one.
void add_hosts(Options& app, std::string& hosts);
// Returns the hosts, empty where no host is named. Throws Error where they do not fit the plan.
[[nodiscard]] Hosts load_hosts(const std::string& hosts, const Plan& plan, const Mesh& mesh);
// Does the same for so many ranks, of which `node` share a node; `world` of them where that is not known.
[[nodiscard]] Hosts load_hosts(const std::string& hosts, std::int64_t world, std::int64_t node);

// Returns why a plan is invalid, a line an error; nothing for one that can be laid out.
[[nodiscard]] std::vector<std::string> errors_of(const Evaluation& evaluation);
// Writes these lines to standard error; returns the exit status for that.
[[nodiscard]] int status_of(const Evaluation& evaluation);

// Ends a command as a usage error that says `why`.
[[noreturn]] void refuse(const std::string& why);

// Reads the files that a run left behind, for the commands that compare it with its plan.
// `plan` may be nullptr, `hosts` be empty. Throws Error for a file of another kind.
[[nodiscard]] runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                                           const Plan* plan, const std::string& hosts = {});

// Commands write what they found in the same forms: text, JSON, CSV, Markdown, to standard output or a file.

// Holds which form is asked for, other than text and JSON.
struct Forms {
    bool csv = false, markdown = false, html = false;
};
// --json, --csv, --markdown: one of them at most; and -o (commands.cpp writes that file).
void add_forms(Options& app, Context& context, Forms& forms);
// The same without -o.
void add_form_flags(Options& app, Context& context, Forms& forms);
void add_output_file(Options& app, Context& context);
// Returns true for a file that shall be a picture: no text has its ending.
[[nodiscard]] bool is_picture(const std::string& file);

// Writes a document as text, as wide as the terminal, as Markdown or as HTML.
void print_document(const Forms& forms, const Document& document);
void print_csv(const Table& table);
// Returns a row for each figure: its place in the JSON, and its value.
[[nodiscard]] Table figures_table(const Json& json);

// A command answers with this. It leaves out a form that takes long and is not asked for.
// NOLINTNEXTLINE(bugprone-exception-escape): to move a Json throws nothing, which clang-tidy does not see
struct Answer {
    Json json{};
    Table csv{};  // without columns: nothing is written
    Document document{};
    std::vector<std::string> errors{};  // a line each, said after the answer
};
// Writes the form that is asked for, then the errors. Returns the exit status: 1 where there are errors.
[[nodiscard]] int print_answer(const Context& context, const Forms& forms, const Answer& answer);
// Returns an answer about a plan with the plan's problems, and without figures where it is impossible.
[[nodiscard]] Answer with_problems(const Evaluation& e, Answer answer);

// Every command on a plan has these options; `More` are its own.
struct NoMore {};
template <typename More = NoMore>
struct OnPlan : More {
    PlanArgument plan;
    Forms forms;
};
// Declares PLAN and --set of a command that `answer` answers. The caller declares its own options, then the
// forms.
template <typename More>
OnPlan<More>& answer_with(Options& app, Context& context,
                          Answer (*answer)(const Context&, const Plan&, const OnPlan<More>&)) {
    auto& options = run_with<OnPlan<More>>(app, context, [answer](const Context& c, const OnPlan<More>& o) {
        const LoadedPlan loaded = load_plan_and_sets(c, o.plan);
        Answer out = answer(c, loaded.plan, o);
        put_followed(loaded.followed, out.json);
        return print_answer(c, o.forms, out);
    });
    add_plan_argument(app, options.plan);
    return options;
}

// Says on standard error how far something is, where that is a terminal and it takes more than half a second.
// The line is gone in the end.
class Progress {
  public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    [[nodiscard]] bool shown() const { return shown_; }
    // Calls for words only when it is time for them. Several threads may call it, one at a time.
    template <typename Words>
    void at(const Words& words) {
        if (shown_ && due()) say(words());
    }

  private:
    bool due();
    void say(const std::string& words);
    bool shown_, said_ = false;
    double next_s_ = 0;
};

// These are the parts of a report: each answers one of the program's questions.

[[nodiscard]] Section problems_section(const Evaluation& e);
[[nodiscard]] Section parameters_section(const ParameterCounts& counts);
[[nodiscard]] Section groups_section(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds);
[[nodiscard]] Section memory_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section comm_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section timeline_section(const Evaluation& e);
// Gives formula, numbers and source of the fullest stage's memory, each operation and each part of the step.
[[nodiscard]] Section explanations_section(const Plan& plan, const Evaluation& e);
[[nodiscard]] Section step_section(const Evaluation& e);
// Says what the whole training takes; it has no lines where the plan gives no part of it.
[[nodiscard]] Section cost_section(const Plan& plan, const Evaluation& e);

// ---- what an import is asked: the text, what its user says of the job, and the files that it names --------

// Holds what a text of settings may leave to its user.
struct JobArguments {
    std::string model, cluster;
    std::int64_t gpus = 0;
    std::vector<std::string> variables;  // "TP=4"
};

// Returns a request without a text. Throws Error (usage) where a variable is no NAME=VALUE.
[[nodiscard]] interop::ImportRequest request_of(const Context& context, const JobArguments& job);
// Gives it a text. Other files are looked for in the folder of `file` and in those around it, as Python looks
// for a package; standard input ("-") has none.
void put_file(interop::ImportRequest& request, const std::string& file, const std::string& text);

}  // namespace pentamesh::cli
