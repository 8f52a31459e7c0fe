#pragma once

namespace imprint {

/// Prints the seconds of attacks' inner work as a line of JSON: the threshold search on 30,000
/// records of 100 classes; the neural attack's training on 10,000 records of 100 classes; gradient
/// norms per record of the CCL paper's network; RMIA of 10,000 candidates against 10,000 strangers
/// with 16 shadows; HopSkipJump per record.
void attacks();

}  // namespace imprint
