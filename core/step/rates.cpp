#include "core/step/rates.h"

#include "core/layer/kernel_costs.h"
#include "core/plan/software.h"

#include <cstdint>

namespace pentamesh {
namespace {

// Returns the rate of fp8 products over that of products with one scale for a tensor.
double recipe_rate(const SoftwareFacts& software, Fp8Recipe recipe) {
    switch (recipe) {
    case Fp8Recipe::tensorwise: break;
    case Fp8Recipe::rowwise: return software.fp8_rowwise;
    case Fp8Recipe::blockwise: return software.fp8_blockwise;
    case Fp8Recipe::mxfp8: return software.fp8_mxfp8;
    }
    return 1;
}

}  // namespace

Rates find_rates(const Plan& plan) {
    const Gpu& g = plan.cluster.gpu;
    const Efficiency& e = g.efficiency;
    Rates r;
    r.wide = g.flops.bf16 * e.gemm;
    r.attention = g.flops.bf16 * e.attention;
    r.hbm = g.hbm_bytes_per_s * e.hbm;
    r.kernel_s = e.kernel_s;
    const auto grouped_over = [&](double dense) { return dense > 0 ? e.grouped / dense : 0; };
    r.grouped = grouped_over(e.gemm);
    r.peak = g.flops.bf16;
    r.linear = r.wide;
    const auto low = [&](double peak, double share, double bytes) {
        if (peak <= 0) return;  // no such type on this GPU: it runs in 16 bits
        r.peak = peak;
        r.linear = peak * share;
        r.grouped = grouped_over(share);
        r.operand = bytes;
        r.cast_bytes = kTwo + 2 * bytes;  // read, written row-wise and column-wise
    };
    switch (plan.training.compute) {
    case Dtype::fp8: low(g.flops.fp8, e.gemm_fp8, 1); break;
    case Dtype::fp4: low(g.flops.fp4, e.gemm_fp4, 0.5); break;
    case Dtype::fp16: r.peak = g.flops.fp16, r.linear = r.wide = g.flops.fp16 * e.gemm; break;
    case Dtype::fp32:
    case Dtype::tf32:
        r.peak = g.flops.tf32 > 0 ? g.flops.tf32 : g.flops.bf16;
        r.linear = r.wide = r.peak * e.gemm;
        r.operand = 4;
        break;
    case Dtype::bf16: break;
    }
    const SoftwareFacts& software = facts_of(plan.training.software);
    if (plan.training.compute == Dtype::fp8 && g.flops.fp8 > 0)
        r.linear *= recipe_rate(software, plan.training.fp8_recipe);
    r.linear *= software.products;
    r.wide *= software.products;
    r.grouped *= software.grouped;
    r.attention *= software.attention;
    r.element_wise = software.element_wise;
    return r;
}

double line_share(double in, double out, double bytes) {
    constexpr std::int64_t kLine = 128;
    constexpr double kOffLines = 0.69;
    constexpr double kMost = 9e18;  // a plan with such widths is refused, and has no line to be off
    const auto off = [&](double numbers) {
        return numbers * bytes < kMost && static_cast<std::int64_t>(numbers * bytes) % kLine != 0;
    };
    return off(in) || off(out) ? kOffLines : 1;
}

double product_time(const Rates& r, const Product& p, double rate, double operand, double result_bytes) {
    const double bytes = (p.m * p.in + p.in * p.out) * operand + p.m * p.out * result_bytes;
    return p.groups * (2 * p.m * p.in * p.out / rate + bytes / r.hbm) + r.kernel_s;
}

}  // namespace pentamesh
