// Reads the fields of one JSON object into a struct: the visitor of plan_fields.h that parses.
#pragma once

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/plan/plan_fields.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pentamesh {

// Returns get(id) of a value that must be a preset's id; where there is no such preset the error names that
// place.
template <typename F>
auto preset_named(const nlohmann::json& value, const DocumentPlace& place, F&& get) {
    if (!value.is_string()) place.fail("found " + shown_json(value) + ", must be a preset's id");
    try {
        return get(value.get<std::string>());
    } catch (const Error& e) {
        if (!e.path().empty()) throw;
        place.fail(e.message());
    }
}

// Holds the beginning of a value: a preset's id is all of it, an object may name one and state the rest.
template <typename T>
struct BegunPreset {
    T value{};
    bool whole = false;  // only the id is given
    bool based = false;  // an object on a preset
};
// `kind` is "a model", for the error about other values.
template <typename F>
auto begin_preset(const nlohmann::json& value, const DocumentPlace& place, Source& source,
                  const std::string& kind, F&& get) {
    BegunPreset<decltype(get(std::string()))> out;
    source = {};
    out.whole = value.is_string();
    if (!out.whole && !value.is_object())
        place.fail("found " + shown_json(value) + ", must be " + kind + " preset's id or an object");
    const auto preset = out.whole ? value.end() : value.find("preset");
    out.based = !out.whole && preset != value.end();
    if (!out.whole && !out.based) return out;
    const nlohmann::json& id = out.whole ? value : *preset;
    out.value = preset_named(id, out.whole ? place : place.at("preset"), get);
    source.preset = id.get<std::string>();
    return out;
}

// An error about a key that nothing is called begins so.
inline constexpr std::string_view kUnknownKey = "unknown key";
[[nodiscard]] inline bool is_unknown_key(const Error& e) {
    return e.message().starts_with(kUnknownKey);
}

// A field that people name without its place: "tp" of "layout.tp".
struct ShortName {
    std::string name, place;
};

// Numbers between 0 and this one are no figures: what is divided by them is beyond all that is counted.
inline constexpr double kLeastNumber = 1e-30;

class FieldReader {
  public:
    // `stated` collects the pointers of the fields that are there, each with `prefix` before it; it may be
    // null. `based` says that the struct already holds a preset's values, so nothing is required.
    FieldReader(const nlohmann::json& object, DocumentPlace place, bool based,
                std::vector<std::string>* stated = nullptr, std::string prefix = {})
        : object_(object), place_(std::move(place)), based_(based), stated_(stated),
          prefix_(std::move(prefix)) {
        if (!object.is_object()) place_.fail("found " + shown_json(object) + ", must be an object");
    }

    // These names are known too, at other places: an error about a key may mean one of them.
    void known_elsewhere(std::span<const ShortName> names) { elsewhere_ = names; }

    void text(std::string_view key, std::string& out) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        if (!v->is_string()) refuse(key, *v, "a text");
        out = v->get<std::string>();
    }
    void any_text(std::string_view key, std::string& out) { text(key, out); }
    void flag(std::string_view key, bool& out, Presence) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        if (!v->is_boolean()) refuse(key, *v, "true or false");
        out = v->get<bool>();
    }
    template <typename I>
    void integer(std::string_view key, I& out, IntRange range, Presence presence) {
        const nlohmann::json* v = find(key);
        if (v)
            out = static_cast<I>(whole(place_.at(key), *v, range));
        else
            need(key, presence, "a whole number " + shown(range));
    }
    void maybe_integer(std::string_view key, std::optional<std::int64_t>& out, IntRange range) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        if (v->is_null())
            out.reset();
        else
            out = whole(place_.at(key), *v, range);
    }
    void integers(std::string_view key, std::vector<std::int64_t>& out, IntRange range, std::size_t most) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        out.clear();
        if (v->is_null()) return;
        if (!v->is_array()) refuse(key, *v, "a list of whole numbers");
        if (v->size() > most) refuse(key, *v, "a list of at most " + std::to_string(most));
        for (std::size_t i = 0; i < v->size(); ++i)
            out.push_back(whole(place_.at(key).at(std::to_string(i)), (*v)[i], range));
    }
    void number(std::string_view key, double& out, NumberRange range, Presence presence) {
        const nlohmann::json* v = find(key);
        if (!v) return need(key, presence, "a number " + shown(range));
        if (!v->is_number()) refuse(key, *v, "a number " + shown(range));
        const auto x = v->get<double>();
        const bool fits =
            std::isfinite(x) && x >= range.least && x <= range.most && !(range.above && x == range.least);
        if (std::isfinite(x) && x > range.most)
            refuse(key, *v, "a number of at most " + nlohmann::json(range.most).dump());
        if (!fits) refuse(key, *v, "a number " + shown(range));
        if (x != 0 && std::abs(x) < kLeastNumber)
            refuse(key, *v,
                   std::string(range.above ? "" : "0 or ") + "a number of at least "
                       + nlohmann::json(kLeastNumber).dump());
        out = x;
    }
    template <typename E>
    void choice(std::string_view key, E& out, Presence presence) {
        if (const nlohmann::json* v = find(key))
            out = one_of<E>(key, *v, {});
        else
            need(key, presence, list_of<E>({}));
    }
    template <typename E>
    void choice_of(std::string_view key, E& out, std::initializer_list<E> allowed) {
        if (const nlohmann::json* v = find(key)) out = one_of<E>(key, *v, allowed);
    }
    // Reads "none", "selective", "full" or {"modules": [...], "layers": n, "method": "block"}.
    void recompute(std::string_view key, RecomputeChoice& out) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        if (!v->is_object() && !v->is_string())
            refuse(key, *v, list_of<Recompute>({}) + R"(, or an object such as {"modules": ["mlp"]})");
        if (!v->is_object()) {
            out = one_of<Recompute>(key, *v, {});
            return;
        }
        FieldReader inner(*v, place_.at(key), false);
        RecomputeModules modules;
        if (const nlohmann::json* list = inner.find("modules")) modules = inner.modules("modules", *list);
        std::int64_t layers = 0;
        inner.integer("layers", layers, {0, kMostLayers}, Presence::sparse);
        RecomputeMethod method = RecomputeMethod::block;
        const bool said = v->contains("method");
        inner.choice("method", method, Presence::sparse);
        inner.finish();
        if (said && layers == 0)
            inner.place_.at("layers").fail("is missing: method says how a number of layers is meant");
        if (method == RecomputeMethod::uniform && !modules.empty())
            inner.place_.at("method").fail(
                "found \"uniform\", but units of layers are recomputed whole: leave the modules out or take "
                "\"block\"");
        out = RecomputeChoice(modules, layers, method);
    }
    template <typename T, typename F>
    void group(std::string_view key, T& out, F&& fields, Presence presence) {
        const nlohmann::json* v = peek(key);
        if (v)
            nested(key, *v, out, fields, based_);
        else
            need(key, presence, "an object");
    }
    template <typename T, typename F>
    void maybe_group(std::string_view key, std::optional<T>& out, F&& fields) {
        const nlohmann::json* v = peek(key);
        if (!v) return;
        if (v->is_null()) {
            state(key);
            out.reset();
            return;
        }
        const bool based = out.has_value();
        if (!based) out.emplace();
        nested(key, *v, *out, fields, based);
    }

    // A list is one value: its elements state nothing over a preset's.
    template <typename T, typename F>
    void groups(std::string_view key, std::vector<T>& out, std::size_t most, F&& fields) {
        const nlohmann::json* v = find(key);
        if (!v) return;
        out.clear();
        if (v->is_null()) return;
        if (!v->is_array()) refuse(key, *v, "a list of objects");
        if (v->size() > most) refuse(key, *v, "a list of at most " + std::to_string(most));
        for (std::size_t i = 0; i < v->size(); ++i) {
            FieldReader inner((*v)[i], place_.at(key).at(std::to_string(i)), false);
            fields(out.emplace_back(), inner);
            inner.finish();
        }
    }

    // Returns a key that the caller reads; null where it is absent.
    [[nodiscard]] const nlohmann::json* find(std::string_view key) {
        const nlohmann::json* v = peek(key);
        if (v) state(key);
        return v;
    }
    // Does the same without recording it as stated.
    [[nodiscard]] const nlohmann::json* peek(std::string_view key) {
        known_.push_back(key);
        const auto it = object_.find(std::string(key));
        return it == object_.end() ? nullptr : &*it;
    }
    // Call last: every key that was not read is an error.
    void finish() const {
        for (const auto& item : object_.items()) {
            bool known = false;
            for (const std::string_view k : known_) known = known || k == item.key();
            if (!known) place_.at(shown_text(item.key())).fail(unknown(item.key()));
        }
    }
    [[nodiscard]] const DocumentPlace& place() const { return place_; }

  private:
    [[nodiscard]] RecomputeModules modules(std::string_view key, const nlohmann::json& list) const {
        RecomputeModules out;
        if (!list.is_array()) refuse(key, list, "a list of modules, " + list_of<RecomputeModule>({}));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const FieldReader element(object_, place_.at(key), false);
            out.add(element.one_of<RecomputeModule>(std::to_string(i), list[i], {}));
        }
        return out;
    }
    void need(std::string_view key, Presence presence, const std::string& what) const {
        if (presence == Presence::required && !based_) place_.at(key).fail("is missing, must be " + what);
    }
    void state(std::string_view key) {
        if (stated_) stated_->push_back(prefix_ + "/" + std::string(key));
    }
    [[noreturn]] void refuse(std::string_view key, const nlohmann::json& v,
                             const std::string& allowed) const {
        place_.at(key).fail("found " + shown_json(v) + ", must be " + allowed);
    }
    [[nodiscard]] static std::string shown(IntRange r) {
        return "from " + std::to_string(r.least) + " to " + std::to_string(r.most);
    }
    [[nodiscard]] static std::string shown(NumberRange r) {
        const auto text = [](double x) { return nlohmann::json(x).dump(); };
        if (r.most >= kMostRate) return r.above ? "above " + text(r.least) : "of at least " + text(r.least);
        return (r.above ? "above " : "from ") + text(r.least) + " to " + text(r.most);
    }
    // 8.0 and "8" are not 8: a file that writes a degree so was made by a program that lost its type.
    [[nodiscard]] static std::int64_t whole(const DocumentPlace& at, const nlohmann::json& v,
                                            IntRange range) {
        const bool huge = v.is_number_unsigned() && v.get<std::uint64_t>() > INT64_MAX;
        if (v.is_number_integer() && !huge) {
            const auto i = v.get<std::int64_t>();
            if (i >= range.least && i <= range.most) return i;
        }
        std::string hint;
        if (v.is_number_float() && std::abs(v.get<double>()) < 1e15
            && std::trunc(v.get<double>()) == v.get<double>())
            hint =
                "; write it without the point: " + std::to_string(static_cast<std::int64_t>(v.get<double>()));
        else if (v.is_string() && !v.get<std::string>().empty()
                 && v.get<std::string>().find_first_not_of("0123456789") == std::string::npos)
            hint = "; write it without the quotes";
        at.fail("found " + shown_json(v) + ", must be a whole number " + shown(range) + hint);
    }
    template <typename E>
    [[nodiscard]] static bool allows(std::initializer_list<E> allowed, E e) {
        bool found = allowed.size() == 0;
        for (const E a : allowed) found = found || a == e;
        return found;
    }
    template <typename E>
    [[nodiscard]] static std::string list_of(std::initializer_list<E> allowed) {
        std::string list;
        for (std::size_t i = 0; i < kNames<E>.size(); ++i)
            if (allows(allowed, static_cast<E>(i)))
                list += (list.empty() ? "\"" : ", \"") + std::string(kNames<E>[i]) + "\"";
        return "one of " + list;
    }
    template <typename E>
    [[nodiscard]] E one_of(std::string_view key, const nlohmann::json& v,
                           std::initializer_list<E> allowed) const {
        if (!v.is_string()) refuse(key, v, list_of(allowed));
        const auto word = v.get<std::string>();
        const auto e = parse_name<E>(word);
        if (e && allows(allowed, *e)) return *e;
        std::vector<std::string_view> known;
        for (std::size_t i = 0; i < kNames<E>.size(); ++i)
            if (allows(allowed, static_cast<E>(i))) known.push_back(kNames<E>[i]);
        refuse(key, v, list_of(allowed) + "; the closest is \"" + std::string(nearest(word, known)) + "\"");
    }
    template <typename T, typename F>
    void nested(std::string_view key, const nlohmann::json& v, T& out, F&& fields, bool based) {
        FieldReader inner(v, place_.at(key), based, stated_, prefix_ + "/" + std::string(key));
        fields(out, inner);
        inner.finish();
    }
    [[nodiscard]] std::string unknown(const std::string& key) const {
        std::string closest(nearest(key, known_)), place;
        const auto far = [&](std::string_view name) {
            return std::pair(distance_to_name(key, name), edit_distance(key, name));
        };
        for (const ShortName& s : elsewhere_)
            if (far(s.name) < far(closest)) closest = s.name, place = " (" + s.place + ")";
        std::string text = std::string(kUnknownKey) + " \"" + shown_text(key)
                           + "\"; the closest known one is \"" + closest + "\"" + place + ". Known:";
        for (std::size_t i = 0; i < known_.size(); ++i)
            text += (i == 0 ? " " : ", ") + std::string(known_[i]);
        return text;
    }

    const nlohmann::json& object_;
    DocumentPlace place_;
    bool based_;
    std::vector<std::string>* stated_;
    std::string prefix_;
    std::vector<std::string_view> known_;
    std::span<const ShortName> elsewhere_;
};

}  // namespace pentamesh
