// Notes what the numbers of a selection mean, and finds those that mean the same in another plan. A call, a
// block or a tensor is selected by its place in a list; an edit may make another list.
#pragma once

#include "app/ui/scene/scene.h"

#include <optional>
#include <string>

namespace pentamesh::ui {

// A plan became impossible: what was selected before, and what of it that plan could keep.
struct LostSelection {
    Selection whole, left;
};

class SelectedThings {
  public:
    // Looks up what is selected in the plan that is shown; does nothing while that stands.
    void note(const Plan& plan, const Evaluation& evaluation, const Selection& selection);
    // Sets the numbers of `selection` to those of the same things in another plan, -1 where it has none. A
    // number that was not noted stays if the new list is that long.
    void find(const Plan& plan, const Evaluation& evaluation, Selection& selection) const;

  private:
    struct Call {
        GroupKind group = GroupKind::tp;
        Phase phase = Phase::forward;
        bool recomputed = false;
        What what = What::none;
        bool operator==(const Call&) const = default;
    };
    struct Block {
        std::ptrdiff_t device = 0;
        Op op;
    };
    static Call call_of(const Operation& o);

    int operation_ = -1, tensor_ = -1, activation_ = -1;
    std::ptrdiff_t op_ = -1;
    Call call_;
    Block block_;
    std::string tensor_name_;
};

}  // namespace pentamesh::ui
