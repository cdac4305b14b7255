// The files of rules share this. Each rule is a function that appends a Problem where the plan breaks it.
//
// Fixes end in a valid plan in any order. They only ever lower the factors that cut the model (tp, etp, ep,
// cp, pp, virtual stages). Data parallelism then follows from the cluster, the batch from data parallelism.
#pragma once

#include "core/base/text.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

namespace pentamesh {

// A value that the words of a problem name. It lives as long as the call that it is handed to.
struct Named {
    std::string_view name;
    std::variant<std::int64_t, bool, std::string_view> value;
};
// One field of a fix.
struct Mend {
    std::string_view path;
    std::variant<std::int64_t, double, bool, std::string_view> value;
};

// Applies rules of arithmetic, schedules and frameworks that make the plan impossible. It needs only the
// mesh. Replaces out's contents. With `messages` false it gives only codes and severity; a valid plan then
// costs no allocation.
void find_errors(const ResolvedPlan& resolved, bool messages, std::vector<Problem>& out);

// Errors of figures that no type holds, of a plan without other errors: appends them.
void find_uncounted(const ResolvedPlan& resolved, const Memory& memory, bool messages,
                    std::vector<Problem>& out);

struct Rules {
    const ResolvedPlan& resolved;
    bool messages;  // false: only codes and severity, nothing is allocated for texts
    std::vector<Problem>& out;
    const Plan& plan = resolved.plan;
    const Mesh& mesh = resolved.mesh;

    // Appends a problem in the words of its row (problem_words.cpp).
    Problem& find(ProblemCode code, std::initializer_list<Named> values = {},
                  std::initializer_list<Mend> fix = {});
    // Does the same; the fix is what `change` makes of the plan.
    template <typename Change>
    Problem& find(ProblemCode code, std::initializer_list<Named> values, Change&& change) {
        Problem& p = find(code, values);
        if (messages) p.fix = fix_by(plan, change);
        return p;
    }
    // Appends a problem that has no row; the caller fills in its message and fix where `messages` is set.
    Problem& add(Severity severity, Rule rule, ProblemCode code, std::string_view pointer) {
        Problem& p = out.emplace_back();
        p.severity = severity;
        p.rule = rule;
        p.code = code;
        if (messages) p.pointer = pointer;
        return p;
    }
};

// Errors come in the order of the plan file's reasoning. The first two return true if the rest can be asked
// at all.
[[nodiscard]] bool check_fields(Rules& r);  // rules.cpp: numbers that mean something
void check_model_cuts(Rules& r);            // rules_model.cpp: can the model be cut by tp, etp, ep, pp?
[[nodiscard]] bool check_world(Rules& r);   // rules.cpp: do the factors fill the cluster?
void check_expert_mesh(Rules& r);           // rules.cpp: does the expert mesh fold?
void pp_outermost(Plan& plan);              // rules.cpp: an order in which it does for pipelines
void check_sequence(Rules& r);              // rules_model.cpp: can the tokens be cut by cp and sp?
void check_batch(Rules& r);                 // rules_model.cpp: micro-batches and schedule
void check_precision(Rules& r);             // rules_model.cpp: can the GPU compute in that type?

// Notices parts of layers without attention that are not modelled (rules_model.cpp).
void check_mixers(Rules& r);
// Finds layers that a pattern names without their sizes, or that tp cannot cut (rules_model.cpp).
void check_pattern(Rules& r);
void check_mixer_cuts(Rules& r);
[[nodiscard]] bool mixers_fit(const Model& model, std::int64_t tp);  // checks a pattern's own sizes

void check_choices(Rules& r);  // rules.cpp: do the finer choices go together?

// Returns true if recomputing the module saves anything in such a model (rules.cpp).
[[nodiscard]] bool has_module(const Model& model, RecomputeModule module);

// Give warnings and notices: modules that the model lacks (rules.cpp), kernels' limits and effects
// that the figures leave out (rules.cpp).
void check_modules(Rules& r);
void check_notices(Rules& r);
// Warn by rules that only one framework enforces (rules.cpp), and Megatron-LM's refusals,
// where it is the plan's software.
void check_frameworks(Rules& r);
void check_megatron(Rules& r);

// Returns the largest divisor of n that is at most `limit` (at least 1).
[[nodiscard]] std::int64_t largest_divisor(std::int64_t n, std::int64_t limit);
// Returns "1, 2, 4, 8": divisors of n, at most `limit` and at most a dozen of them.
[[nodiscard]] std::string divisors_text(std::int64_t n, std::int64_t limit);
// Returns the number of chunks that the model is cut into along its depth: pp * virtual_stages, at most
// kMaxWorld.
[[nodiscard]] std::int64_t pipeline_chunks(const Layout& layout);

}  // namespace pentamesh
