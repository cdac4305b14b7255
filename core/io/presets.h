// Holds models, GPUs, clusters and plans that ship, and the user's own in addition, read on demand and kept.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class PresetKind { gpu, cluster, model, plan };

class Presets {
  public:
    // `root` holds gpus/ clusters/ models/ plans/, each ID.json (plans: ID.plan.json).
    // `own` holds the user's gpus/ clusters/ models/; it may be empty or missing. A shipped preset cannot be
    // replaced from there: an own file with its id is listed as broken, and not used.
    explicit Presets(std::filesystem::path root, std::filesystem::path own = {});
    ~Presets();
    Presets(Presets&&) noexcept;
    Presets& operator=(Presets&&) noexcept;

    struct Entry {
        std::string id, name, source;
        std::string efficiency_source{};  // of a GPU that says apart where its efficiency comes from
        std::string broken{};             // why its file cannot be used; empty: it can
        bool own = false;                 // the user's
        std::filesystem::path file{};     // the file that holds it
    };
    // Returns a list sorted by id. It stays as it is after reread(), which makes a new one.
    [[nodiscard]] const std::vector<Entry>& list(PresetKind kind) const;
    // Throws Error naming the closest id where the id is unknown.
    [[nodiscard]] Gpu gpu(std::string_view id) const;
    [[nodiscard]] Cluster cluster(std::string_view id) const;
    [[nodiscard]] Model model(std::string_view id) const;
    [[nodiscard]] Plan plan(std::string_view id) const;
    [[nodiscard]] bool has(PresetKind kind, std::string_view id) const;
    [[nodiscard]] bool has_own(PresetKind kind, std::string_view id) const;
    [[nodiscard]] const std::filesystem::path& root() const;
    [[nodiscard]] const std::filesystem::path& own_root() const;  // empty: nothing can be kept
    // Says that files have changed: they are read again when they are asked for.
    void reread() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Finds the presets and assets: in the program's installation prefix, or in the source tree that the file
// pentamesh-source.txt next to it names. Returns where an installed tree has them if they are nowhere.
[[nodiscard]] std::filesystem::path find_data_folder(const std::filesystem::path& executable,
                                                     std::string_view name);

// Keeps presets of one's own: a model, a GPU or a cluster of a plan, in the user's folder under a name.

// Returns "ours-38b" for "Ours 38B": a file's name and the command line's word. It has letters and digits of
// ASCII, '.', '_', '-'.
[[nodiscard]] std::string preset_id_of(std::string_view name);
// Returns why no own preset can have this name; "" where one can. It may be there already (Presets::has_own).
[[nodiscard]] std::string refused_preset_name(const Presets& presets, PresetKind kind, std::string_view name);
[[nodiscard]] std::filesystem::path own_preset_file(const Presets& presets, PresetKind kind,
                                                    std::string_view id);

// Writes the plan's model, GPU or cluster as a preset with this name, in place of an own one with the same
// id. Returns the plan over that preset, otherwise the same. Throws Error of kind usage for a name that is
// refused, io where the file cannot be written.
[[nodiscard]] Plan save_own_preset(const Presets& presets, PresetKind kind, const std::string& name,
                                   const Plan& plan);
// Deletes the file of an entry of Presets::list that is own. Throws Error of kind io.
void remove_own_preset(const Presets& presets, const Presets::Entry& entry);

// Returns the plan with the values of its own presets written out: it means the same where only the shipped
// presets are.
[[nodiscard]] Plan without_own_presets(const Plan& plan, const Presets& presets);
// Returns `after` as it came from `before` by an edit, without words that no longer hold: with_true_title,
// and without the notes of a shipped plan where its title goes, or where they name what changed. Notes that
// the user wrote stay.
[[nodiscard]] Plan with_true_words(const Plan& before, Plan after, const Presets& presets);
// Returns, after own presets changed or went, the plan as it was if its text still means it, else without
// them.
[[nodiscard]] Plan with_same_meaning(const Plan& plan, const Presets& presets);

}  // namespace pentamesh
