#pragma once

namespace rdmalab {

/// For products of two 64-bit quantities before they are divided again.
__extension__ using Wide = unsigned __int128;

} // namespace rdmalab
