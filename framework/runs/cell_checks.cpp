#include "framework/runs/cell_checks.h"

namespace imprint {
namespace {

// Where records are mixed, none has a loss or a gradient of its own.
void check_beside_mixing(const Cell& cell, const Chain& chain, const std::string& mixing,
                         Problems& problems) {
  for (const auto& link : chain.links())
    if (link.about->has_hook("loss") || link.about->has_hook("gradient"))
      problems.add(cell.chain_mark,
                   fmt::format("defense '{}' mixes records, so that none has a loss or a gradient "
                               "of its own for '{}' to change; use one of the two",
                               mixing, link.about->name));
}

}  // namespace

void check_chain(const Cell& cell, const Chain& chain, Problems& problems) {
  if (!cell.schedule || !cell.data.protocol) return;
  for (const auto& link : chain.links()) {
    const auto demands = link.component->demands();
    if (demands.reference && cell.data.protocol->name != "five_way")
      problems.add(
          cell.chain_mark,
          fmt::format("defense '{}' needs reference records, which protocol {} does not have; use "
                      "data.split.protocol: five_way (for this entry alone: with: "
                      "{{data.split.protocol: five_way}})",
                      link.about->name, cell.data.protocol->name));
    const auto& sampling = cell.schedule->sampling;
    if (demands.sampling && sampling != "auto" && sampling != *demands.sampling)
      problems.add(cell.chain_mark, fmt::format("defense '{}' needs train.sampling: {}, not {}",
                                                link.about->name, *demands.sampling, sampling));
    const auto& loss = cell.schedule->loss.name();
    if (demands.loss && loss != *demands.loss)
      problems.add(cell.chain_mark, fmt::format("defense '{}' needs train.loss: {}, not {}",
                                                link.about->name, *demands.loss, loss));
    if (demands.mixes) check_beside_mixing(cell, chain, link.about->name, problems);
  }
  const auto released = chain.release();
  if (released && *released > cell.schedule->epochs)
    problems.add(cell.chain_mark,
                 fmt::format("the epoch released ({}) must not exceed train.epochs ({})", *released,
                             cell.schedule->epochs));
}

void check_attacks(const Cell& cell, const Chain& chain, const Mark& mark, Problems& problems) {
  if (!cell.data.protocol) return;
  const auto& protocol = *cell.data.protocol;
  if (cell.shadows.targets > 1 && protocol.name != "pool")
    problems.add(mark, fmt::format("only models of one pool can play the target in turn; use "
                                   "data.split.protocol: pool, not {}",
                                   protocol.name));
  for (const auto& choice : cell.attacks) {
    const auto needs = choice.attack.component->needs();
    if (needs.shadows == Needs::Shadows::pool && protocol.name != "pool")
      problems.add(choice.mark,
                   fmt::format("attack '{}' needs shadows that saw the candidates or not, which "
                               "protocol {} does not have; use data.split.protocol: pool",
                               choice.label, protocol.name));
    if (needs.shadows == Needs::Shadows::pool && protocol.tune > 0)
      problems.add(choice.mark,
                   fmt::format("attack '{}' knows nothing of a tune piece, whose records no shadow "
                               "saw; leave out data.split.tune",
                               choice.label));
    if (needs.signal == Needs::Signal::logits && chain.overrides("output"))
      problems.add(choice.mark, fmt::format("attack '{}' needs logits, and defense '{}' changes "
                                            "what a query returns: it has none",
                                            choice.label, cell.defense));
    if (needs.population && protocol.population == 0)
      problems.add(choice.mark,
                   fmt::format("attack '{}' needs records that nobody trains on; give some with "
                               "data.split.population",
                               choice.label));
    const auto needed = shadows_needed(choice, 1);
    if (cell.shadows.count < needed)
      problems.add(mark, fmt::format("attack '{}' needs at least {} shadow{}, not {}", choice.label,
                                     needed, needed == 1 ? "" : "s", cell.shadows.count));
  }
}

void check_tune(const Cell& cell, const Mark& mark, Problems& problems) {
  if (cell.data.protocol && cell.data.protocol->tune == 0)
    problems.add(mark,
                 "tune chooses on records that are in no other piece; give some with "
                 "data.split.tune");
}

}  // namespace imprint
