// Writes a plan as a framework's own settings. Fields that the framework cannot express, and those that it
// would refuse, are named; nothing is dropped in silence. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/script/settings.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pentamesh::interop {

// Names a field of the plan that the text does not express.
struct Unsaid {
    std::string pointer;  // "/layout/zero"
    std::string why;      // "zero 1: torchtitan shards parameters too"
};

struct Export {
    std::string text;
    std::vector<Unsaid> lost;          // bears on the layout: the text is another run's
    std::vector<std::string> refused;  // by the framework itself: "Megatron refuses ..."
    std::vector<std::string> notes;    // said elsewhere, or no setting of this file
};

// The plan must be valid. The text is complete even with losses; its head names the fields that it does not
// express, where its format has comments or the framework passes over a key. Throws Error (usage) where no
// tool of that name is written (tools.h).
[[nodiscard]] Export export_plan(const Plan& plan, std::string_view tool, const Presets& presets);

// The exporters share this: settings in order, losses on the way, and the spelling of values.

struct Verbatim {  // written as it stands in Python: torch.bfloat16
    std::string text;
};
using Parts = std::vector<std::vector<std::string>>;
using Value = std::variant<std::int64_t, double, bool, std::string, Verbatim, std::vector<std::int64_t>,
                           std::vector<std::string>, Parts>;

struct WrittenSetting {
    std::string name;  // dotted path, or a flag with its dashes
    Value value;
};

class ExportDraft {
  public:
    ExportDraft(const Plan& p, const Tool& t, const Presets& s) : plan(p), tool(t), presets(s) {}

    [[nodiscard]] bool is(std::string_view name) const { return tool.name == name; }
    // Takes the framework's spelling of the field. A field without a spelling is a fault of this program.
    void put(std::string_view pointer, Value value);
    void say(std::string name, Value value) { settings.push_back({std::move(name), std::move(value)}); }
    // Says a setting that Megatron-LM and Bridge share: "--a-b" of the one, "section.a_b" of the other.
    void say_as(const char* section, std::string name, Value value);
    template <typename... Parts>
    void lose(std::string pointer, const Parts&... why) {
        out.lost.push_back({std::move(pointer), plain(why...)});
    }
    template <typename... Parts>
    void note(const Parts&... what) {
        out.notes.push_back(plain(what...));
    }
    template <typename... Parts>
    void refuse(const Parts&... what) {
        out.refused.push_back(plain(what...));
    }

    const Plan& plan;
    const Tool& tool;
    const Presets& presets;
    std::vector<WrittenSetting> settings;
    Export out;
};

// ---- what the plan comes to ----------------------------------------------------------------------------

[[nodiscard]] std::int64_t replicas(const Plan& plan);       // dp_replicate in force
[[nodiscard]] std::int64_t data_ranks(const Plan& plan);     // dp_shard * dp_replicate
[[nodiscard]] std::int64_t gpus_per_host(const Plan& plan);  // those that one launcher starts
// chunk_layers returns the layers of each chunk in model order; is_even returns true if all hold the same.
[[nodiscard]] std::vector<std::int64_t> chunk_layers(const Plan& plan);
[[nodiscard]] bool is_even(const std::vector<std::int64_t>& layers);
// Returns the model's repository on the Hugging Face hub, by the preset's source; the model's name where no
// repository is known.
[[nodiscard]] std::string hub_name(const ExportDraft& draft);
[[nodiscard]] std::string number_text(std::int64_t n);

// Adds the framework's refusals, by the warnings of its rules (core/rules).
void refuse_by_rules(ExportDraft& draft, Rule rule, Software software);

// Adds the parts of the plan's layout that the software does not run (software_runs.h): lost, or refused
// where a setting would say it. It leaves out those of `refuse_by_rules`.
void lose_lacks(ExportDraft& draft, Software software);
// Several frameworks share these losses; each function adds to the draft where the plan has something that
// the framework lacks.
void lose_order(ExportDraft& draft, const AxisOrder& order, const char* theirs);
// These are weight_shards, mtp_chunk, microbatch_group; ep_comm unless it is written.
void lose_finer_choices(ExportDraft& draft, bool says_ep_comm = false);
// Notes that the framework reduces gradients at other times than the plan says. `theirs` says when it does.
void lose_reduction(ExportDraft& draft, GradientReduction theirs);
// Returns when that software reduces, with the plan's layout.
[[nodiscard]] GradientReduction usual_reduction(const Plan& plan, Software software);
void lose_schedule(ExportDraft& draft, std::string_view who);  // of who is in no table
void lose_dropout(ExportDraft& draft, std::string_view who);
// `selective`: it recomputes parts of every layer too, by a policy without settings.
void lose_recompute(ExportDraft& draft, std::string_view who, bool selective);
// Notes imbalance, stragglers and overlap; where no setting says the optimizer, that too. In which types the
// text keeps states is noted by export_plan.
void note_training(ExportDraft& draft, bool optimizer);

// ---- text ----------------------------------------------------------------------------------------------

// Returns lines of the head, without any mark of a comment.
[[nodiscard]] std::vector<std::string> head_lines(const ExportDraft& draft);
[[nodiscard]] std::string as_comment(const std::vector<std::string>& lines);  // "# ..."
[[nodiscard]] std::string python_text(const Value& value);
[[nodiscard]] std::string shell_word(std::string_view word);
// Returns "  --flag value" a line, for each setting.
[[nodiscard]] std::string flags_text(const std::vector<WrittenSetting>& settings);
[[nodiscard]] std::string yaml_text(const std::vector<WrittenSetting>& settings);
// Returns an object by the dotted names, "_comment" first.
[[nodiscard]] std::string json_text(const std::vector<WrittenSetting>& settings,
                                    const std::vector<std::string>& head);

// ---- one file each -------------------------------------------------------------------------------------

void export_megatron(ExportDraft& draft);
void export_bridge(ExportDraft& draft);
void export_torchtitan(ExportDraft& draft);
void export_deepspeed(ExportDraft& draft);
void export_accelerate(ExportDraft& draft);
void export_nanotron(ExportDraft& draft);
void export_picotron(ExportDraft& draft);
void export_maxtext(ExportDraft& draft);
void export_hf(ExportDraft& draft);
void export_device_mesh(ExportDraft& draft);

void fill_megatron_model(ExportDraft& draft);
void fill_megatron_training(ExportDraft& draft);

}  // namespace pentamesh::interop
