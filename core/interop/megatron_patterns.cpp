// Reads the two small languages inside Megatron's flags: which layers are MoE, and which layers make a stage.
#include "core/interop/megatron.h"

namespace pentamesh::interop {
namespace {

constexpr std::size_t kMostItems = std::size_t{1} << 16;
constexpr int kMostPatternLevels = 40;

class ListExpression {
  public:
    explicit ListExpression(std::string_view text) : s_(text) {}
    std::optional<std::vector<int>> whole() {
        auto v = sum(0);
        blanks();
        return at_ == s_.size() ? v : std::nullopt;
    }

  private:
    using List = std::optional<std::vector<int>>;
    void blanks() {
        while (at_ < s_.size() && s_[at_] == ' ') ++at_;
    }
    bool take(char c) {
        blanks();
        if (at_ >= s_.size() || s_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::optional<std::size_t> number() {
        blanks();
        std::size_t n = 0;
        const std::size_t begin = at_;
        while (at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9' && n < kMostItems)
            n = n * 10 + static_cast<std::size_t>(s_[at_++] - '0');
        return at_ > begin ? std::optional(n) : std::nullopt;
    }
    List sum(int level) {
        List left = product(level);
        while (left && take('+')) {
            const List right = product(level);
            if (!right || left->size() + right->size() > kMostItems) return std::nullopt;
            left->insert(left->end(), right->begin(), right->end());
        }
        return left;
    }
    List product(int level) {
        if (level > kMostPatternLevels) return std::nullopt;
        List v;
        if (take('(')) {
            v = sum(level + 1);
            if (!take(')')) return std::nullopt;
        } else if (take('[')) {
            v.emplace();
            while (!take(']')) {
                const auto n = number();
                if (!n || *n > 1) return std::nullopt;
                v->push_back(static_cast<int>(*n));
                take(',');
            }
        }
        while (v && take('*')) {
            const auto n = number();
            if (!n || v->size() * *n > kMostItems) return std::nullopt;
            const std::vector<int> once = *v;
            v->clear();
            for (std::size_t i = 0; i < *n; ++i) v->insert(v->end(), once.begin(), once.end());
        }
        return v;
    }

    std::string_view s_;
    std::size_t at_ = 0;
};

// Returns the layout's letters with every "*n" written out: "Et*3|(tt|)*2" -> "Ettt|tt|tt|". It is empty
// where the text is no layout.
std::string written_out(std::string_view text, int level) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ',' || c == ' ') continue;
        std::string unit;
        if (c == '(') {
            int depth = 1;
            std::size_t end = i + 1;
            while (end < text.size() && depth > 0) {
                depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
                ++end;
            }
            if (depth > 0 || level > kMostPatternLevels) return "";
            unit = written_out(text.substr(i + 1, end - i - 2), level + 1);
            if (unit.empty()) return "";
            i = end - 1;
        } else {
            unit = c;
        }
        std::size_t times = 1;
        if (i + 2 < text.size() + 1 && i + 1 < text.size() && text[i + 1] == '*') {
            std::size_t j = i + 2;
            times = 0;
            while (j < text.size() && text[j] >= '0' && text[j] <= '9' && times < kMostItems)
                times = times * 10 + static_cast<std::size_t>(text[j++] - '0');
            if (j == i + 2) return "";
            i = j - 1;
        }
        if (out.size() + unit.size() * times > kMostItems) return "";
        for (std::size_t n = 0; n < times; ++n) out += unit;
    }
    return out;
}

// Returns "Et|tL" of [["embedding", "decoder"], ["decoder", "loss"]], Megatron-Core's other notation.
std::string letters_of_lists(std::string_view text) {
    std::string out, word;
    int depth = 0;
    for (const char c : text) {
        if ((c >= 'a' && c <= 'z') || c == '_') {
            word.push_back(c);
            continue;
        }
        if (!word.empty())
            out += word == "embedding" ? "E" : word == "decoder" ? "t" : word == "mtp" ? "m" : "L";
        word.clear();
        if (c == '[' && ++depth == 2 && !out.empty()) out += '|';
        if (c == ']') --depth;
    }
    return out;
}

}  // namespace

std::optional<std::vector<int>> parse_layer_pattern(std::string_view text) {
    return ListExpression(text).whole();
}

// From Megatron-LM, megatron/core/transformer/pipeline_parallel_layer_layout.py: E is embedding, t layer, m
// prediction layer, L loss, | the end of a stage.
PipelineParts parse_pipeline_layout(std::string_view text) {
    PipelineParts out;
    std::string letters = written_out(text, 0);
    if (text.starts_with("[[")) letters = letters_of_lists(text);
    if (letters.empty()) {
        out.error = "it is no layout of stages such as Et*3|(tt|)*29,m|L";
        return out;
    }
    out.layers.push_back(0);
    for (const char c : letters) {
        if (c == '|')
            out.layers.push_back(0);
        else if (c == 't')
            ++out.layers.back();
        else if (c == 'm')
            out.mtp_part = static_cast<std::int64_t>(out.layers.size()) - 1;
        else if (c != 'E' && c != 'L') {
            out.error = std::string("it has the letter ") + c + "; E, t, m, L, |, * and ( ) are known";
            out.layers.clear();
            return out;
        }
    }
    return out;
}

}  // namespace pentamesh::interop
