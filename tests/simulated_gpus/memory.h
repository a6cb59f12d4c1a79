// The memory of simulated GPUs: blocks of the host's memory, and tensors over them.
#pragma once

#include "streams.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace simulated {

constexpr int kMostDevices = 16;
constexpr int kStreams = 32;    // per device; torch hands them out in rotation
constexpr int kGarbage = 0xFF;  // each byte of memory never written to: NaN, or -1

int num_devices = 0;
size_t device_bytes = 0;
size_t used[kMostDevices], peak[kMostDevices];
bool has_context[kMostDevices];
std::set<std::pair<int, std::string>> loaded;     // kernels: CUDA loads each on its first call
std::map<int64_t, std::unique_ptr<Block>> pools;  // of graphs: memory that their replays share
std::map<const char*, size_t> pinned;
std::map<std::pair<int, int>, int> crossed;  // copies from one device to another

thread_local int current = 0;
thread_local int64_t current_stream[kMostDevices];

inline std::string on(int device) { return "cuda:" + std::to_string(device); }

Lane lane_of(int device) { return {device, current_stream[device]}; }

void touch(int device) {
  TORCH_CHECK(device >= 0 && device < num_devices, "CUDA error: invalid device ordinal");
  if (has_context[device]) return;
  has_context[device] = true;
  note("context", on(device));
}

// Memory

void free_block(void* context) {
  auto* block = static_cast<Block*>(context);
  Locked locked;
  if (!block->graph) give_back(*block);
  used[block->device] -= block->bytes;
  delete block;
}

void check_room(int device, size_t bytes) {
  TORCH_CHECK_WITH(OutOfMemoryError, used[device] + bytes <= device_bytes,
                   "CUDA out of memory. Tried to allocate ", bytes / 1048576.0, " MiB. GPU ",
                   device, " has a total capacity of ", device_bytes / 1048576.0, " MiB of which ",
                   (device_bytes - used[device]) / 1048576.0, " MiB is free.");
}

c10::DataPtr take(int device, size_t bytes, c10::Storage owner) {
  touch(device);
  Locked locked;
  check_room(device, bytes);
  used[device] += bytes;
  peak[device] = std::max(peak[device], used[device]);
  auto* block = new Block(device, bytes, lane_of(device));
  block->owner = std::move(owner);
  if (capturing(block->made_on))
    block->graph = capture->id;
  else
    check_reused(block->made_on);
  void* data = const_cast<void*>(block->owner.data());
  return {data, block, &free_block, c10::Device(c10::kCUDA, device)};
}

c10::Storage cpu_storage(size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, c10::GetCPUAllocator(), true);
}

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    check_room(current, bytes);
    auto owner = cpu_storage(bytes);
    if (bytes) std::memset(owner.mutable_data(), kGarbage, bytes);
    return take(current, bytes, owner);
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

DeviceAllocator device_allocator;

void unpin(void* data) {
  Locked locked;
  pinned.erase(static_cast<char*>(data));
  std::free(data);
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    Locked locked;
    auto* data = static_cast<char*>(std::malloc(std::max<size_t>(bytes, 1)));
    pinned[data] = bytes;
    return {data, data, &unpin, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

PinnedAllocator pinned_allocator;

bool is_pinned(const void* data) {
  Locked locked;
  auto after = pinned.upper_bound(static_cast<const char*>(data));
  if (after == pinned.begin()) return false;
  auto [begin, bytes] = *std::prev(after);
  return data < begin + bytes;
}

Block* block_of(const at::Tensor& tensor) {
  return static_cast<Block*>(tensor.storage().data_ptr().get_context());
}

at::Tensor over(const c10::Storage& storage, c10::DispatchKey key, const at::Tensor& like) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage),
                                                       c10::DispatchKeySet(key), like.dtype());
  auto* impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return made;
}

// Maps the tensors of a call to CPU tensors over the same memory, and back.
struct Aliases {
  int device = -1;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs;  // on the device, on the CPU
  std::vector<std::pair<c10::Storage, c10::Storage>> storages;

  at::Tensor of(const at::Tensor& tensor) {
    c10::Storage memory;
    for (auto& [original, alias] : storages)
      if (original.is_alias_of(tensor.storage())) memory = alias;
    if (!memory) {
      const auto& own = tensor.storage();
      c10::DataPtr data(const_cast<void*>(own.data()), c10::Device(c10::kCPU));
      memory = c10::Storage(c10::Storage::use_byte_size_t(), own.nbytes(), std::move(data),
                            c10::GetCPUAllocator(), true);
      storages.emplace_back(own, memory);
    }
    auto alias = over(memory, c10::DispatchKey::CPU, tensor);
    pairs.emplace_back(tensor, alias);
    return alias;
  }

  // A kernel may have resized or reallocated an `out`.
  void take_over_sizes() {
    for (auto& [tensor, alias] : pairs) {
      auto& memory = alias.storage();
      if (memory.data() != tensor.storage().data()) {
        auto* own = tensor.storage().unsafeGetStorageImpl();
        own->set_data_ptr_noswap(take(device, memory.nbytes(), memory));
        own->set_nbytes(memory.nbytes());
      }
      if (alias.sizes() != tensor.sizes() || alias.strides() != tensor.strides())
        tensor.unsafeGetTensorImpl()->set_sizes_and_strides(alias.sizes(), alias.strides());
    }
  }

  at::Tensor back(const at::Tensor& result) {
    if (!result.defined()) return result;
    for (auto& [tensor, alias] : pairs)
      if (alias.is_same(result)) return tensor;
    for (auto& [original, alias] : storages)
      if (alias.is_alias_of(result.storage()))
        return over(original, c10::DispatchKey::CUDA, result);
    size_t bytes = result.storage().nbytes();
    c10::Storage storage(c10::Storage::use_byte_size_t(), bytes,
                         take(device, bytes, result.storage()), &device_allocator, true);
    return over(storage, c10::DispatchKey::CUDA, result);
  }
};

}  // namespace simulated
