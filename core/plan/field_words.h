// Says of the fields of a plan on which page and under which heading a sheet shows them, in which words,
// which values they may have, and whether they are written where they have their default.
#pragma once

#include "core/plan/names.h"
#include "core/plan/plan.h"

#include <cstdint>

namespace pentamesh {

// Names the pages on which the sheet of all fields shows them.
enum class FieldTopic : std::uint8_t {
    size,
    attention,
    experts,
    other_model,
    gpu,
    fabric,
    cluster,
    layout,
    training,
    plan
};
template <>
inline constexpr std::size_t kEnumCount<FieldTopic> = 10;
template <>
inline constexpr std::array<std::string_view, kEnumCount<FieldTopic>> kNames<FieldTopic>{
    "Size",   "Attention",        "MLP and experts", "Other of the model", "GPU",
    "Fabric", "Cluster and cost", "Layout",          "Training",           "Name and notes"};

// These speak to visitors that list fields for people; others need none. The first two name the page of the
// fields that follow, and the heading over them there (empty: they stand first). The third names the next
// field where its key does not read as words, and says what its 0 or its absence means.
template <typename V>
void topic(V& v, FieldTopic t) {
    if constexpr (requires { v.topic(t); }) v.topic(t);
}
template <typename V>
void heading(V& v, std::string_view head) {
    if constexpr (requires { v.heading(head); }) v.heading(head);
}
template <typename V>
void words(V& v, std::string_view label, std::string_view unset = {}) {
    if constexpr (requires { v.words(label, unset); }) v.words(label, unset);
}

// Says whether a field must be there, and whether it is written where it has its default.
enum class Presence : std::uint8_t {
    required,
    always,  // has a default, written nevertheless
    sparse   // left out where it is T{}: false, 0, the first choice
};

struct IntRange {
    std::int64_t least, most;
};
struct NumberRange {
    double least, most;
    bool above = false;  // the least itself is not allowed
};

inline constexpr std::int64_t kMostDegree = std::int64_t{1} << 20;  // of one axis, and of GPUs
inline constexpr std::int64_t kMostLayers = std::int64_t{1} << 16;
inline constexpr std::size_t kMostRuns = 1024;                    // of a pattern
inline constexpr std::int64_t kMostSize = std::int64_t{1} << 31;  // of a model's dimension
inline constexpr IntRange kDegree{1, kMostDegree};
inline constexpr IntRange kSize{1, kMostSize};
inline constexpr IntRange kSizeOrNone{0, kMostSize};
inline constexpr double kMostRate = 1e30;
inline constexpr double kMostLatency_s = 3600, kMostOversubscription = 1e6;

}  // namespace pentamesh
