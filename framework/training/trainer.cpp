#include "framework/training/trainer.h"

#include <torch/utils.h>

#include "framework/training/bfloat16_products.h"

namespace imprint {
namespace {

// One training in progress; its methods are the lines of the loop.
class Trainer {
 public:
  explicit Trainer(TrainingPlan& plan)
      : plan_(plan),
        schedule_(plan.schedule),
        split_(plan.split),
        defense_stream_(plan.stream.at("defense")) {
    plan_.chain.data(split_, plan_.first, defense_stream_);
    torch::manual_seed(plan_.stream.at("init").seed());
    model_ = plan_.build(model_shape(plan_.split, schedule_.loss, plan_.chain));
    place(*model_, schedule_.type, plan_.device);
    if (schedule_.loss.on_sphere()) project();
    optimizer_ = schedule_.make_optimizer(model_->parameters());
    taped_ = plan_.chain.overrides("gradient");
    y_ = split_.train.y.to(plan_.device);
    // Small inputs are converted once; large ones stay compact and are expanded per batch.
    const bool small = split_.train.x.numel() <= int64_t{1} << 24;
    if (small) x_ = as_input(split_.train.x.all(), schedule_.type, plan_.device);
    loss_sum_ = torch::zeros({}, torch::TensorOptions(torch::kDouble).device(plan_.device));
    plan_.chain.start(where());
    if (!plan_.checkpoint.empty()) go_on();
  }

  std::shared_ptr<Model> run() {
    if (plan_.load) {
      plan_.load(*model_);
      epoch_ = schedule_.epochs - 1;
      finish_epoch();
      return model_;
    }
    for (; epoch_ < schedule_.epochs; ++epoch_) {
      run_epoch();
      if (finish_epoch()) break;
    }
    return model_;
  }

 private:
  Step where() {
    return {epoch_, schedule_.epochs, step_,          *model_,      *optimizer_,
            split_, defense_stream_,  schedule_.type, plan_.device, expected_batch()};
  }

  double expected_batch() const {
    const auto members = split_.train.size();
    return static_cast<double>(schedule_.batch == 0 ? members : std::min(schedule_.batch, members));
  }

  void run_epoch() {
    model_->train();
    lr_ = schedule_.lr_at(epoch_);
    for (auto& group : optimizer_->param_groups()) group.options().set_lr(lr_);
    const auto order = plan_.stream.at("order", static_cast<uint64_t>(epoch_));
    const auto batches =
        draw_batches(schedule_.sampling, split_.train.size(), schedule_.batch, order);
    while (drawn_ < static_cast<int64_t>(batches.size())) {
      // Dropout draws from the default generator, the only one it can use.
      torch::manual_seed(plan_.stream.at("layers", static_cast<uint64_t>(step_)).seed());
      run_step(batches[static_cast<size_t>(drawn_)]);
      ++drawn_;
      ++step_;
      if (plan_.checkpoint_due && plan_.checkpoint_due()) hand_over();
    }
    plan_.chain.epoch(where());
  }

  void hand_over() {
    State state(State::Direction::save);
    visit(state);
    plan_.on_checkpoint(state.tensors);
  }

  void go_on() {
    State state(State::Direction::load);
    state.tensors = plan_.checkpoint;
    visit(state);
  }

  // Everything that a step or the end of an epoch changes.
  void visit(State& state) {
    auto place = torch::tensor({epoch_, drawn_, step_, loss_count_}, torch::kLong);
    state.tensor("place", place);
    const auto* numbers = place.const_data_ptr<int64_t>();
    epoch_ = numbers[0], drawn_ = numbers[1], step_ = numbers[2], loss_count_ = numbers[3];
    state.tensor("loss_sum", loss_sum_);
    state.module("model", *model_);
    state.optimizer("optimizer", *optimizer_);
    plan_.chain.state(state);
    for (size_t i = 0; i < plan_.measures.size(); ++i) {
      state.prefix = fmt::format("measure {}.", i);
      plan_.measures[i].measure->state(state);
    }
    state.prefix.clear();
  }

  void run_step(const Tensor& index) {
    const auto step = where();
    const auto batch = plan_.chain.batch(records(index), step);
    optimizer_->zero_grad();
    if (taped_)
      taped_backward(batch, step);
    else if (model_->has_closed_form())
      closed_form_backward(batch, step);
    else
      mean_loss(logits_of(batch.x), batch, step).backward();
    for (const auto& attached : plan_.measures) attached.measure->step(step, batch);
    optimizer_->step();
    if (schedule_.loss.on_sphere()) project();
  }

  Batch records(const Tensor& index) const {
    auto x = x_.defined() ? x_.index_select(0, index.to(x_.device()))
                          : as_input(split_.train.x.rows(index), schedule_.type, plan_.device);
    x = plan_.augment(x, plan_.stream.at("augmentation", static_cast<uint64_t>(step_)));
    return {index, x, y_.index_select(0, index.to(plan_.device)), {}};
  }

  Tensor logits_of(const Tensor& x) {
    const Bfloat16Products products(schedule_.bfloat16, plan_.device);
    return model_->forward(x).to(schedule_.type);
  }

  // [n] or a scalar; also counts towards the epoch's mean.
  Tensor losses(const Tensor& answers, const Batch& batch, const Step& step) {
    const auto logits = plan_.chain.logits(answers, batch, step);
    // theory.md A.6: the softmin sharpens as the step size shrinks.
    const auto sharpness = 10 * (1 + static_cast<double>(step_) / 100);
    auto each = plan_.chain.loss(schedule_.loss(logits, batch, sharpness), logits, batch, step);
    const auto n = batch.y.size(0);
    loss_sum_ += each.dim() == 0 ? each.detach() * n : each.detach().sum();
    loss_count_ += n;
    return each;
  }

  Tensor mean_loss(const Tensor& logits, const Batch& batch, const Step& step) {
    const auto each = losses(logits, batch, step);
    // Poisson sampling may draw nobody; the mean of nothing would be NaN.
    return each.dim() == 0 ? each : each.numel() == 0 ? each.sum() : each.mean();
  }

  void closed_form_backward(const Batch& batch, const Step& step) {
    Tensor logits;
    {
      const torch::NoGradGuard no_grad;
      logits = model_->forward(batch.x);
    }
    logits.requires_grad_();
    mean_loss(logits, batch, step).backward();
    model_->backward(batch.x, logits.grad());
  }

  void taped_backward(const Batch& batch, const Step& step) {
    Tape tape;
    const auto logits = logits_of(batch.x);
    // Layers of a defense's own, run by its loss, are no part of the model.
    tape.close();
    if (step_ == 0) check_tape(tape);
    const auto each = losses(logits, batch, step);
    TORCH_CHECK(each.dim() == 1,
                "a defense that works on per-record gradients cannot follow one whose loss is a "
                "single number");
    if (!plan_.chain.gradient(batch, {each, tape}, step)) each.mean().backward();
  }

  void check_tape(const Tape& tape) const {
    int64_t taped = 0;
    for (const auto& use : tape.uses)
      for (const auto& parameter : use.layer->parameters()) taped += parameter.numel();
    TORCH_CHECK(taped == parameter_count(*model_),
                "this model has layers that keep no tape, so per-record gradients are not known; "
                "build it from framework/training/layers.h");
  }

  void project() {
    const torch::NoGradGuard no_grad;
    Tensor square;
    for (const auto& p : model_->parameters())
      square = square.defined() ? square + p.square().sum() : p.square().sum();
    for (auto& p : model_->parameters()) p.div_(square.sqrt());
  }

  // The mean loss of the epoch, or of a model from elsewhere on its members.
  double mean_loss_of(Evaluation& evaluation) const {
    if (!plan_.load) return (loss_sum_ / std::max<int64_t>(loss_count_, 1)).item<double>();
    auto logits = evaluation.train_logits();
    if (schedule_.loss.one_output()) logits = logits.select(1, 1).unsqueeze(1);
    const Batch members{{}, {}, plan_.split.train.y, {}};
    return schedule_.loss(logits, members, 1).mean().item<double>();
  }

  // Records, measures, snapshots; true: a defense asks to stop.
  bool finish_epoch() {
    const auto number = epoch_ + 1;
    Evaluation evaluation(*model_, plan_.chain, plan_.split, schedule_.type, plan_.device);
    const Epoch epoch{number, schedule_.epochs, mean_loss_of(evaluation)};
    const bool stop = plan_.chain.stop(epoch);
    const auto last = stop ? number : schedule_.epochs;
    EpochRow row{number, epoch.loss, lr_, {}, {}};
    if (schedule_.evaluate(number, last)) {
      row.train_accuracy = accuracy(evaluation.train_logits(), plan_.split.train.y);
      row.test_accuracy = accuracy(evaluation.test_logits(), plan_.split.test.y);
      for (const auto& attached : plan_.measures) {
        attached.log->epoch = number;
        attached.measure->epoch(epoch, evaluation, *attached.log);
        attached.log->epoch.reset();
      }
    }
    if (plan_.snapshots.contains(number)) plan_.on_snapshot(number, *model_);
    if (schedule_.record(number, last) || row.test_accuracy) plan_.on_epoch(row);
    drawn_ = loss_count_ = 0;
    loss_sum_.zero_();
    return stop;
  }

  TrainingPlan& plan_;
  const Schedule& schedule_;
  Split split_;
  Stream defense_stream_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Tensor x_, y_, loss_sum_;
  bool taped_ = false;
  int64_t epoch_ = 0, step_ = 0;
  int64_t drawn_ = 0, loss_count_ = 0;  ///< batches and records of this epoch so far
  double lr_ = 0;
};

}  // namespace

Shape model_shape(const Split& split, const BaseLoss& loss, Chain& chain) {
  Shape shape;
  shape.input = split.train.x.shape();
  shape.outputs = loss.one_output() ? 1 : split.train.classes;
  chain.shape(shape);
  return shape;
}

std::shared_ptr<Model> train(TrainingPlan& plan) { return Trainer(plan).run(); }

}  // namespace imprint
