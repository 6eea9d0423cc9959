// Where things are: device addresses, the bytes behind them, and the windows of generic addresses.

#pragma once

#include <cstddef>
#include <cstdint>

using Address = std::uint64_t;

// Device addresses have a range of their own, and so have their bytes: what a kernel or a copy reads at BASE + n is at
// STORE + n. The host may touch the first range only where memory is pinned or managed, as on hardware.
constexpr Address BASE = 0x200000000000;
constexpr std::size_t DEVICE_BYTES = std::size_t{1} << 33;
constexpr int MOST_DEVICES = 8;
constexpr std::size_t BYTES = DEVICE_BYTES * MOST_DEVICES;
constexpr Address STORE = BASE + BYTES;

// For each granule of device addresses, how many of its first bytes are allocated; one entry more, of none.
constexpr int GRANULE_SHIFT = 9;
constexpr std::size_t GRANULE = std::size_t{1} << GRANULE_SHIFT;
constexpr std::size_t GRANULES = BYTES / GRANULE;
constexpr Address TABLE = STORE + BYTES;

// For each byte whether it was ever written, where that is asked for.
constexpr Address WRITTEN = TABLE + BYTES;

// Generic addresses of a block's shared memory, and of a launch's parameters.
constexpr Address SHARED_WINDOW = 0x100000000;
constexpr std::size_t SHARED_MOST = 227 << 10;
constexpr Address PARAM_WINDOW = 0x180000000;
constexpr std::size_t PARAM_MOST = 32764;

inline bool is_device_address(Address place) {
    return place - BASE < BYTES;
}

// The bytes at an address, of a device or of the host.
inline char* bytes_at(Address place) {
    return reinterpret_cast<char*>(is_device_address(place) ? place - BASE + STORE : place);
}
