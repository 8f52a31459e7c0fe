#include "framework/training/measure.h"

namespace imprint {

template <>
MeasureRegistry& MeasureRegistry::instance() {
  static MeasureRegistry registry;
  return registry;
}

}  // namespace imprint
