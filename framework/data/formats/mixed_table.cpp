#include "framework/data/formats/mixed_table.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "framework/data/formats/mixed_layout.h"

namespace imprint {
namespace {

/// The records of a table, written one after the other.
class MixedRecords {
 public:
  explicit MixedRecords(const MixedLayout& layout)
      : layout_(layout),
        binary_(layout.binary()),
        length_(binary_ ? (layout.features() + 7) / 8 : layout.features()),
        x_(torch::zeros({layout.records(), length_}, binary_ ? torch::kUInt8 : torch::kFloat)),
        y_(torch::zeros({layout.records()}, torch::kLong)),
        bits_(binary_ ? x_.mutable_data_ptr<uint8_t>() : nullptr),
        numbers_(binary_ ? nullptr : x_.mutable_data_ptr<float>()),
        labels_(y_.mutable_data_ptr<int64_t>()) {}

  void add(const TableRow& row, const MixedCells& cells) {
    if (record_ == layout_.records()) layout_.refuse("changed while it was read");
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto& column = layout_.columns()[i];
      if (column.role == MixedColumn::Role::label)
        labels_[record_] = code(column, cells[i]);
      else if (column.role == MixedColumn::Role::feature && column.words)
        put(column.offset + code(column, cells[i]), 1);
      else if (column.role == MixedColumn::Role::feature)
        put(column.offset, number(column, row, cells[i]));
    }
    ++record_;
  }

  Dataset finish() {
    if (record_ != layout_.records()) layout_.refuse("changed while it was read");
    return {binary_ ? Records::bits(x_, layout_.features()) : Records(x_), y_, layout_.classes()};
  }

 private:
  void put(int64_t feature, float value) {
    if (!binary_) {
      numbers_[record_ * length_ + feature] = value;
    } else if (value != 0) {
      auto& byte = bits_[record_ * length_ + feature / 8];
      byte = static_cast<uint8_t>(byte | 1 << (feature & 7));
    }
  }

  int64_t code(const MixedColumn& column, const TableCell& cell) const {
    const auto found = column.codes.find(column.code_name(cell.text));
    if (found == column.codes.end()) layout_.refuse("changed while it was read");
    return found->second;
  }

  float number(const MixedColumn& column, const TableRow& row, const TableCell& cell) const {
    if (is_missing(cell.text)) {
      if (layout_.table().missing != "mean") return 0;
      return static_cast<float>(column.sum / static_cast<double>(column.numbers));
    }
    const auto value = number_in(cell.text);
    if (!value || std::abs(*value) > std::numeric_limits<float>::max())
      row.refuse(cell, fmt::format("{} is no number that float32 can hold", excerpt(cell.text)));
    return static_cast<float>(*value);
  }

  const MixedLayout& layout_;
  bool binary_;
  int64_t length_;
  Tensor x_, y_;
  uint8_t* bits_;
  float* numbers_;
  int64_t* labels_;
  int64_t record_ = 0;
};

}  // namespace

Dataset read_mixed_table(const MixedTable& table) {
  const MixedLayout layout(table);
  MixedRecords records(layout);
  layout.walk([&](const TableRow& row, const MixedCells& cells) { records.add(row, cells); });
  return records.finish();
}

}  // namespace imprint
