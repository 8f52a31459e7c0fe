// Imprint's side of the benchmarks of attacks; see attack_side.py for the other.
#include "benchmarks/attack_side.h"

#include "benchmarks/timing.h"
#include "framework/privacy/attack.h"
#include "framework/privacy/hop_skip_jump.h"
#include "framework/privacy/membership_net.h"
#include "framework/privacy/scoring.h"

namespace imprint {
namespace {

// Answers that are columns at once, as the store keeps them.
class ColumnsOnly final : public Observation {
 public:
  ColumnsOnly(int64_t candidates, int64_t population, uint64_t seed)
      : own_(made_up(candidates, seed)),
        others_(made_up(population, seed + 1000)),
        member_(torch::randperm(candidates, torch::kLong) < candidates / 2) {}

  Tensor y(Piece piece) const override { return torch::zeros_like(of(piece).label); }
  Tensor member() const override { return member_; }
  int64_t classes() const override { return 2; }
  int64_t block() const override { return 0; }
  Columns columns(Piece piece, const Transform&) const override { return of(piece); }
  Answers answers(Piece, const Transform&) const override { return {}; }
  Records records(Piece) const override { return {}; }
  std::shared_ptr<Service> service() const override { return nullptr; }

 private:
  static Columns made_up(int64_t n, uint64_t seed) {
    const auto phi = torch::randn({n}, Stream(seed).generator(), torch::kDouble);
    return {torch::zeros({n}, torch::kLong), -torch::log1p(torch::exp(-phi)), phi};
  }
  const Columns& of(Piece piece) const { return piece == Piece::candidates ? own_ : others_; }

  Columns own_, others_;
  Tensor member_;
};

double threshold_seconds() {
  constexpr size_t n = 30'000;
  const auto scores = torch::randn({static_cast<int64_t>(n)}, torch::kDouble);
  const auto member = torch::randint(0, 2, {static_cast<int64_t>(n)}, torch::kUInt8);
  const auto y = torch::randint(0, 100, {static_cast<int64_t>(n)}, torch::kLong);
  return fastest(20, [&] {
    class_thresholds({scores.const_data_ptr<double>(), n}, {member.const_data_ptr<uint8_t>(), n},
                     {y.const_data_ptr<int64_t>(), n}, 100);
  });
}

double neural_seconds() {
  Problems problems;
  const Value none;
  MembershipNet net(Keys(none, new_reading("a benchmark", problems)), 100);
  const auto x = torch::rand({10'000, 100});
  const auto member = torch::arange(10'000) % 2 == 0;
  return fastest(2, [&] { net.learn(x, member, Stream(0)); });
}

double gradient_seconds_per_record() {
  Problems problems;
  const auto spec = parse_yaml("{name: mlp, hidden: [1024, 512, 256, 128], activation: tanh}", "");
  const auto model =
      build(ModelRegistry::instance(), "model", spec, problems, {}, Shape{{600}, 100, 0}).component;
  model->eval();
  const auto x = torch::rand({1024, 600});
  const auto y = torch::randint(0, 100, {1024}, torch::kLong);
  return fastest(3,
                 [&] {
                   for (int64_t at = 0; at < 1024; at += 256) {
                     Tape tape;
                     const auto losses = torch::cross_entropy_loss(
                         model->forward(x.slice(0, at, at + 256)), y.slice(0, at, at + 256), {},
                         at::Reduction::None);
                     tape.close();
                     per_record(tape, losses).squared_norms().sqrt();
                   }
                 }) /
         1024;
}

double rmia_seconds() {
  Problems problems;
  const auto spec = parse_yaml("rmia", "");
  const auto attack = build(AttackRegistry::instance(), "attack", spec, problems, {}).component;
  const ColumnsOnly target(10'000, 10'000, 0);
  std::vector<ColumnsOnly> shadows;
  for (uint64_t i = 1; i <= 16; ++i) shadows.emplace_back(10'000, 10'000, i);
  std::vector<const Observation*> pointers;
  for (const auto& shadow : shadows) pointers.push_back(&shadow);
  const Scene scene(target, pointers, attack->needs(), Stream(0));
  return fastest(5, [&] { attack->run(scene); });
}

double boundary_seconds_per_record() {
  constexpr int64_t records = 500;
  at::manual_seed(0);
  const auto first = torch::randn({128, 600}) * std::sqrt(2.0 / 600);
  const auto second = torch::randn({100, 128}) * std::sqrt(2.0 / 128);
  const auto model = [&](const Tensor& x) {
    return x.mm(first.t()).relu().mm(second.t()).argmax(1);
  };
  const auto x = torch::rand({records, 600});
  const auto y = model(x);
  return fastest(1, [&] { hop_skip_jump({}, model, x, y, Stream(0)); }) / records;
}

}  // namespace

void attacks() {
  fmt::print(
      "{{\"thresholds\": {}, \"neural\": {}, \"gradients\": {}, \"rmia\": {}, \"boundary\": {}}}\n",
      threshold_seconds(), neural_seconds(), gradient_seconds_per_record(), rmia_seconds(),
      boundary_seconds_per_record());
}

}  // namespace imprint
