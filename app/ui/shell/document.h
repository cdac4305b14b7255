// The open plan, its file and its history. Undo is a stack of plans; each knows the file that it belongs to,
// so that opening another plan is a step of undo like any edit.
#pragma once

#include "core/plan/plan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// A plan that takes the open one's place.
struct OpenedPlan {
    Plan plan;
    std::filesystem::path path{};  // the plan file that it is; empty: it has none until it is saved
    bool kept = true;              // it can be had again from where it came; false: it counts as modified
};

// A plan that would be lost if the window went away now.
struct UnsavedPlan {
    std::uint64_t file = 0;  // stays the same while the plan is edited
    std::filesystem::path path;
    std::shared_ptr<const Plan> plan;
};

class Document {
  public:
    explicit Document(Plan plan);

    [[nodiscard]] const Plan& plan() const { return *now_.plan; }
    [[nodiscard]] const std::filesystem::path& path() const { return now_.file->path; }  // empty: never saved
    [[nodiscard]] bool modified() const { return now_.modified(); }
    // Tells opened plans apart: an edit keeps it, opening another plan and undoing that do not.
    [[nodiscard]] std::uint64_t file() const { return now_.file->id; }
    // Grows with every change of the plan. Code that keeps something made from the plan compares this.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    // Makes an edit. Edits in a row with the same `merge_key`, if not empty, are one step of undo (a drag).
    void edit(Plan plan, std::string what, std::string merge_key = {});
    // Returns true if an edit with that key belongs to the last step.
    [[nodiscard]] bool merges(std::string_view merge_key) const;
    // Opens another plan, with its own path and saved state. Undo brings the old one back with its own.
    void replace(OpenedPlan opened, std::string what);
    // Does the same without a step of undo: only for a plan without edits.
    void replace_unmodified(OpenedPlan opened);
    // Opens the nearest state of that file (UnsavedPlan) again, as a step of undo. Returns false if the file
    // has no state.
    bool bring_back(std::uint64_t file, std::string what);
    // Keeps a plan that was looked at and changed, without a question: redo shows it, and undo then shows
    // this one.
    void looked_at(Plan plan, std::string what);
    bool undo();
    bool redo();
    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }
    // Null: nothing can be undone.
    [[nodiscard]] const Plan* before_last_edit() const {
        return undo_.empty() ? nullptr : undo_.back().state.plan.get();
    }
    [[nodiscard]] std::string undo_text() const { return undo_.empty() ? "" : undo_.back().what; }
    // Replaces each state of the history by what `change` makes of it: what a plan says means something else
    // from now on. What was saved stays what the file holds, so that a state that is changed counts as
    // modified.
    void rewrite(const std::function<Plan(const Plan&)>& change);
    // A drag has ended: the next edit with the same key is a step of its own.
    void end_merge() { merge_key_.clear(); }

    // A copy that was set aside comes back: its revision gets larger than all that were seen meanwhile.
    void continue_after(std::uint64_t revision) {
        revision_ = (revision_ > revision ? revision_ : revision) + 1;
    }

    // Returns true if another program wrote the plan's file since it was read or saved here.
    [[nodiscard]] bool changed_elsewhere() const;
    // Notes that this file holds the plan as it stands.
    void belongs_to(const std::filesystem::path& path);
    // Writes the canonical text with the scene to a new file, then renames it. Throws an error of kind io
    // and leaves the old file as it was. A scene is no change of the plan: modified() does not look at it.
    void save_as(const std::filesystem::path& path, const SavedScene& scene);

    // Returns the open plan, if modified, and each plan that was replaced while modified; the newest first.
    [[nodiscard]] std::vector<UnsavedPlan> unsaved() const;
    // Returns the bytes that the history keeps.
    [[nodiscard]] std::size_t history_bytes() const;

  private:
    // Tells one writing of a file from the next. A file that is not there has none.
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t bytes = 0;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stamp_of(const std::filesystem::path& path);
    // Describes one plan file. All states of the plan that belong to it share this.
    struct File {
        std::uint64_t id = 0;
        std::filesystem::path path;
        std::shared_ptr<const Plan> saved;  // as it is kept elsewhere; null: nowhere
        Stamp stamp{};                      // when it was read or saved here
    };
    struct State {
        std::shared_ptr<const Plan> plan;
        std::shared_ptr<File> file;
        [[nodiscard]] bool modified() const;
    };
    struct Step {
        State state;
        std::string what;
    };
    std::uint64_t files_ = 0;  // made so far; before now_, which is the first
    State now_;
    std::vector<Step> undo_, redo_;
    std::string merge_key_;
    std::uint64_t revision_ = 1;

    [[nodiscard]] State state_of(OpenedPlan opened);
    void push_undo(std::string what);
    // Takes the last step of one history and puts what it replaces on the other. False: `from` has no step.
    bool exchange(std::vector<Step>& from, std::vector<Step>& to);
};

}  // namespace pentamesh::ui
