// Writes answers of the engine as lines that a person can read, "memory.stage 3: parameters 1.234567e+10,
// ...", and holds them against those of tests/golden/figures. It says that an answer changed, not that it is
// right (tests/README.md).
#pragma once

#include "core/base/containers.h"
#include "core/memory/memory.h"
#include "core/plan/edits.h"
#include "core/plan/plan.h"
#include "tests/members.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pentamesh::test {

// Returns 7 digits. What is left of a difference of equal numbers is 0.
[[nodiscard]] std::string figure_text(double x);
// Returns the settings of a plan that are not those of a new one: "layout.tp 8, training.recompute full".
[[nodiscard]] std::string settings_text(const Plan& plan);
// Returns the text on one line.
[[nodiscard]] std::string one_line(std::string_view text);

inline constexpr std::size_t kMostNamed = 64;  // enumerators of an enum whose count is not stated
template <typename E>
[[nodiscard]] std::string_view enumerator_name(E e) {
    constexpr std::size_t kNamed = kEnumCount < E >> 0 ? kEnumCount<E> : kMostNamed;
    static constexpr auto kAll = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<std::string_view, sizeof...(I)>{last_name(spelled_with<static_cast<E>(I)>())...};
    }
    (std::make_index_sequence<kNamed>{});
    const auto i = static_cast<std::size_t>(e);
    return i < kNamed ? kAll[i] : std::string_view();
}

template <typename T>
inline constexpr bool kIsEnumArray = false;
template <typename E, typename T>
inline constexpr bool kIsEnumArray<EnumArray<E, T>> = true;
template <typename E, typename T>
[[nodiscard]] constexpr E key_of(const EnumArray<E, T>& /*list*/, std::size_t i) {
    return static_cast<E>(i);
}
template <typename T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <typename T>
concept List = std::ranges::range<const T&> && !Text<T> && !kIsEnumArray<T>;
template <typename T>
concept Optional = requires(const T& x) {
    x.has_value();
    *x;
};
template <typename T>
concept Pair = requires(const T& x) {
    x.first;
    x.second;
};
template <typename T>
inline constexpr bool kIsStruct =
    std::is_aggregate_v<T> && !List<T> && !kIsEnumArray<T> && !std::is_same_v<T, Plan>;
// A list whose elements stand on a line of their own.
template <typename T>
[[nodiscard]] constexpr bool is_long_list() {
    if constexpr (List<T>) {
        using Element = std::ranges::range_value_t<const T&>;
        return kIsStruct<Element> || Text<Element> || List<Element>;
    } else {
        return false;
    }
}

template <typename T>
[[nodiscard]] std::string value_text(const T& x);

inline void add_named(std::string& out, std::string_view name, const std::string& text, bool nested) {
    if (text.empty()) return;
    if (!out.empty()) out += ", ";
    out += name;
    if (text != "yes") out += nested ? " (" + text + ")" : " " + text;
}

// Calls `use(name, member)` for each member. A stage's memory has a base, whose members no binding names; its
// own number is its place in the list.
template <typename T, typename Use>
void each_named_member(const T& x, const Use& use) {
    if constexpr (std::is_same_v<T, StageMemory>) {
        each_named_member(static_cast<const StageContents&>(x), use);
        use("parameters_held", x.parameters_held), use("parameters_kept", x.parameters_kept);
        use("parameters", x.parameters), use("gradients", x.gradients), use("optimizer", x.optimizer);
        use("activations", x.activations), use("buffers_low", x.buffers_low), use("buffers", x.buffers);
        use("buffers_high", x.buffers_high), use("in_flight", x.in_flight);
        use("activations_per_layer", x.activations_per_layer);
        use("layer_activations", x.layer_activations), use("allocated", x.allocated);
        use("reserved", x.reserved), use("host", x.host);
    } else {
        static constexpr auto kMemberNames = member_names<T>();
        std::size_t i = 0;
        each_member(x, [&](const auto& member) { use(kMemberNames[i++], member); });
    }
}

// Returns nothing for a number that a new one has too: "calls" of 1.
template <typename T, typename Member>
[[nodiscard]] std::string member_text(const T& x, const Member& member) {
    if constexpr (std::is_arithmetic_v<Member> && std::is_default_constructible_v<T>) {
        static const T usual{};
        const auto* at = reinterpret_cast<const char*>(&member);
        const auto place = at - reinterpret_cast<const char*>(&x);
        if (*reinterpret_cast<const Member*>(reinterpret_cast<const char*>(&usual) + place) == member)
            return {};
        const std::string text = value_text(member);
        return text.empty() ? "0" : text;
    } else {
        return value_text(member);
    }
}

// Equal neighbours are one word: "4 (3 times) 5".
template <typename T>
[[nodiscard]] std::string list_text(const T& list) {
    std::string out, last;
    int times = 0;
    const auto end_run = [&] {
        if (times == 0) return;
        if (!out.empty()) out += ' ';
        out += last;
        if (times > 1) out += " (" + std::to_string(times) + " times)";
    };
    for (const auto& element : list) {
        std::string text = value_text(static_cast<const std::ranges::range_value_t<const T&>&>(element));
        if (text.empty()) text = "0";
        if constexpr (kIsStruct<std::ranges::range_value_t<const T&>>) text = "(" + text + ")";
        if (times > 0 && text == last) {
            ++times;
            continue;
        }
        end_run();
        last = std::move(text), times = 1;
    }
    end_run();
    return out;
}

// Returns a value on one line; nothing for 0, false, and what is empty.
template <typename T>
[[nodiscard]] std::string value_text(const T& x) {
    std::string out;
    if constexpr (std::is_same_v<T, Plan>) {
        out = settings_text(x);
    } else if constexpr (std::is_same_v<T, EditValue>) {
        out = words_of(x);
    } else if constexpr (Text<T>) {
        out = one_line(x);
    } else if constexpr (std::is_same_v<T, bool>) {
        out = x ? "yes" : "";
    } else if constexpr (std::is_enum_v<T>) {
        out = enumerator_name(x);
        if (out.empty()) out = std::to_string(static_cast<int>(x));
    } else if constexpr (std::integral<T>) {
        out = x == 0 ? "" : std::to_string(x);
    } else if constexpr (std::floating_point<T>) {
        out = figure_text(static_cast<double>(x));
        if (out == "0") out.clear();
    } else if constexpr (Optional<T>) {
        if (x) out = value_text(*x);
        if (x && out.empty()) out = "0";
    } else if constexpr (kIsEnumArray<T>) {
        std::size_t i = 0;
        for (const auto& element : x) {
            const std::string text = value_text(element);
            add_named(out, enumerator_name(key_of(x, i++)), text,
                      kIsStruct<std::remove_cvref_t<decltype(element)>>);
        }
    } else if constexpr (List<T>) {
        out = list_text(x);
    } else if constexpr (Pair<T>) {
        out = value_text(x.first) + " " + value_text(x.second);
    } else if constexpr (kIsStruct<T>) {
        each_named_member(x, [&](std::string_view name, const auto& member) {
            using Member = std::remove_cvref_t<decltype(member)>;
            add_named(out, name, member_text(x, member),
                      kIsStruct<Member> || List<Member> || kIsEnumArray<Member>);
        });
    }
    return out;
}

struct FigureLine {
    std::string label, text;
};
using FigureLines = std::vector<FigureLine>;

// Words and whole numbers are the same exactly, other figures within 1.5e-6.
[[nodiscard]] bool same_text(std::string_view a, std::string_view b);
[[nodiscard]] bool same_lines(const FigureLines& a, const FigureLines& b);
void append_lines(FigureLines& out, const std::string& label, const FigureLines& lines);

// Returns a value on lines whose labels say where in it they stand. Equal neighbours of a list are one
// element: " 3-6".
template <typename T>
[[nodiscard]] FigureLines lines_of(const T& x) {
    FigureLines out;
    if constexpr (is_long_list<T>()) {
        FigureLines last;
        std::size_t first = 0, i = 0;
        const auto end_run = [&] {
            if (i == 0) return;
            append_lines(
                out, " " + std::to_string(first) + (first + 1 < i ? "-" + std::to_string(i - 1) : ""), last);
        };
        for (const auto& element : x) {
            FigureLines lines = lines_of(element);
            if (i == 0 || !same_lines(lines, last)) {
                end_run();
                first = i, last = std::move(lines);
            }
            ++i;
        }
        end_run();
    } else if constexpr (kIsStruct<T>) {
        std::string own;
        FigureLines lists;
        each_named_member(x, [&](std::string_view name, const auto& member) {
            using Member = std::remove_cvref_t<decltype(member)>;
            if constexpr (is_long_list<Member>())
                append_lines(lists, "." + std::string(name), lines_of(member));
            else
                add_named(own, name, member_text(x, member),
                          kIsStruct<Member> || List<Member> || kIsEnumArray<Member>);
        });
        if (!own.empty() || lists.empty()) out.push_back({"", own});
        append_lines(out, "", lists);
    } else {
        out.push_back({"", value_text(x)});
    }
    return out;
}

// Holds the answers of one topic against tests/golden/figures/TOPIC.txt.
class Figures {
  public:
    explicit Figures(const std::string& topic);
    // Begins the answers about something: a plan, a file.
    void about(const std::string& name);
    template <typename T>
    void put(const std::string& label, const T& x) {
        add(label, lines_of(x));
    }
    // Puts words only where they were not put before: many plans say the same.
    void put_once(const std::string& label, const std::string& text);
    // Puts how many lines a text has, and those that no text before had.
    void put_text(const std::string& label, std::string_view text);
    // Returns how many lines differ from the golden ones, and prints them with their names. With
    // PENTAMESH_REFRESH_FIGURES=1 it writes those that differ.
    [[nodiscard]] int differing();

  private:
    void add(const std::string& label, const FigureLines& lines);

    std::string file_, about_;
    FigureLines now_;  // labels with what they are about
    std::set<std::string> once_;
};

}  // namespace pentamesh::test
