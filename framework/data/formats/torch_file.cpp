#include "framework/data/formats/torch_file.h"

#include <fmt/format.h>

#include "framework/data/formats/elements.h"
#include "framework/data/formats/pickle.h"
#include "framework/data/formats/torch_storages.h"
#include "framework/data/formats/zip.h"

namespace imprint {
namespace {

using TorchKind = PickleValue::Kind;

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";
constexpr uint64_t kLongestPickle = uint64_t{1} << 28;

/// How files of PyTorch before 1.6 start: a pickle of protocol 2 of its magic number.
constexpr std::string_view kLegacyStart("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
                                        14);

bool is_legacy(const InputFile& file) {
  return file.size() >= kLegacyStart.size() && file.text(0, kLegacyStart.size()) == kLegacyStart;
}

bool is_zip(const InputFile& file) {
  if (file.size() < 4) return false;
  const auto start = file.text(0, 4);
  return start == "PK\x03\x04" || start == "PK\x05\x06";
}

std::vector<int64_t> integers(const PickleValue& tuple) {
  std::vector<int64_t> values;
  for (const auto* const item : tuple.items) values.push_back(item->integer);
  return values;
}

bool is_integers(const PickleValue& value) {
  if (!value.is(TorchKind::tuple)) return false;
  return std::all_of(value.items.begin(), value.items.end(),
                     [](const auto* item) { return item->is(TorchKind::integer); });
}

/// Whether elements from `offset` on, laid out so, all lie among the first `elements`.
bool lies_within(int64_t offset, const std::vector<int64_t>& sizes,
                 const std::vector<int64_t>& strides, int64_t elements) {
  if (offset < 0 || sizes.size() != strides.size()) return false;
  int64_t last = offset;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = 0;
    if (strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
    empty = empty || sizes[i] == 0;
  }
  return empty ? offset <= elements : last < elements;
}

/// One file: its archive, and the storages of its tensors as they are needed.
class TorchArchive {
 public:
  explicit TorchArchive(const std::filesystem::path& file) : zip_(file), root_(find_root()) {
    const auto order =
        zip_.has(root_ + "byteorder") ? zip_.text(root_ + "byteorder", 16) : "little";
    if (order != "little" && order != "big")
      refuse(fmt::format("damaged: its byte order is '{}'", order));
    big_endian_ = order == "big";
  }

  std::map<std::string, Tensor> tensors() {
    const Pickle pickle(zip_.text(root_ + "data.pkl", kLongestPickle), zip_.file().path().string());
    for (const auto& name : pickle.globals()) check_global(name);
    const auto* dict = &pickle.top();
    for (const auto* const wrapper : {"state_dict", "model"})
      if (const auto* const inner = dict->find(wrapper); inner != nullptr && is_dict(*inner)) {
        dict = inner;
        break;
      }
    if (!is_dict(*dict)) refuse("holds no dict of tensors; save model.state_dict()");
    std::map<std::string, Tensor> tensors;
    for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
      name_ = dict->items[i]->text;
      const auto* const value = dict->items[i + 1];
      if (dict->items[i]->is(TorchKind::text) && is_tensor(*value)) tensors[name_] = tensor(*value);
    }
    if (tensors.empty()) refuse("holds no tensors; save model.state_dict()");
    return tensors;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { zip_.file().refuse(why); }
  [[noreturn]] void refuse_tensor(const std::string& why) const {
    refuse(fmt::format("damaged: tensor '{}' {}", name_, why));
  }

  std::string find_root() const {
    constexpr std::string_view end = "/data.pkl";
    for (const auto& [name, member] : zip_.members())
      if (name.ends_with(end) && name.find('/') == name.size() - end.size())
        return name.substr(0, name.size() - end.size() + 1);
    refuse("is a zip file, but no PyTorch file: it has no data.pkl");
  }

  void check_global(const std::string& name) const {
    if (name == kOrderedDict || name == kRebuildTensor || name == kRebuildParameter ||
        torch_storage_type(name))
      return;
    refuse(fmt::format(
        "uses '{}', which plain weights do not need and which is not run; save model.state_dict()",
        name));
  }

  static bool is_dict(const PickleValue& value) {
    return value.is(TorchKind::dict) || value.is_call(kOrderedDict);
  }
  static bool is_tensor(const PickleValue& value) {
    return value.is_call(kRebuildTensor) || value.is_call(kRebuildParameter);
  }

  /// From the call that Python would make: rebuild_parameter(tensor, ...), or
  /// rebuild_tensor(storage, offset, sizes, strides, ...).
  Tensor tensor(const PickleValue& call) {
    const auto& arguments = call.argument->items;
    if (call.is_call(kRebuildParameter)) {
      if (arguments.empty() || !arguments[0]->is_call(kRebuildTensor))
        refuse_tensor("is a parameter without a tensor");
      return tensor(*arguments[0]);
    }
    if (arguments.size() < 4 || !arguments[0]->is(TorchKind::persistent) ||
        !arguments[1]->is(TorchKind::integer) || !is_integers(*arguments[2]) ||
        !is_integers(*arguments[3]))
      refuse_tensor("is not described as PyTorch does");
    const auto& elements = storage(*arguments[0]->argument);
    const auto offset = arguments[1]->integer;
    const auto sizes = integers(*arguments[2]), strides = integers(*arguments[3]);
    const auto count = element_count(sizes);
    if (!count || !lies_within(offset, sizes, strides, elements.numel()))
      refuse_tensor("reaches outside its storage");
    if (*count > static_cast<uint64_t>(elements.numel()))
      refuse(fmt::format("tensor '{}' is larger than its storage; save it after .contiguous()",
                         name_));
    return elements.as_strided(sizes, strides, offset);
  }

  /// The elements that ("storage", class, key, device, count) names, read once.
  const Tensor& storage(const PickleValue& id) {
    const auto& parts = id.items;
    if (!id.is(TorchKind::tuple) || parts.size() < 5 || !parts[0]->reads("storage") ||
        !parts[1]->is(TorchKind::global) || !parts[2]->is(TorchKind::text) ||
        !parts[4]->is(TorchKind::integer))
      refuse_tensor("has a storage that is not described as PyTorch does");
    const auto type = torch_storage_type(parts[1]->text);
    if (!type) refuse_tensor("has a storage of an unknown class");
    const std::string key(parts[2]->text);
    if (const auto found = storages_.find(key); found != storages_.end()) {
      if (found->second.scalar_type() != *type) refuse_tensor("gives its storage another type");
      return found->second;
    }
    ZipStream stream(zip_, fmt::format("{}data/{}", root_, key));
    const auto count = element_count({parts[4]->integer});
    if (!count || *count * c10::elementSize(*type) != stream.left())
      refuse_tensor(fmt::format("has a storage of {} bytes, which is not {} elements",
                                stream.left(), parts[4]->integer));
    auto elements = torch::empty({parts[4]->integer}, *type);
    stream.read(elements.mutable_data_ptr(), elements.nbytes());
    settle_elements(elements, big_endian_);
    return storages_.emplace(key, elements).first->second;
  }

  ZipReader zip_;
  std::string root_;
  bool big_endian_ = false;
  std::map<std::string, Tensor> storages_;
  std::string name_;  ///< of the tensor being read, for messages
};

}  // namespace

bool looks_like_torch_file(const std::filesystem::path& file) {
  const InputFile input(file);
  return is_zip(input) || is_legacy(input);
}

std::map<std::string, Tensor> read_torch_file(const std::filesystem::path& file) {
  const InputFile input(file);
  if (is_legacy(input))
    input.refuse(
        "is in PyTorch's format before 1.6; convert it in Python: "
        "torch.save(torch.load(path, weights_only=True), path)");
  return TorchArchive(file).tensors();
}

}  // namespace imprint
