// Tests of the attacks that learn from shadows which saw the candidates or not: lira, rmia, base,
// calibration, reference; and of population, which asks about strangers.
#include <cmath>

#include "tests/support/pool.h"

namespace imprint::shadow_attacks_test {
namespace {

const std::vector<std::string>& all_attacks() {
  static const std::vector<std::string> all{
      "lira",
      "{name: lira, mode: offline}",
      "{name: lira, variance: per_record}",
      "{name: lira, variance: shrunk}",
      "{name: lira, mode: offline, density: two_sided, centre: median, out_variance: in}",
      "rmia",
      "{name: rmia, mode: offline}",
      "base",
      "{name: base, mode: offline}",
      "calibration",
      "reference",
      "{name: reference, smooth: true}",
      "population"};
  return all;
}

Tensor scores_of(const std::string& yaml, const MadeUpPool& pool) {
  const auto attack = attack_of(yaml);
  return attack->run(pool.scene(attack->needs())).scores;
}

// The shadows' values about record i, of those that saw it or not.
std::vector<double> side(const Tensor& values, const Tensor& in, int64_t i, bool saw) {
  std::vector<double> all;
  for (int64_t k = 0; k < values.size(0); ++k)
    if (in[k][i].item<bool>() == saw) all.push_back(values[k][i].item<double>());
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += std::pow(value - mean(values), 2);
  return sum;
}

double log_normal(double x, double centre, double variance) {
  return -std::pow(x - centre, 2) / (2 * variance) - std::log(2 * M_PI * variance) / 2;
}

double log_tail(double z) { return std::log(std::erfc(-z / std::sqrt(2.0)) / 2); }

double log_mean_p(const std::vector<double>& phi) {
  double sum = 0;
  for (const auto each : phi) sum += 1 / (1 + std::exp(-each));
  return std::log(sum / static_cast<double>(phi.size()));
}

double log_p(double phi) { return -std::log1p(std::exp(-phi)); }

// Calls `check` with each record's own log-odds and those of shadows with and without it.
template <class Check>
void each_record(const MadeUpPool& pool, const Check& check, const Transform& query = {}) {
  const auto phi = pool.shadow_phi(query), in = pool.shadow_in();
  const auto own = pool.models.front().columns(Piece::candidates, query).phi;
  for (int64_t i = 0; i < own.size(0); ++i)
    check(i, own[i].item<double>(), side(phi, in, i, true), side(phi, in, i, false));
}

TEST(Lira, WithEachRecordsOwnVarianceIsTheDefinitionRecordByRecord) {
  const MadeUpPool pool(1, {});
  const auto online = scores_of("{name: lira, variance: per_record}", pool);
  const auto offline = scores_of("{name: lira, variance: per_record, mode: offline}", pool);
  each_record(pool, [&](int64_t i, double phi, const auto& in, const auto& out) {
    const auto variance = [](const auto& values) {
      return squares(values) / static_cast<double>(values.size() - 1);
    };
    EXPECT_NEAR(online[i].item<double>(),
                log_normal(phi, mean(in), variance(in)) - log_normal(phi, mean(out), variance(out)),
                1e-9);
    EXPECT_NEAR(offline[i].item<double>(), log_tail((phi - mean(out)) / std::sqrt(variance(out))),
                1e-9);
  });
}

TEST(Lira, WithAFixedVariancePoolsTheCentredRecords) {
  const MadeUpPool pool(2, {});
  const auto fixed = scores_of("{name: lira, variance: fixed}", pool);
  const auto shrunk = scores_of("{name: lira, variance: shrunk}", pool);
  double in_squares = 0, out_squares = 0, in_freedom = 0, out_freedom = 0;
  each_record(pool, [&](int64_t, double, const auto& in, const auto& out) {
    in_squares += squares(in);
    out_squares += squares(out);
    in_freedom += static_cast<double>(in.size() - 1);
    out_freedom += static_cast<double>(out.size() - 1);
  });
  const auto s_in = in_squares / in_freedom, s_out = out_squares / out_freedom;
  each_record(pool, [&](int64_t i, double phi, const auto& in, const auto& out) {
    EXPECT_NEAR(fixed[i].item<double>(),
                log_normal(phi, mean(in), s_in) - log_normal(phi, mean(out), s_out), 1e-9);
    const auto pulled = [](const auto& values, double common) {
      return (4 * common + squares(values)) / (4 + static_cast<double>(values.size()));
    };
    EXPECT_NEAR(shrunk[i].item<double>(),
                log_normal(phi, mean(in), pulled(in, s_in)) -
                    log_normal(phi, mean(out), pulled(out, s_out)),
                1e-9);
  });
}

TEST(Lira, TakesTheFixedVarianceUnlessThereAreManyShadows) {
  const MadeUpPool few(3, {}), many(3, {.shadows = 64});
  EXPECT_TRUE(
      torch::equal(scores_of("lira", few), scores_of("{name: lira, variance: fixed}", few)));
  EXPECT_TRUE(
      torch::equal(scores_of("lira", many), scores_of("{name: lira, variance: per_record}", many)));
}

TEST(Lira, DoesWithOneShadowOnEachSide) {
  // No variance is known: the score is the squared distance to one minus that to the other.
  const MadeUpPool pool(4, {.shadows = 2});
  for (const auto* variance : {"fixed", "per_record", "shrunk"}) {
    const auto scores = scores_of(fmt::format("{{name: lira, variance: {}}}", variance), pool);
    each_record(pool, [&](int64_t i, double phi, const auto& in, const auto& out) {
      EXPECT_NEAR(scores[i].item<double>(),
                  (std::pow(phi - out[0], 2) - std::pow(phi - in[0], 2)) / 2, 1e-9);
    });
  }
}

TEST(Lira, AsItsPublicCodeHasIt) {
  const MadeUpPool pool(5, {});
  const auto scores = scores_of(
      "{name: lira, variance: fixed, mode: offline, density: two_sided, centre: median, "
      "out_variance: in}",
      pool);
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  };
  double in_squares = 0, freedom = 0;
  each_record(pool, [&](int64_t, double, const auto& in, const auto&) {
    for (const auto value : in) in_squares += std::pow(value - median(in), 2);
    freedom += static_cast<double>(in.size() - 1);
  });
  each_record(pool, [&](int64_t i, double phi, const auto&, const auto& out) {
    EXPECT_NEAR(scores[i].item<double>(), -log_normal(phi, median(out), in_squares / freedom),
                1e-9);
  });
}

TEST(Lira, RefusesATailInSeveralDimensions) {
  expect_config_error("attack", "{name: lira, mode: offline, covariance: full}",
                      "covariance: full needs mode: online, since a tail has no side in several "
                      "dimensions");
}

TEST(Lira, WithFullCovarianceOfOneQueryIsTheOrdinaryOne) {
  const MadeUpPool pool(6, {});
  for (const auto* variance : {"fixed", "per_record", "shrunk"}) {
    const auto plain = scores_of(fmt::format("{{name: lira, variance: {}}}", variance), pool);
    const auto full = scores_of(
        fmt::format("{{name: lira, variance: {}, covariance: full, ridge: 0}}", variance), pool);
    // Beside the ridge there is a floor of a millionth of the common variance.
    const auto tolerance = std::string(variance) == "per_record" ? 0.05 : 1e-4;
    EXPECT_TRUE(torch::allclose(plain, full, tolerance, tolerance)) << variance;
  }
}

// The record itself, and what else LiRA with two augmentations asks about.
std::vector<Transform> three_queries() {
  auto all = attack_of("{name: lira, augmentations: 2}")->needs().transforms;
  all.insert(all.begin(), Transform{});
  return all;
}

TEST(Lira, AddsUpWhatEachOfSeveralQueriesSays) {
  const auto queries = three_queries();
  ASSERT_EQ(queries.size(), 3U);
  const MadeUpPool pool(14, {.queries = {queries[1], queries[2]}});
  const auto n = pool.member().size(0);
  std::vector<double> fixed(n), own(n), offline(n);
  for (const auto& query : queries) {
    double in_squares = 0, out_squares = 0, in_freedom = 0, out_freedom = 0;
    each_record(
        pool,
        [&](int64_t, double, const auto& in, const auto& out) {
          in_squares += squares(in);
          out_squares += squares(out);
          in_freedom += static_cast<double>(in.size() - 1);
          out_freedom += static_cast<double>(out.size() - 1);
        },
        query);
    const auto s_in = in_squares / in_freedom, s_out = out_squares / out_freedom;
    each_record(
        pool,
        [&](int64_t i, double phi, const auto& in, const auto& out) {
          const auto variance = [](const auto& values) {
            return squares(values) / static_cast<double>(values.size() - 1);
          };
          fixed[i] += log_normal(phi, mean(in), s_in) - log_normal(phi, mean(out), s_out);
          own[i] +=
              log_normal(phi, mean(in), variance(in)) - log_normal(phi, mean(out), variance(out));
          offline[i] += log_tail((phi - mean(out)) / std::sqrt(s_out));
        },
        query);
  }
  const auto expect_scores = [&](const std::string& keys, const std::vector<double>& expected) {
    const auto scores = scores_of("{name: lira, augmentations: 2, " + keys + "}", pool);
    for (int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(scores[i].item<double>(), expected[i], 1e-9 * (1 + std::abs(expected[i])))
          << keys << ", record " << i;
  };
  expect_scores("variance: fixed", fixed);
  expect_scores("variance: per_record", own);
  expect_scores("variance: fixed, mode: offline", offline);
}

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// What models say about one record: [models][queries].
Vector centre_of(const Matrix& points) {
  Vector centre(points.front().size());
  for (const auto& point : points)
    for (size_t a = 0; a < centre.size(); ++a)
      centre[a] += point[a] / static_cast<double>(points.size());
  return centre;
}

// Sums of products of deviations.
Matrix products(const Matrix& points) {
  const auto centre = centre_of(points);
  Matrix sums(centre.size(), Vector(centre.size()));
  for (const auto& point : points)
    for (size_t a = 0; a < centre.size(); ++a)
      for (size_t b = 0; b < centre.size(); ++b)
        sums[a][b] += (point[a] - centre[a]) * (point[b] - centre[b]);
  return sums;
}

Matrix weighted(double s, const Matrix& a, double t, const Matrix& b) {
  auto sum = a;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a.size(); ++j) sum[i][j] = s * a[i][j] + t * b[i][j];
  return sum;
}

// Log density but for its constant, which is the same for both sides; by elimination.
double log_normal(Vector x, const Vector& centre, Matrix covariance, double ridge) {
  const auto size = x.size();
  double trace = 0, log_density = 0;
  for (size_t a = 0; a < size; ++a) trace += covariance[a][a];
  for (size_t a = 0; a < size; ++a) {
    covariance[a][a] += ridge * trace / static_cast<double>(size);
    x[a] -= centre[a];
  }
  for (size_t k = 0; k < size; ++k) {
    const auto pivot = covariance[k][k];
    log_density -= (std::log(pivot) + x[k] * x[k] / pivot) / 2;
    for (size_t r = k + 1; r < size; ++r) {
      const auto factor = covariance[r][k] / pivot;
      for (size_t c = k; c < size; ++c) covariance[r][c] -= factor * covariance[k][c];
      x[r] -= factor * x[k];
    }
  }
  return log_density;
}

// What the target says about every record, and shadows that saw it or not.
struct Said {
  Matrix target;                ///< [records][queries]
  std::vector<Matrix> in, out;  ///< [records], each [shadows][queries]
};

Said said(const MadeUpPool& pool, const std::vector<Transform>& queries) {
  Said all;
  for (const auto& query : queries) {
    const bool first = &query == &queries.front();
    each_record(
        pool,
        [&](int64_t i, double phi, const auto& in, const auto& out) {
          if (first) {
            all.target.emplace_back();
            all.in.emplace_back(in.size());
            all.out.emplace_back(out.size());
          }
          all.target[i].push_back(phi);
          for (size_t k = 0; k < in.size(); ++k) all.in[i][k].push_back(in[k]);
          for (size_t k = 0; k < out.size(); ++k) all.out[i][k].push_back(out[k]);
        },
        query);
  }
  return all;
}

Matrix common_covariance(const std::vector<Matrix>& side) {
  Matrix sum;
  double freedom = 0;
  for (const auto& points : side) {
    const auto each = products(points);
    sum = sum.empty() ? each : weighted(1, sum, 1, each);
    freedom += static_cast<double>(points.size() - 1);
  }
  return weighted(1 / freedom, sum, 0, sum);
}

TEST(Lira, WithFullCovarianceIsTheMultivariateDensityRecordByRecord) {
  const auto queries = three_queries();
  // So many shadows that a record's own covariance of three numbers is no singular one.
  const MadeUpPool pool(15, {.records = 60, .shadows = 32, .queries = {queries[1], queries[2]}});
  const auto all = said(pool, queries);
  const auto in = common_covariance(all.in), out = common_covariance(all.out);
  EXPECT_GT(std::abs(in[0][1]), 0.2 * std::sqrt(in[0][0] * in[1][1]));  // else nothing is shown
  for (const std::string variance : {"fixed", "per_record", "shrunk"}) {
    const auto covariance = [&](const Matrix& points, const Matrix& common) {
      const auto own = products(points);
      const auto count = static_cast<double>(points.size());
      if (variance == "per_record") return weighted(1 / (count - 1), own, 0, own);
      return variance == "fixed" ? common : weighted(4 / (4 + count), common, 1 / (4 + count), own);
    };
    const auto scores = scores_of(
        "{name: lira, augmentations: 2, covariance: full, ridge: 0.1, variance: " + variance + "}",
        pool);
    for (size_t i = 0; i < all.target.size(); ++i) {
      const auto density = [&](const Matrix& points, const Matrix& common) {
        return log_normal(all.target[i], centre_of(points), covariance(points, common), 0.1);
      };
      const auto expected = density(all.in[i], in) - density(all.out[i], out);
      // Beside the ridge there is a floor of a millionth of the common variance.
      EXPECT_NEAR(scores[static_cast<int64_t>(i)].item<double>(), expected,
                  1e-3 * (1 + std::abs(expected)))
          << variance << ", record " << i;
    }
  }
}

TEST(Rmia, IsTheDefinitionPairByPair) {
  const MadeUpPool pool(7, {});
  const auto online = scores_of("{name: rmia, gamma: 1.5}", pool);
  const auto offline = scores_of("{name: rmia, mode: offline, a: 0.4}", pool);
  const auto target_z = pool.models.front().columns(Piece::population, {}).true_log_p;
  std::vector<double> ratio_z, ratio_z_offline;
  for (int64_t z = 0; z < target_z.size(0); ++z) {
    double p = 0;
    for (size_t k = 1; k < pool.models.size(); ++k)
      p += std::exp(pool.models[k].columns(Piece::population, {}).true_log_p[z].item<double>());
    p /= static_cast<double>(pool.models.size() - 1);
    const auto own = std::exp(target_z[z].item<double>());
    ratio_z.push_back(own / p);
    ratio_z_offline.push_back(own / ((1.4 * p + 0.6) / 2));
  }
  each_record(pool, [&](int64_t i, double phi, const auto& in, const auto& out) {
    const auto own = std::exp(log_p(phi)), p_in = std::exp(log_mean_p(in)),
               p_out = std::exp(log_mean_p(out));
    double wins = 0, wins_offline = 0;
    for (size_t z = 0; z < ratio_z.size(); ++z) {
      wins += own / ((p_in + p_out) / 2) / ratio_z[z] >= 1.5 ? 1 : 0;
      wins_offline += own / ((1.4 * p_out + 0.6) / 2) / ratio_z_offline[z] >= 2 ? 1 : 0;
    }
    EXPECT_NEAR(online[i].item<double>(), wins / static_cast<double>(ratio_z.size()), 1e-12);
    EXPECT_NEAR(offline[i].item<double>(), wins_offline / static_cast<double>(ratio_z.size()),
                1e-12);
  });
}

TEST(Base, IsTheDefinitionRecordByRecord) {
  const MadeUpPool pool(8, {});
  const auto online = scores_of("base", pool),
             offline = scores_of("{name: base, mode: offline}", pool);
  each_record(pool, [&](int64_t i, double phi, const auto& in, const auto& out) {
    const auto both = std::log((std::exp(log_mean_p(in)) + std::exp(log_mean_p(out))) / 2);
    EXPECT_NEAR(online[i].item<double>(), log_p(phi) - both, 1e-9);
    EXPECT_NEAR(offline[i].item<double>(), log_p(phi) - log_mean_p(out), 1e-9);
  });
}

TEST(Calibration, IsTheMeanLossOfStrangersMinusTheTargets) {
  const MadeUpPool pool(9, {});
  const auto scores = scores_of("calibration", pool);
  each_record(pool, [&](int64_t i, double phi, const auto&, const auto& out) {
    double loss = 0;
    for (const auto each : out) loss -= log_p(each) / static_cast<double>(out.size());
    EXPECT_NEAR(scores[i].item<double>(), loss + log_p(phi), 1e-9);
  });
}

TEST(Reference, CountsShadowsWithALargerLoss) {
  const MadeUpPool pool(10, {});
  const auto scores = scores_of("reference", pool),
             smooth = scores_of("{name: reference, smooth: true}", pool);
  each_record(pool, [&](int64_t i, double phi, const auto&, const auto& out) {
    double worse = 0;
    for (const auto each : out) worse += each < phi ? 1 : each == phi ? 0.5 : 0;
    EXPECT_NEAR(scores[i].item<double>(), worse / static_cast<double>(out.size()), 1e-12);
    const auto deviation = std::sqrt(squares(out) / static_cast<double>(out.size() - 1));
    EXPECT_NEAR(smooth[i].item<double>(), log_tail((phi - mean(out)) / deviation), 1e-6);
  });
}

TEST(Population, RanksTheLossAmongStrangersOfTheSameClass) {
  // Class 1 strangers have p = 0.2, 0.5, 0.5; class 0 has 0.9 alone; class 2 has none.
  const auto answers = [&](const std::vector<int64_t>& y, const std::vector<double>& p) {
    auto all = torch::zeros({static_cast<int64_t>(y.size()), 3}, torch::kDouble);
    for (size_t i = 0; i < y.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      all[row] = std::log((1 - p[i]) / 2);
      all[row][y[i]] = std::log(p[i]);
    }
    return Answers{all, {}};
  };
  Answered target(answers({1, 1, 0, 2}, {0.5, 0.9, 0.1, 0.4}), torch::tensor({1, 1, 0, 2}), {});
  target.add_population(answers({1, 1, 1, 0}, {0.2, 0.5, 0.5, 0.9}), torch::tensor({1, 1, 1, 0}));
  const auto attack = attack_of("population"),
             global = attack_of("{name: population, compare: all}");
  const auto scores = attack->run(Scene(target, {}, attack->needs(), Stream(0))).scores;
  // One below and two equal of three; all three; none of one; of all four only p = 0.2 is below
  // 0.4.
  EXPECT_TRUE(torch::allclose(scores, torch::tensor({2.0 / 3, 1.0, 0.0, 0.25}, torch::kDouble)));
  const auto over_all = global->run(Scene(target, {}, global->needs(), Stream(0))).scores;
  EXPECT_TRUE(torch::allclose(over_all, torch::tensor({0.5, 0.875, 0.0, 0.25}, torch::kDouble)));
}

TEST(ShadowAttacks, FindMembersOfATargetThatRemembers) {
  const MadeUpPool pool(11, {.records = 600, .population = 300, .shadows = 16, .gain = 3});
  for (const auto& yaml : all_attacks()) {
    const auto score = score_on(pool, *attack_of(yaml));
    EXPECT_GT(score.auc_interval.low, 0.55) << yaml;
    EXPECT_GT(score.advantage_interval.low, 0) << yaml;
  }
}

TEST(ShadowAttacks, BeatTheGlobalThresholdWhereRecordsDifferInDifficulty) {
  const MadeUpPool pool(12, {.records = 2000, .population = 300, .shadows = 32, .gain = 3});
  const auto global = score_on(pool, *attack_of("loss")).auc;
  for (const auto* yaml :
       {"lira", "{name: lira, mode: offline}", "{name: reference, smooth: true}"})
    EXPECT_GT(score_on(pool, *attack_of(yaml)).auc, global + 0.1) << yaml;
}

// Over many audits of targets whose answers know nothing, intervals hold 1/2 as often as they say.
void expect_no_knowledge(const std::vector<std::string>& attacks,
                         const std::vector<Transform>& queries = {}) {
  std::map<std::string, Coverage> coverage;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const MadeUpPool pool(seed, {.records = 6000, .target_knows = false, .queries = queries});
    for (const auto& yaml : attacks) coverage[yaml].add(scores_of(yaml, pool), pool.member(), 100);
  }
  for (const auto& [yaml, each] : coverage) each.expect_as_promised(yaml);
}

TEST(ShadowAttacks, KnowNothingWhereTheTargetKnowsNothing) {
  expect_no_knowledge({"rmia", "{name: rmia, mode: offline}", "base", "{name: base, mode: offline}",
                       "calibration", "reference", "{name: reference, smooth: true}",
                       "population"});
}

TEST(Lira, KnowsNothingWhereTheTargetKnowsNothing) {
  expect_no_knowledge({"lira", "{name: lira, mode: offline}", "{name: lira, variance: per_record}",
                       "{name: lira, variance: shrunk}",
                       "{name: lira, mode: offline, density: two_sided, centre: median, "
                       "out_variance: in}"});
}

TEST(Lira, KnowsNothingFromSeveralQueriesWhereTheTargetKnowsNothing) {
  expect_no_knowledge(
      {"{name: lira, augmentations: 2}", "{name: lira, augmentations: 2, covariance: full}"},
      attack_of("{name: lira, augmentations: 2}")->needs().transforms);
}

TEST(ShadowAttacks, CannotCountMembershipFromTheShadows) {
  // With whole blocks every record is in for half of the shadows; an odd last model is independent.
  for (const size_t shadows : {8U, 9U}) {
    int64_t above = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const MadeUpPool pool(seed, {.records = 100, .shadows = shadows});
      const auto count = pool.shadow_in().sum(0).to(torch::kDouble);
      const auto member = pool.member().to(torch::kUInt8);
      const auto minus = (-count).contiguous();
      above += auc({minus.const_data_ptr<double>(), 100}, {member.const_data_ptr<uint8_t>(), 100})
                           .value > 0.5
                   ? 1
                   : 0;
      if (shadows == 8) {
        EXPECT_TRUE(count.eq(4).all().item<bool>());
      }
    }
    if (shadows == 9) {
      EXPECT_NEAR(static_cast<double>(above), 100, 30);
    }
  }
}

TEST(ShadowAttacks, PractiseOnAShadowWithoutItsPartner) {
  const MadeUpPool pool(13, {.shadows = 6});
  const auto attack = attack_of("lira");
  const auto scene = pool.scene(attack->needs());
  const Rehearsal rehearsal(scene);
  ASSERT_TRUE(rehearsal.possible());
  EXPECT_EQ(rehearsal.scene().shadows(), 4U);
  const MadeUpPool small(13, {.shadows = 4});
  const auto few = small.scene(attack->needs());
  EXPECT_FALSE(Rehearsal(few).possible());
  // Then the upper half is called members: it is known that half of them are.
  const auto found = run_attack(*attack, few, false);
  EXPECT_EQ(found.decisions.sum().item<int64_t>(), 60);
}

}  // namespace
}  // namespace imprint::shadow_attacks_test
