// Holds the settings of one text while a framework's reader goes over them: each ends in exactly one list.
#pragma once

#include "core/interop/settings.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pentamesh::interop {

// At most so many unknown settings are compared with all that the framework knows. A text may have hundreds
// of thousands of them.
inline constexpr int kMostStrange = 500;

// This is one row of the lists that an import shows.
struct Listed {
    std::string setting, value;
    std::string path;  // of the plan, "/layout/tp"; mapped settings only
    std::string why;   // of what cannot be held
    int line = 0;
};

// Names a value that the text does not have, and that the user can give.
enum class Asked : std::uint8_t { nothing, gpus, model, cluster, batch };

struct ImportProblem {
    Severity severity = Severity::error;
    std::string code;  // kebab-case
    std::string message;
    std::vector<Edit> fix;
    Asked asks = Asked::nothing;
};

class Sheet {
  public:
    // `key_of` turns a setting's name into the one that a reader asks for ("--num-layers" -> "num_layers").
    Sheet(std::vector<Setting> settings, const std::function<std::string(const std::string&)>& key_of);

    [[nodiscard]] bool has(std::string_view key) const { return last(key) != nullptr; }
    // Returns the setting in force, the last of its name, or null.
    [[nodiscard]] const Setting* last(std::string_view key) const;
    // Returns the name as the text writes it; the key where the text does not have it.
    [[nodiscard]] std::string written(std::string_view key) const;

    // Reading marks a setting as mapped to `path`. A value that is unknown, of the wrong type or out of range
    // reads as absent, and an error names setting, value and line. "None", "null" and an empty
    // value are absent.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::string_view path,
                                                      std::int64_t least = 1,
                                                      std::int64_t most = std::int64_t{1} << 31);
    [[nodiscard]] std::optional<double> number(std::string_view key, std::string_view path);
    [[nodiscard]] std::optional<bool> flag(std::string_view key, std::string_view path);
    [[nodiscard]] std::optional<std::string> text(std::string_view key, std::string_view path);
    // Looks without marking.
    [[nodiscard]] std::string value_of(std::string_view key) const;

    void map(std::string_view key, std::string_view path) { mark(key, State::mapped, path, {}); }
    void ignore(std::string_view key) { mark(key, State::ignored, {}, {}); }
    void cannot_hold(std::string_view key, std::string_view why) { mark(key, State::unmapped, {}, why); }

    void problem(Severity severity, std::string code, std::string message, std::vector<Edit> fix = {}) {
        ask(Asked::nothing, severity, std::move(code), std::move(message), std::move(fix));
    }
    void ask(Asked what, Severity severity, std::string code, std::string message,
             std::vector<Edit> fix = {}) {
        problems.push_back({severity, std::move(code), std::move(message), std::move(fix), what});
    }
    void error(std::string code, std::string message) {
        problem(Severity::error, std::move(code), std::move(message));
    }
    [[nodiscard]] bool failed() const;

    // Returns keys that nothing has read yet.
    [[nodiscard]] std::vector<std::string> open_keys() const;
    void lists(std::vector<Listed>& mapped, std::vector<Listed>& ignored,
               std::vector<Listed>& unmapped) const;

    std::vector<ImportProblem> problems;
    bool printed = false;  // by the framework itself: no name in it is misspelled

  private:
    enum class State : std::uint8_t { open, mapped, ignored, unmapped };
    // Holds the result for all settings of one name.
    struct Key {
        std::string name;
        std::size_t last = 0;  // of its settings, the one in force
        State state = State::open;
        std::string path, why;
    };
    struct Row {
        Setting setting;
        std::size_t key = 0;
    };
    void mark(std::string_view key, State state, std::string_view path, std::string_view why);
    [[nodiscard]] const Setting* read(std::string_view key, std::string_view path);
    void refuse(const Setting& s, const std::string& allowed);

    std::vector<Row> rows_;
    std::vector<Key> keys_;                            // as they first come
    std::unordered_map<std::string, std::size_t> at_;  // a key's name to its place
};

// Reads "8", "1_168_251"; nullopt for anything else, and beyond 2^62.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] bool says_nothing(std::string_view value);  // "", "None", "null", "~"

}  // namespace pentamesh::interop
