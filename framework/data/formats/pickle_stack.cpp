#include <algorithm>

#include "framework/data/formats/pickle_machine.h"

namespace imprint {
namespace {

constexpr int kDeepestPickle = 100;

/// The values within a value: its items, then three more, which may be null.
size_t children(const PickleValue& value) { return value.items.size() + 3; }

const PickleValue* child(const PickleValue& value, size_t index) {
  if (index < value.items.size()) return value.items[index];
  index -= value.items.size();
  return index == 0 ? value.callable : index == 1 ? value.argument : value.state;
}

}  // namespace

PickleValue* PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("lacks a value");
  return stack_.back();
}

PickleValue* PickleMachine::pop() {
  auto* const value = top();
  stack_.pop_back();
  return value;
}

PickleMachine::Items PickleMachine::pop_mark() {
  if (marks_.empty()) refuse("lacks a mark");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  Items values(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return values;
}

void PickleMachine::pop_value_or_mark() {
  if (!marks_.empty() && marks_.back() == stack_.size())
    marks_.pop_back();
  else
    pop();
}

void PickleMachine::add_items(const Items& items) {
  auto* const target = top();
  if (!target->is(Kind::list)) refuse("adds items to what is no list");
  target->items.insert(target->items.end(), items.begin(), items.end());
}

void PickleMachine::add_pairs(const Items& items) {
  auto* const target = top();
  if (!target->is(Kind::dict) && !target->is(Kind::object)) refuse("adds items to what is no dict");
  if (items.size() % 2 != 0) refuse("has a key without a value");
  target->items.insert(target->items.end(), items.begin(), items.end());
}

void PickleMachine::set_state() {
  const auto* const state = pop();
  if (!top()->is(Kind::object)) refuse("gives a state to what is no object");
  top()->state = state;
}

void PickleMachine::recall(uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) refuse("recalls what it has not remembered");
  stack_.push_back(found->second);
}

void PickleMachine::check_depth() const {
  constexpr int unseen = 0, open = -1;
  std::vector<int> depth(pickle_.values_.size(), unseen);
  const auto depth_of = [&](const PickleValue* value) -> int& { return depth[value->place]; };
  std::vector<std::pair<const PickleValue*, size_t>> path{{pickle_.top_, 0}};
  depth_of(pickle_.top_) = open;
  while (!path.empty()) {
    auto& [value, next] = path.back();
    if (next < children(*value)) {
      const auto* const inner = child(*value, next++);
      if (inner == nullptr) continue;
      if (depth_of(inner) == open) refuse("has a value that contains itself");
      if (depth_of(inner) != unseen) continue;
      depth_of(inner) = open;
      path.emplace_back(inner, 0);
      continue;
    }
    int deepest = 0;
    for (size_t i = 0; i < next; ++i)
      if (const auto* const inner = child(*value, i)) deepest = std::max(deepest, depth_of(inner));
    if (deepest == kDeepestPickle) refuse("is nested too deep");
    depth_of(value) = deepest + 1;
    path.pop_back();
  }
}

}  // namespace imprint
