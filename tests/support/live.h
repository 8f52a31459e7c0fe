#pragma once

#include "framework/privacy/attack.h"
#include "tests/support/fixtures.h"

namespace imprint {

/// A trained model that can be asked about anything, with candidates and a population.
class Live final : public Observation {
 public:
  Live(std::shared_ptr<Model> model, Dataset candidates, Tensor member, Dataset population)
      : service_(std::make_shared<Service>(std::move(model), Chain(), torch::kFloat, torch::kCPU)),
        candidates_(std::move(candidates)),
        population_(std::move(population)),
        member_(std::move(member)) {}

  Tensor y(Piece piece) const override { return of(piece).y; }
  Tensor member() const override { return member_; }
  int64_t classes() const override { return candidates_.classes; }
  int64_t block() const override { return 0; }
  Columns columns(Piece piece, const Transform& transform) const override {
    return columns_of(answers(piece, transform), y(piece));
  }
  Answers answers(Piece piece, const Transform& transform) const override {
    return service_->ask(of(piece).x, transform);
  }
  Records records(Piece piece) const override { return of(piece).x; }
  std::shared_ptr<Service> service() const override { return service_; }

 private:
  const Dataset& of(Piece piece) const {
    return piece == Piece::candidates ? candidates_ : population_;
  }

  std::shared_ptr<Service> service_;
  Dataset candidates_, population_;
  Tensor member_;
};

/// A target and one shadow.
struct LivePair {
  std::shared_ptr<const Observation> target, shadow;

  Scene scene(const Needs& needs) const { return {*target, {shadow.get()}, needs, Stream(1)}; }
  Tensor member() const { return target->member(); }
};

/// Two small networks that overfit 200 records each, 200 strangers each as other candidates, and a
/// population of 200.
inline LivePair overfitted_pair() {
  const auto data =
      dataset_of("{name: gaussian, records: 1000, features: 30, classes: 4, separation: 2}");
  const auto piece = [&](int64_t i) { return data.at(torch::arange(i * 200, (i + 1) * 200)); };
  const auto model = [&](int64_t first, uint64_t seed) {
    const Split split{piece(first), piece(first + 1), {}, {}, {}};
    const auto net =
        train_small("none", split, "{epochs: 60}", "{name: mlp, hidden: [64]}", seed).model;
    // Mixed, so that nothing can use their order.
    const auto order = torch::randperm(400, Stream(seed).generator(), torch::kLong);
    return std::make_shared<Live>(net, data.at(order + first * 200), order < 200, piece(4));
  };
  return {model(0, 1), model(2, 2)};
}

/// Answers about images and their changed versions that are right with one chance for members and
/// another for others, each version on its own.
class ChancyLabels final : public Observation {
 public:
  ChancyLabels(double member_chance, double other_chance, uint64_t seed, int64_t n = 800)
      : n_(n),
        member_(torch::randperm(n, Stream(seed).generator(), torch::kLong) < n / 2),
        chance_(
            torch::where(member_, torch::full({n}, member_chance), torch::full({n}, other_chance))),
        seed_(seed) {}

  Tensor y(Piece) const override { return torch::arange(n_) % 2; }
  Tensor member() const override { return member_; }
  int64_t classes() const override { return 2; }
  int64_t block() const override { return 0; }
  Columns columns(Piece piece, const Transform& transform) const override {
    const auto stream = Stream(seed_).at(transform.name());
    const auto right = torch::rand({n_}, stream.generator(), torch::kFloat) < chance_;
    return {torch::where(right, y(piece), 1 - y(piece)), {}, {}};
  }
  Answers answers(Piece, const Transform&) const override { return {}; }
  Records records(Piece) const override { return {}; }
  std::shared_ptr<Service> service() const override { return nullptr; }

 private:
  int64_t n_;
  Tensor member_, chance_;
  uint64_t seed_;
};

/// A target and a shadow that are right about members and others with the given chances.
struct ImageWorld : LivePair {
  ImageWorld(double member_chance, double other_chance)
      : LivePair{std::make_shared<ChancyLabels>(member_chance, other_chance, 1),
                 std::make_shared<ChancyLabels>(member_chance, other_chance, 2)} {}
};

}  // namespace imprint
