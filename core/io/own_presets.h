// Keeps presets of one's own: a model, a GPU or a cluster of a plan, in the user's folder under a name.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace pentamesh {

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
// Returns, after own presets changed or went, the plan as it was if its text still means it, else without
// them.
[[nodiscard]] Plan with_same_meaning(const Plan& plan, const Presets& presets);

}  // namespace pentamesh
