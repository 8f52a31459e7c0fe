#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

#include "framework/privacy/signals.h"
#include "framework/training/measure.h"

namespace imprint::loss_distribution {
namespace {

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const Tensor& values) {
  const auto v = values.to(torch::kDouble);
  return {v.mean().item<double>(), v.std(false).item<double>()};
}

// Largest difference of the two normal distribution functions: it is attained where the densities
// are equal, at the roots of a quadratic (Theorem 6.1 of Liu et al. 2024 with the best threshold).
double gaussian_advantage(const Moments& in, const Moments& out) {
  for (const double each : {in.mean, in.deviation, out.mean, out.deviation})
    if (!std::isfinite(each)) return std::numeric_limits<double>::quiet_NaN();
  // Losses without spread are told apart wherever they differ at all.
  if (in.deviation == 0 || out.deviation == 0) return in.mean == out.mean ? 0 : 1;
  const double a = 1 / (out.deviation * out.deviation) - 1 / (in.deviation * in.deviation);
  const double b =
      2 * (in.mean / (in.deviation * in.deviation) - out.mean / (out.deviation * out.deviation));
  const double c = out.mean * out.mean / (out.deviation * out.deviation) -
                   in.mean * in.mean / (in.deviation * in.deviation) +
                   2 * std::log(out.deviation / in.deviation);
  const boost::math::normal standard;
  const auto advantage = [&](double t) {
    return boost::math::cdf(standard, (t - in.mean) / in.deviation) -
           boost::math::cdf(standard, (t - out.mean) / out.deviation);
  };
  if (std::abs(a) < 1e-12) return b == 0 ? 0 : advantage(-c / b);
  const double root = std::sqrt(std::max(0.0, b * b - 4 * a * c));
  return std::max(advantage((-b + root) / (2 * a)), advantage((-b - root) / (2 * a)));
}

/// Mean and variance (over records, population variance) of loss, entropy and modified entropy on
/// members and non-members, and what theory makes of them: Theorem 3.1's lower bound on the mean
/// training loss, eps + (eps^2 + sigma^2)/2 with eps = mean(1 - p_y) and sigma^2 = var(p_y);
/// Theorem 6.1's advantage for Gaussian losses at the best threshold; Yeom et al.'s
/// erf(1/sqrt 2) - erf(sigma_S / (sqrt 2 sigma_D)). No keys.
class LossDistribution final : public Measure {
 public:
  explicit LossDistribution(Keys) {}

  void epoch(const Epoch&, Evaluation& evaluation, Log& log) override { record(evaluation, log); }
  void trained(const Finished& finished, Log& log) override { record(finished.evaluation, log); }

 private:
  static void record(Evaluation& evaluation, Log& log) {
    const auto& split = evaluation.split();
    const auto in = piece("train", evaluation.train_logits(), split.train.y, log);
    const auto out = piece("test", evaluation.test_logits(), split.test.y, log);
    log.metric("gaussian_advantage", gaussian_advantage(in, out));
    log.metric("yeom_advantage", std::erf(1 / std::sqrt(2.0)) -
                                     std::erf(in.deviation / (std::sqrt(2.0) * out.deviation)));
    const auto p = true_log_p(exact_log_softmax(evaluation.train_logits()), split.train.y).exp();
    const auto [confidence, spread] = moments(p);
    const double eps = 1 - confidence;
    log.metric("loss_bound", eps + (eps * eps + spread * spread) / 2, split.train.size());
  }

  static Moments piece(const std::string& name, const Tensor& logits, const Tensor& y, Log& log) {
    const auto log_p = exact_log_softmax(logits);
    const auto loss = moments(-true_log_p(log_p, y));
    const auto put = [&](const std::string& what, const Moments& m) {
      log.metric(name + "_" + what + "_mean", m.mean, y.size(0));
      log.metric(name + "_" + what + "_variance", m.deviation * m.deviation, y.size(0));
    };
    put("loss", loss);
    put("entropy", moments(entropy_of(log_p)));
    put("modified_entropy", moments(modified_entropy_of(log_p, y)));
    return loss;
  }
};

IMPRINT_MEASURE(
    LossDistribution, "loss_distribution",
    "mean and variance of losses and entropies, and the advantage theory predicts from them",
    "Liu et al., ICML 2024, Theorems 3.1 and 6.1; Yeom et al., CSF 2018, Theorem 3");

}  // namespace
}  // namespace imprint::loss_distribution
