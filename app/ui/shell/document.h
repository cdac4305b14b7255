// The open plan: its file, its history, whether it was saved. Undo is a stack of plans.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

class Document {
  public:
    explicit Document(Plan plan) : plan_(std::move(plan)), saved_(plan_) {}

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // empty: never saved
    [[nodiscard]] bool modified() const { return !(plan_ == saved_); }
    // Grows with every change of the plan: whoever keeps something made from it compares this.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    // An edit. `merge_key` non-empty: edits in a row with the same key are one step of undo (a drag).
    void edit(Plan plan, std::string what, std::string merge_key = {});
    bool undo();
    bool redo();
    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }
    [[nodiscard]] std::string undo_text() const { return undo_.empty() ? "" : undo_.back().what; }
    [[nodiscard]] std::string redo_text() const { return redo_.empty() ? "" : redo_.back().what; }
    // A drag has ended: the next edit with the same key is a step of its own.
    void end_merge() { merge_key_.clear(); }

    // A copy that was set aside comes back: its revision is told apart from all that were seen meanwhile.
    void come_after(std::uint64_t revision) { revision_ = (revision_ > revision ? revision_ : revision) + 1; }

    // Replaces everything; the history starts anew.
    void open(Plan plan, std::filesystem::path path);
    // A plan that is not on disk as it stands (a recovered one, a paste): counts as modified.
    void open_unsaved(Plan plan, std::filesystem::path path);
    // Writes the canonical text, new file then rename. Error of kind io; the old file stays as it was.
    void save_as(const std::filesystem::path& path);

  private:
    struct Step {
        Plan plan;
        std::string what;
    };
    Plan plan_, saved_;
    std::filesystem::path path_;
    std::vector<Step> undo_, redo_;
    std::string merge_key_;
    std::uint64_t revision_ = 1;

    // Takes the last step of one history and puts what it replaces on the other. False: there is none.
    bool exchange(std::vector<Step>& from, std::vector<Step>& to);
};

}  // namespace pentamesh::ui
