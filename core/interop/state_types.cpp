#include "core/interop/state_types.h"

#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>

namespace pentamesh::interop {
namespace {

std::string small_letters(std::string_view text) {
    std::string out;
    for (const char c : text) out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    return out;
}

// Returns the row of the optimizer, the first one of which a word stands in its name; null: none does.
const nlohmann::ordered_json* optimizer_row(std::string_view name) {
    const std::string all = small_letters(name);
    for (const auto& row : words("optimizers"))
        for (const auto& word : row["words"])
            if (all.find(word_of(word)) != std::string::npos) return &row;
    return nullptr;
}

// Returns the type that a setting says; empty where it says none or "auto". Another word is refused.
std::string type_said(SettingsSheet& s, std::string_view key, std::string_view path) {
    const auto word = s.text(key, path);
    if (!word || *word == "auto") return "";
    std::string name = dtype_name(*word);
    if (name.empty()) s.not_allowed(key, "a type: float32, bfloat16 or float16");
    return name;
}

std::string state_type(std::string_view word, const std::string& stored) {
    return word == "stored" ? stored : std::string(word);
}

class States {
  public:
    States(SettingsSheet& sheet, PlanDraft& draft, const StateSettings& settings)
        : s_(sheet), d_(draft), t_(draft.training), k_(settings) {}

    void read() {
        optimizer();
        const bool engine = s_.flag(k_.engine, "/training/master_weights").value_or(false);
        std::string stored = type_said(s_, k_.stored, "/training/parameters");
        const std::string usual = type_said(s_, k_.usual, "/training/parameters");
        if (stored.empty()) stored = usual;
        if (s_.flag(k_.upcast, "/training/parameters").value_or(false)) stored = "fp32";
        if (engine)
            of_engine();
        else if (!stored.empty())
            as_stored(stored);
    }

  private:
    void optimizer() {
        const auto name = s_.text(k_.optimizer, "/training/optimizer");
        if (!name) return;
        row_ = optimizer_row(*name);
        d_.optimizer_called = *name;
        const bool held = row_ && row_->contains("optimizer");
        if (held) t_.emplace("optimizer", std::string(word_of((*row_)["optimizer"])));
        if (row_ && row_->contains("why"))
            s_.cannot_hold(k_.optimizer, word_of((*row_)["why"]));
        else if (!held)
            s_.cannot_hold(k_.optimizer, "the plan has AdamW, Muon and SGD");
    }

    // The engine computes with 16 bits and updates a copy in fp32, whose moments are in fp32 too
    // (DeepSpeed, runtime/zero/stage_1_and_2.py: single_partition_of_fp32_groups); it accumulates gradients
    // in the type of the parameters unless the text says another (runtime/engine.py, get_data_types).
    void of_engine() {
        const auto said = t_.find("compute");
        const std::string compute =
            said != t_.end() && said->is_string() ? said->get<std::string>() : std::string("bf16");
        const std::string type = compute == "fp16" || compute == "fp32" ? compute : "bf16";
        t_.emplace("parameters", type);
        const std::string gradients = type_said(s_, k_.gradients, "/training/gradients");
        t_.emplace("gradients", gradients.empty() ? type : gradients);
        const bool copy_said = !t_.emplace("master_weights", type == "fp32" ? "none" : "fp32").second;
        t_.emplace("optimizer_state", "fp32");
        d_.optimizer_called = copy_said ? "" : "the engine";
        d_.states_read = true;
    }

    void as_stored(const std::string& stored) {
        t_.emplace("parameters", stored);
        const std::string gradients = type_said(s_, k_.gradients, "/training/gradients");
        t_.emplace("gradients", gradients.empty() ? stored : gradients);
        std::string moments = row_ ? row_->value("moments", "stored") : "stored";
        const std::string first = type_said(s_, k_.first_moment, "/training/optimizer_state"),
                          second = type_said(s_, k_.second_moment, "/training/optimizer_state");
        const std::string usual_moment = state_type(moments, stored);
        if (!first.empty()) moments = first;
        if (!second.empty() && second != state_type(moments, stored))
            s_.cannot_hold(k_.second_moment, "the plan has one type for both moments");
        else if (!first.empty() && second.empty() && first != usual_moment)
            s_.cannot_hold(k_.first_moment, "the second moment, which the text does not say, is in "
                                                + usual_moment + ": the plan has one type for both");
        t_.emplace("optimizer_state", state_type(moments, stored));
        const bool usual = row_ && row_->value("master", "none") != "none";
        const bool copy = s_.flag(k_.master, "/training/master_weights").value_or(usual);
        const std::string type = type_said(s_, k_.master_type, "/training/master_weights");
        t_.emplace("master_weights", !copy || stored == "fp32" ? "none" : type == "bf16" ? "bf16" : "fp32");
        if (copy && type == "fp16")
            s_.cannot_hold(k_.master_type, "the plan's master copy is in bf16 or fp32");
        else if (copy && type == "bf16" && stored == "bf16")
            s_.cannot_hold(k_.master_type, "a master copy of 16 bits beside weights of 16 bits: the plan has "
                                           "none, 2 bytes a parameter less");
        d_.states_read = true;
    }

    SettingsSheet& s_;
    PlanDraft& d_;
    nlohmann::json& t_;
    const StateSettings& k_;
    const nlohmann::ordered_json* row_ = nullptr;
};

}  // namespace

std::string dtype_name(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    return words("dtypes").value(std::string(text.substr(dot + 1)), "");
}

void read_state_types(SettingsSheet& sheet, PlanDraft& draft, const StateSettings& settings) {
    States(sheet, draft, settings).read();
}

}  // namespace pentamesh::interop
