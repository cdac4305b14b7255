#include "app/ui/shell/selected_things.h"

#include "core/sharding/sharding.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

// Returns the device whose order has the op of that number.
std::ptrdiff_t device_of(const Order& order, std::ptrdiff_t op) {
    const auto above = std::upper_bound(order.begin.begin(), order.begin.end(), static_cast<std::size_t>(op));
    return above - order.begin.begin() - 1;
}

std::vector<Placement> tensors_of(const Plan& plan, const Evaluation& e, bool activations) {
    if (e.mesh.world <= 0) return {};
    return activations ? list_placements(plan, e.mesh, TensorState::activations, Moment::computing)
                       : list_placements(plan, e.mesh, TensorState::parameters, Moment::at_rest);
}

std::string name_at(const std::vector<Placement>& all, int index) {
    const auto i = static_cast<std::size_t>(index);
    return index >= 0 && i < all.size() ? std::string(name_of(all[i].id)) : std::string();
}

int place_of_name(const std::vector<Placement>& all, const std::string& name) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Placement& p) { return name_of(p.id) == name; });
    return same == all.end() ? -1 : static_cast<int>(same - all.begin());
}

}  // namespace

SelectedThings::Call SelectedThings::call_of(const Operation& o) {
    return {o.group, o.phase, o.recomputed, o.what};
}

void SelectedThings::note(const Plan& plan, const Evaluation& e, const Selection& s) {
    const auto& calls = e.comm.operations;
    if (s.operation != operation_) {
        operation_ = s.operation;
        if (s.operation >= 0 && s.operation < static_cast<int>(calls.size()))
            call_ = call_of(calls[static_cast<std::size_t>(s.operation)]);
    }
    const Order& order = e.timeline.order;
    if (s.op != op_) {
        op_ = s.op;
        if (s.op >= 0 && s.op < static_cast<std::ptrdiff_t>(order.ops.size()))
            block_ = {device_of(order, s.op), order.ops[static_cast<std::size_t>(s.op)]};
    }
    if (s.tensor == tensor_ && s.activation == activation_) return;
    tensor_ = s.tensor, activation_ = s.activation;
    const bool activation = s.activation >= 0;
    if (!activation && s.tensor < 0) return;
    tensor_name_ = name_at(tensors_of(plan, e, activation), activation ? s.activation : s.tensor);
}

void SelectedThings::find(const Plan& plan, const Evaluation& e, Selection& s) const {
    const auto& calls = e.comm.operations;
    if (s.operation >= 0 && s.operation == operation_) {
        const auto same =
            std::find_if(calls.begin(), calls.end(), [&](const Operation& o) { return call_of(o) == call_; });
        s.operation = same == calls.end() ? -1 : static_cast<int>(same - calls.begin());
    } else if (s.operation >= static_cast<int>(calls.size())) {
        s.operation = -1;
    }
    const Order& order = e.timeline.order;
    if (s.op >= 0 && s.op == op_) {
        s.op = -1;
        if (block_.device + 1 < static_cast<std::ptrdiff_t>(order.begin.size())) {
            const auto device = static_cast<std::size_t>(block_.device);
            const auto first = order.ops.begin() + static_cast<std::ptrdiff_t>(order.begin[device]),
                       last = order.ops.begin() + static_cast<std::ptrdiff_t>(order.begin[device + 1]);
            const auto same = std::find(first, last, block_.op);
            if (same != last) s.op = same - order.ops.begin();
        }
    } else if (s.op >= static_cast<std::ptrdiff_t>(order.ops.size())) {
        s.op = -1;
    }
    const bool activation = s.activation >= 0;
    if ((activation || s.tensor >= 0) && s.tensor == tensor_ && s.activation == activation_)
        (activation ? s.activation : s.tensor) = place_of_name(tensors_of(plan, e, activation), tensor_name_);
}

}  // namespace pentamesh::ui
