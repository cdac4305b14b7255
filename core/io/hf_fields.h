// Reads typed fields of one JSON object; each error has file, pointer, the value found and the values
// allowed.
#pragma once

#include "core/base/error.h"
#include "core/base/json_reader.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pentamesh {

class HfFields {
  public:
    // The ranges are as wide as the plan file's own.
    static constexpr std::int64_t kLargest = std::int64_t{1} << 31;
    static constexpr std::int64_t kMostLayers = std::int64_t{1} << 16;
    static constexpr std::int64_t kMostExperts = std::int64_t{1} << 20;

    // `read`, where given, collects the pointers of the fields that are looked for.
    HfFields(const nlohmann::json& object, std::string path, std::string prefix,
             std::set<std::string>* read = nullptr)
        : object_(object), path_(std::move(path)), prefix_(std::move(prefix)), read_(read) {}
    // Reads an object of the file that `from` reads.
    HfFields(const nlohmann::json& object, const HfFields& from, std::string prefix)
        : HfFields(object, from.path_, std::move(prefix), from.read_) {}

    [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
        if (read_) read_->insert(prefix_ + "/" + std::string(name));
        const auto it = object_.find(std::string(name));
        return it == object_.end() || it->is_null() ? nullptr : &*it;
    }

    [[noreturn]] void fail(std::string_view name, const std::string& message) const {
        throw Error(ErrorKind::invalid, path_, prefix_ + "/" + std::string(name), message);
    }

    // Absent and null are the same: transformers writes null for "as the default".
    [[nodiscard]] std::optional<std::int64_t> maybe(std::string_view name, std::int64_t least = 1,
                                                    std::int64_t most = kLargest) const {
        const nlohmann::json* v = find(name);
        if (!v) return std::nullopt;
        const bool integer =
            v->is_number_integer()
            && !(v->is_number_unsigned() && v->get<std::uint64_t>() > std::uint64_t{kLargest});
        if (!integer || v->get<std::int64_t>() < least || v->get<std::int64_t>() > most)
            fail(name, "found " + shown_json(*v) + ", must be " + allowed(least, most));
        return v->get<std::int64_t>();
    }
    [[nodiscard]] std::int64_t or_else(std::string_view name, std::int64_t otherwise, std::int64_t least = 1,
                                       std::int64_t most = kLargest) const {
        return maybe(name, least, most).value_or(otherwise);
    }
    [[nodiscard]] std::int64_t need(std::string_view name, std::int64_t most = kLargest) const {
        const auto v = maybe(name, 1, most);
        if (!v) fail(name, "is missing, must be " + allowed(1, most));
        return *v;
    }
    [[nodiscard]] bool flag(std::string_view name, bool otherwise) const {
        const nlohmann::json* v = find(name);
        if (v && !v->is_boolean()) fail(name, "found " + shown_json(*v) + ", must be true or false");
        return v ? v->get<bool>() : otherwise;
    }
    [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const {
        const nlohmann::json* v = find(name);
        if (v && !v->is_string()) fail(name, "found " + shown_json(*v) + ", must be a text");
        return v ? v->get<std::string>() : std::string(otherwise);
    }

    [[nodiscard]] const nlohmann::json& object() const { return object_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& prefix() const { return prefix_; }

  private:
    static std::string allowed(std::int64_t least, std::int64_t most) {
        return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    }

    const nlohmann::json& object_;
    std::string path_, prefix_;
    std::set<std::string>* read_;
};

}  // namespace pentamesh
