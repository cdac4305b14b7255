// Lists the fields of a plan's layout, training and GPU count: pointer, place and range of each, made from
// the field table (plan_fields.h). Edits, ranges and steppers ask it.
#pragma once

#include "core/plan/plan_fields.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace pentamesh {

// This is a field's place in a plan. An enum is its byte and its names.
template <bool kConst>
struct FieldPlace {
    template <typename T>
    using Of = std::conditional_t<kConst, const T*, T*>;
    struct Choice {
        Of<std::uint8_t> value;
        std::span<const std::string_view> names;
    };
    using Any = std::variant<Of<RecomputeChoice>, Of<std::int64_t>, Of<int>, Of<bool>, Of<double>,
                             Of<std::optional<std::int64_t>>, Of<std::vector<std::int64_t>>,
                             Of<std::array<Axis, kAxisCount>>, Choice>;
};

template <bool kConst>
struct ListedField {
    std::string_view owner, key;  // static: "/layout", "tp"
    typename FieldPlace<kConst>::Any place;
    std::variant<std::monostate, IntRange, NumberRange> range;

    [[nodiscard]] bool is(std::string_view pointer) const {
        return pointer.size() == owner.size() + 1 + key.size() && pointer.starts_with(owner)
               && pointer[owner.size()] == '/' && pointer.ends_with(key);
    }
    [[nodiscard]] std::string pointer() const { return std::string(owner) + "/" + std::string(key); }
};

// This visitor of plan_fields.h makes the list. Only fields of the three groups are visited.
template <bool kConst>
class FieldLister {
  public:
    using Place = FieldPlace<kConst>;
    template <typename T>
    using Ref = std::conditional_t<kConst, const T&, T&>;

    explicit FieldLister(std::vector<ListedField<kConst>>& out) : out_(out) {}
    void under(std::string_view owner) { owner_ = owner; }

    void flag(std::string_view key, Ref<bool> v, Presence) { add(key, &v, std::monostate{}); }
    void integer(std::string_view key, Ref<std::int64_t> v, IntRange r, Presence) { add(key, &v, r); }
    void integer(std::string_view key, Ref<int> v, IntRange r, Presence) { add(key, &v, r); }
    void maybe_integer(std::string_view key, Ref<std::optional<std::int64_t>> v, IntRange r) {
        add(key, &v, r);
    }
    void integers(std::string_view key, Ref<std::vector<std::int64_t>> v, IntRange, std::size_t) {
        add(key, &v, std::monostate{});
    }
    void number(std::string_view key, Ref<double> v, NumberRange r, Presence) { add(key, &v, r); }
    void recompute(std::string_view key, Ref<RecomputeChoice> v) { add(key, &v, std::monostate{}); }
    template <typename E>
    void choice(std::string_view key, E& v, Presence) {
        add_choice(key, v);
    }
    template <typename E>
    void choice_of(std::string_view key, E& v, std::initializer_list<std::remove_const_t<E>>) {
        add_choice(key, v);
    }
    template <typename T, typename F>
    void group(std::string_view key, T& v, F&& fields, Presence) {
        using Group = std::remove_const_t<T>;
        constexpr bool overlap = std::is_same_v<Group, Overlap>, buffers = std::is_same_v<Group, Buffers>;
        static_assert(overlap || buffers || std::is_same_v<Group, Offload>, "name the group's pointer here");
        const std::string_view before = owner_;
        static_cast<void>(key);
        owner_ = overlap ? "/training/overlap" : buffers ? "/training/buffers" : "/training/offload";
        fields(v, *this);
        owner_ = before;
    }
    void order(Ref<std::array<Axis, kAxisCount>> v) { add("order", &v, std::monostate{}); }

  private:
    template <typename Pointer, typename Range>
    void add(std::string_view key, Pointer place, Range range) {
        out_.push_back({owner_, key, place, range});
    }
    template <typename E>
    void add_choice(std::string_view key, E& v) {
        using Plain = std::remove_const_t<E>;
        static_assert(std::is_same_v<std::underlying_type_t<Plain>, std::uint8_t>);
        using Byte = std::conditional_t<kConst, const std::uint8_t, std::uint8_t>;
        out_.push_back({owner_, key,
                        typename Place::Choice{reinterpret_cast<Byte*>(&v), std::span(kNames<Plain>)},
                        std::monostate{}});
    }

    std::vector<ListedField<kConst>>& out_;
    std::string_view owner_;
};

// Returns true if two places of one kind hold the same.
template <typename T>
[[nodiscard]] bool same_value(const T* a, const T* b) {
    return *a == *b;
}
[[nodiscard]] inline bool same_value(const FieldPlace<true>::Choice& a, const FieldPlace<true>::Choice& b) {
    return *a.value == *b.value;
}

// Returns a field's value as an edit states it: 0 of an optional one that is left out, a word of a choice of
// recomputed modules.
[[nodiscard]] EditValue edit_value_of(const FieldPlace<true>::Any& place);
// Returns false, and leaves the field as it is, where the value is of another type.
[[nodiscard]] bool set_value(const FieldPlace<false>::Any& place, const EditValue& value);

// Returns them in the order of the plan file: the cluster's GPUs and their cost, the layout, the training.
template <typename P>
[[nodiscard]] auto list_fields(P& plan) {
    constexpr bool kConst = std::is_const_v<P>;
    std::vector<ListedField<kConst>> out;
    out.reserve(64);
    FieldLister<kConst> lister(out);
    lister.under("/cluster");
    lister.integer("gpus", plan.cluster.gpus, kDegree, Presence::required);
    cost_fields(plan.cluster, lister);
    lister.under("/layout");
    lister.order(plan.layout.order);
    layout_fields(plan.layout, lister);
    lister.under("/training");
    training_fields(plan.training, lister);
    return out;
}

}  // namespace pentamesh
