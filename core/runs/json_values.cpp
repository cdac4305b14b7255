#include "core/runs/values.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace pentamesh::runs {
namespace {

// Receives a JSON text part by part, so that no second tree of it is made.
class Receiver {
  public:
    explicit Receiver(Values& out) : out_(out) {}

    bool null() { return put({}); }
    bool boolean(bool value) { return put(whole_value(value ? 1 : 0, ValueKind::flag)); }
    bool number_integer(std::int64_t n) { return put(whole_value(n)); }
    bool number_unsigned(std::uint64_t n) {
        constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
        return put(whole_value(n > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(n)));
    }
    bool number_float(double x, const std::string&) { return put(real_value(x)); }
    bool string(std::string& text) { return put(out_.copied_text(text)); }
    bool binary(std::vector<std::uint8_t>&) { return false; }
    bool key(std::string& text) { return put(out_.copied_text(text)); }
    bool start_object(std::size_t) { return open(ValueKind::dict); }
    bool start_array(std::size_t) { return open(ValueKind::list); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(std::size_t position, const std::string&, const std::exception&) {
        refuse("no valid JSON at byte " + std::to_string(position));
    }

  private:
    bool put(const Value& v) {
        if (open_.empty())
            out_.root = v;
        else
            out_.append(open_.back(), v);
        return true;
    }
    bool open(ValueKind kind) {
        if (open_.size() >= kMostValueLevels) refuse("more than 64 levels");
        open_.push_back(out_.make(kind));
        return true;
    }
    bool close() {
        const Value done = open_.back();
        open_.pop_back();
        return put(done);
    }

    Values& out_;
    std::vector<Value> open_;
};

}  // namespace

void read_json_values(std::string_view text, Values& out) {
    Receiver to(out);
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &to)) refuse("no valid JSON");
}

}  // namespace pentamesh::runs
