// CUDA devices without a GPU: kernels for torch's CUDA key that compute on the processor.
//
// torch's build for processors dispatches operators to CUDA as any build does, and has no kernels
// there. One boxed kernel serves nearly all of them: it looks at the devices of the arguments, calls
// the operator's CPU kernel on the same memory, and says that what comes out lies on the device.
#include "streams.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>
#include <torch/csrc/profiler/stubs/base.h>
#include <torch/library.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace simulated {

constexpr int kMostDevices = 16;
constexpr int kStreams = 32;  // of a device, which torch hands out in turns
constexpr int kGarbage = 0xFF;  // bytes of memory that nobody has written to: NaN, or -1

int num_devices = 0;
size_t device_bytes = 0;
size_t used[kMostDevices], peak[kMostDevices];
bool has_context[kMostDevices];
std::set<std::pair<int, std::string>> loaded;  // kernels, which CUDA loads at their first call
std::map<int64_t, std::unique_ptr<Block>> pools;  // of graphs: memory that their replays share
std::map<const char*, size_t> pinned;
std::map<std::pair<int, int>, int> crossed;  // copies, from one device to another

thread_local int current = 0;
thread_local int64_t current_stream[kMostDevices];

std::string on(int device) { return "cuda:" + std::to_string(device); }

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
  TORCH_CHECK_WITH(
      OutOfMemoryError, used[device] + bytes <= device_bytes, "CUDA out of memory. Tried to allocate ",
      bytes / 1048576.0, " MiB. GPU ", device, " has a total capacity of ", device_bytes / 1048576.0,
      " MiB of which ", (device_bytes - used[device]) / 1048576.0, " MiB is free.");
}

c10::DataPtr take(int device, size_t bytes, c10::Storage owner) {
  touch(device);
  Locked locked;
  check_room(device, bytes);
  used[device] += bytes;
  peak[device] = std::max(peak[device], used[device]);
  auto* block = new Block(device, bytes, lane_of(device));
  block->owner = std::move(owner);
  if (capturing(block->made_on)) block->graph = capture->id;
  else check_reused(block->made_on);
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
  auto made = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
  auto* impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return made;
}

// The tensors of a call, as CPU tensors over the same memory, and back.
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
      memory = c10::Storage(
          c10::Storage::use_byte_size_t(), own.nbytes(), std::move(data), c10::GetCPUAllocator(), true);
      storages.emplace_back(own, memory);
    }
    auto alias = over(memory, c10::DispatchKey::CPU, tensor);
    pairs.emplace_back(tensor, alias);
    return alias;
  }

  // A kernel may have given an `out` other sizes, or other memory.
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
    c10::Storage storage(
        c10::Storage::use_byte_size_t(), bytes, take(device, bytes, result.storage()),
        &device_allocator, true);
    return over(storage, c10::DispatchKey::CUDA, result);
  }
};

// Work of a stream

using Tensors = std::vector<at::Tensor>;

// Have memory from outside a capture put back at its end, and looked for at each replay.
void remember(const Tensors& tensors, bool written) {
  for (const auto& tensor : tensors) {
    auto* block = block_of(tensor);
    auto* storage = tensor.storage().unsafeGetStorageImpl();
    if (block->graph == capture->id) continue;
    capture->outside.emplace(
        storage, c10::weak_intrusive_ptr<c10::StorageImpl>(tensor.storage().getWeakStorageImpl()));
    if (!written || !capture->outside_written.insert(storage).second) continue;
    auto bytes = at::from_blob(storage->mutable_data(), (int64_t)storage->nbytes(), at::kByte);
    capture->before.emplace(block, bytes.clone());
  }
}

// Do work on a device's current stream: now, and in a capture again at each replay.
void perform(
    int device, const std::string& name, const Tensors& reads, const Tensors& writes,
    const std::function<void()>& work) {
  touch(device);
  Locked locked;
  Task task{lane_of(device), name, {}, {}};
  if (loaded.emplace(device, name).second) note("first", name + " on " + on(device));
  if (capturing(task.lane)) {
    remember(reads, false);
    remember(writes, true);
    capture->tasks.push_back(work);
  } else {
    for (auto& tensor : reads) task.reads.push_back(block_of(tensor));
    for (auto& tensor : writes) task.writes.push_back(block_of(tensor));
    begin(task);
  }
}

void wait_for_stream(int device) { host_waits(reached(lane_of(device))); }

void made_in_capture(const at::Tensor& tensor) {
  if (capture && tensor.defined() && tensor.is_cuda() && block_of(tensor)->graph == capture->id)
    capture->kept.push_back(tensor.storage());
}

struct GeneratorOf final : c10::GeneratorImpl {
  explicit GeneratorOf(int device, at::Generator inner)
      : c10::GeneratorImpl(c10::Device(c10::kCUDA, device), c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        inner(std::move(inner)) {}
  at::Generator inner;
  uint64_t given = 0;
  void set_current_seed(uint64_t seed) override {  // a GPU's numbers are others than a CPU's
    given = seed;
    inner.set_current_seed(~seed);
  }
  void set_offset(uint64_t offset) override { inner.set_offset(offset); }
  uint64_t get_offset() const override { return 0; }
  uint64_t current_seed() const override { return given; }
  uint64_t seed() override { return inner.seed(); }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return inner.unsafeGetGeneratorImpl()->get_state();
  }
  GeneratorOf* clone_impl() const override { return new GeneratorOf(device().index(), inner.clone()); }
};

at::Generator& default_generator(int device) {
  static at::Generator made[kMostDevices];
  if (!made[device].defined())
    made[device] = at::make_generator<GeneratorOf>(device, at::detail::createCPUGenerator());
  return made[device];
}

// What waits for the device, since its result's size or value is needed by the host.
const std::set<std::string> kWaiting{
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal",
    "aten::_unique2", "aten::unique_consecutive", "aten::unique_dim", "aten::bincount"};
const std::set<std::string> kTakesIndices{
    "aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index"};

void collect(const c10::IValue& value, Tensors& tensors) {
  if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
  if (value.isList())
    for (const c10::IValue& each : value.toListRef()) collect(each, tensors);
}

void check_devices(const std::string& name, const Tensors& tensors, int& device) {
  for (const auto& tensor : tensors)
    if (tensor.is_cuda()) {
      if (device < 0) device = tensor.get_device();
      TORCH_CHECK(
          device == tensor.get_device(), "Expected all tensors to be on the same device, but found at"
          " least two devices, ", on(device), " and ", on(tensor.get_device()), "! (", name, ")");
    }
  for (const auto& tensor : tensors)
    TORCH_CHECK(
        tensor.is_cuda() || tensor.dim() == 0 || kTakesIndices.count(name),
        "Expected all tensors to be on the same device, but found at least two devices, ", on(device),
        " and ", tensor.device(), "! (", name, ")");
}

// The value with each of its tensors replaced by what `of` returns.
template <typename F>
c10::IValue mapped(const c10::IValue& value, F of) {
  if (value.isTensor()) return value.toTensor().defined() ? of(value.toTensor()) : value;
  if (!value.isList()) return value;
  auto list = value.toList().copy();
  for (size_t i = 0; i < list.size(); ++i) list.set(i, mapped(list.get(i), of));
  return list;
}

c10::IValue own_generator(const c10::IValue& value, int device) {
  auto given = value.isNone() ? default_generator(device) : value.toGenerator();
  TORCH_CHECK(
      given.device() == c10::Device(c10::kCUDA, device), "Expected a '", on(device),
      "' device type for generator but found '", given.device(), "'");
  return static_cast<GeneratorOf*>(given.unsafeGetGeneratorImpl())->inner;
}

bool takes_generator(const c10::Argument& argument) {
  return argument.type()->str().find("Generator") == 0;
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  at::AutoDispatchBelowADInplaceOrView below;
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
}

void any_operator(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const std::string& name = schema.name();
  size_t count = schema.arguments().size();
  Tensors reads, writes, all;
  for (size_t i = 0; i < count; ++i) {
    const auto& value = torch::jit::peek(*stack, i, count);
    const auto* info = schema.arguments()[i].alias_info();
    collect(value, info && info->isWrite() ? writes : reads);
    collect(value, all);
  }
  Aliases aliases;
  check_devices(name, all, aliases.device);
  TORCH_CHECK(aliases.device >= 0, "no simulated kernel for ", name, " without a tensor");
  auto of = [&](const at::Tensor& tensor) { return tensor.is_cuda() ? aliases.of(tensor) : tensor; };
  torch::jit::Stack arguments;
  for (size_t i = 0; i < count; ++i) {
    const auto& value = torch::jit::peek(*stack, i, count);
    bool generator = takes_generator(schema.arguments()[i]);
    arguments.push_back(generator ? own_generator(value, aliases.device) : mapped(value, of));
  }
  torch::jit::drop(*stack, count);
  auto off_device = [](const at::Tensor& tensor) { return !tensor.is_cuda(); };
  reads.erase(std::remove_if(reads.begin(), reads.end(), off_device), reads.end());

  torch::jit::Stack results = arguments;  // what the kernel pops, and pushes
  auto outputs = std::make_shared<Tensors>();
  perform(aliases.device, name, reads, writes, [=] {
    torch::jit::Stack again = arguments;
    on_cpu(op, again);
    Tensors made;
    for (const auto& value : again) collect(value, made);
    for (size_t i = 0; i < made.size(); ++i)
      if (!made[i].is_same((*outputs)[i])) (*outputs)[i].copy_(made[i]);
  });
  if (kWaiting.count(name)) {
    Locked locked;
    wait_for_stream(aliases.device);
  }
  on_cpu(op, results);
  for (const auto& value : results) collect(value, *outputs);
  aliases.take_over_sizes();
  for (const auto& value : results)
    stack->push_back(mapped(value, [&](const at::Tensor& result) {
      auto tensor = aliases.back(result);
      made_in_capture(tensor);
      return tensor;
    }));
}

// Operators that have no CPU kernel to call on the same memory

struct OnDevice {  // the current device while it lives
  explicit OnDevice(int device) : before(current) { current = device; }
  ~OnDevice() { current = before; }
  int before;
};

at::Tensor made(at::Tensor tensor) {
  Locked locked;
  made_in_capture(tensor);
  return tensor;
}

int index_of(std::optional<at::Device> device) {
  return device && device->has_index() ? device->index() : current;
}

at::Tensor empty(
    c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
    std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  OnDevice there(index_of(device));
  return made(at::detail::empty_generic(
      C10_AS_INTARRAYREF_SLOW(size), &device_allocator, c10::DispatchKeySet(c10::DispatchKey::CUDA),
      c10::dtype_or_default(dtype), format));
}

at::Tensor empty_strided(
    c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  OnDevice there(index_of(device));
  return made(at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), &device_allocator,
      c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::dtype_or_default(dtype)));
}

const at::Tensor& resize_(
    const at::Tensor& self, c10::SymIntArrayRef size, std::optional<at::MemoryFormat> format) {
  OnDevice there(self.get_device());
  return at::native::resize_(self, C10_AS_INTARRAYREF_SLOW(size), format);
}

at::Tensor as_strided(
    const at::Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
    std::optional<c10::SymInt> offset) {
  auto at = offset ? std::optional(offset->guard_int(__FILE__, __LINE__)) : std::nullopt;
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), at);
}

at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

at::Tensor reshape_alias(
    const at::Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

void record_stream(at::Tensor& self, at::Stream stream) {
  Locked locked;
  block_of(self)->recorded.insert({stream.device_index(), stream.id()});
}

void between_devices(const at::Tensor& self, const at::Tensor& src) {
  // the copy runs on the source's stream, which waits for the target's, which goes on after it
  Lane from = lane_of(src.get_device()), to = lane_of(self.get_device());
  Locked locked;
  if (self.get_device() != src.get_device()) ++crossed[{src.get_device(), self.get_device()}];
  bool crosses = from != to;
  if (crosses) stream_waits(from, reached(to));
  Aliases aliases;
  at::Tensor target = aliases.of(self), source = aliases.of(src);
  auto work = [=]() mutable { target.copy_(source); };
  perform(src.get_device(), "aten::copy_", {src}, {self}, work);
  work();
  if (crosses) stream_waits(to, reached(from));
}

void to_device(const at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  int device = self.get_device();
  Locked locked;
  bool waits = !(non_blocking && is_pinned(src.const_data_ptr()));
  TORCH_CHECK(
      !(waits && capturing(lane_of(device))), "CUDA error: operation not permitted when stream is capturing");
  Aliases aliases;
  at::Tensor target = aliases.of(self);
  auto work = [=]() mutable { target.copy_(src); };
  perform(device, "aten::copy_", {}, {self}, work);
  work();
  if (waits) {
    wait_for_stream(device);
  } else if (!capture) {  // the host must leave the source as it is for now
    Lane lane = lane_of(device);
    late.push_back({lane, asked[lane], [given = src.clone(), src] {
      if (!at::equal(given, src)) note("race", "pinned memory changed while it was copied to a GPU");
    }});
  }
}

void to_host(const at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  int device = src.get_device();
  Locked locked;
  Lane lane = lane_of(device);
  bool waits = !(non_blocking && is_pinned(self.const_data_ptr()));
  TORCH_CHECK(
      !(waits && capturing(lane)), "CUDA error: operation not permitted when stream is capturing");
  Aliases aliases;
  at::Tensor source = aliases.of(src), target = self;
  auto work = [=]() mutable { target.copy_(source); };
  perform(device, "aten::copy_", {src}, {}, work);
  if (waits) {
    wait_for_stream(device);
    work();
  } else if (!capture) {
    at::Tensor value = at::empty_like(self).copy_(source);
    late.push_back({lane, asked[lane], [target, value]() mutable { target.copy_(value); }});
    if (self.is_contiguous()) std::memset(self.mutable_data_ptr(), kGarbage, self.nbytes());
  }
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  if (self.is_same(src) || self.numel() == 0) return self;
  at::NoGradGuard no_grad;
  if (self.is_cuda() && src.is_cuda()) between_devices(self, src);
  else if (self.is_cuda()) to_device(self, src, non_blocking);
  else to_host(self, src, non_blocking);
  return self;
}

TORCH_LIBRARY_IMPL(_, CUDA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("resize_", resize_);
  m.impl("as_strided", as_strided);
  m.impl("view", view);
  m.impl("_reshape_alias", reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("set_.source_Storage", static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  m.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("record_stream", record_stream);
  m.impl("copy_", copy_);
  // these choose a library by the device, before any kernel is called
  for (const char* name : {"convolution", "convolution_backward", "convolution_overrideable"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

// NCCL: gloo, on the same memory

void register_collectives() {
  struct Silent : c10::WarningHandler {  // that torch's own kernels, which want NCCL, are overridden
    void process(const c10::Warning&) override {}
  } silent;
  c10::WarningUtils::WarningHandlerGuard guard(&silent);
  static torch::Library m(torch::Library::IMPL, "c10d", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  for (const char* name :
       {"send", "recv_", "recv_any_source_", "broadcast_", "reduce_", "allreduce_",
        "allreduce_coalesced_", "allgather_", "_allgather_base_", "allgather_coalesced_",
        "allgather_into_tensor_coalesced_", "reduce_scatter_", "_reduce_scatter_base_",
        "reduce_scatter_tensor_coalesced_", "gather_", "scatter_", "alltoall_", "alltoall_base_",
        "barrier"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

// Devices, streams and events, as torch asks for them

struct Event {
  Clock clock;
  bool timing = false;
  double at = 0;
  bool asked_for = false;  // by `query`, which must not be asked in vain forever
  std::shared_ptr<Graph> graph;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_done(const Clock& clock) {
  for (const auto& [lane, count] : clock)
    if (host[lane] < count) return false;
  return true;
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    auto before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return c10::Device(c10::kCUDA, current); }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < num_devices, "CUDA error: invalid device ordinal");
    current = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::Stream stream(int device, int64_t id) const {
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kCUDA, device), id);
  }
  c10::Stream getStream(c10::Device device) const override {
    int index = device.has_index() ? device.index() : current;
    return stream(index, current_stream[index]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device.index(), 0); }
  c10::Stream getNewStream(c10::Device device, int) const override {
    static int64_t handed_out[kMostDevices];
    int index = device.has_index() ? device.index() : current;
    touch(index);
    Locked locked;
    return stream(index, 1 + handed_out[index]++ % kStreams);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    auto before = getStream(stream.device());
    current_stream[stream.device_index()] = stream.id();
    return before;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return num_devices; }

  static Lane lane(const c10::Stream& stream) { return {stream.device_index(), stream.id()}; }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  void record(
      void** event, const c10::Stream& stream, const c10::DeviceIndex device,
      const c10::EventFlag flag) const override {
    TORCH_CHECK(
        device == -1 || device == stream.device_index(), "Event device ", device,
        " does not match recording stream's device ", stream.device_index(), ".");
    Locked locked;
    if (!*event) *event = new Event;
    auto* made = static_cast<Event*>(*event);
    made->timing = flag == c10::EventFlag::BACKEND_DEFAULT;
    made->graph = capturing(lane(stream)) ? capture : nullptr;
    made->clock = made->graph ? Clock() : reached(lane(stream));
    made->at = seconds();
    made->asked_for = false;
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (!event) return;
    Locked locked;
    auto* awaited = static_cast<Event*>(event);
    if (awaited->graph && awaited->graph == capture) {
      capture->lanes.insert(lane(stream));
      return;
    }
    TORCH_CHECK(
        !capturing(lane(stream)) || is_done(awaited->clock),
        "CUDA error: dependency created on uncaptured work in another stream");
    stream_waits(lane(stream), awaited->clock);
  }
  bool queryEvent(void* event) const override {
    if (!event) return true;
    Locked locked;
    auto* asked = static_cast<Event*>(event);
    if (asked->asked_for) host_waits(asked->clock);
    asked->asked_for = true;
    return is_done(asked->clock);
  }
  bool queryStream(const c10::Stream& stream) const override {
    Locked locked;
    return is_done(reached(lane(stream)));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    touch(stream.device_index());
    Locked locked;
    host_waits(reached(lane(stream)));
  }
  bool isStreamCapturing(const c10::Stream& stream) const override {
    Locked locked;
    return capturing(lane(stream));
  }
  void synchronizeEvent(void* event) const override {
    if (!event) return;
    Locked locked;
    host_waits(static_cast<Event*>(event)->clock);
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    touch(device);
    Locked locked;
    Clock all;
    for (const auto& [lane, count] : asked)
      if (lane.first == device) merge(all, reached(lane));
    host_waits(all);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    Locked locked;
    if (data.get_context()) static_cast<Block*>(data.get_context())->recorded.insert(lane(stream));
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(start && end, "Both events must be recorded before calculating elapsed time.");
    auto *first = static_cast<Event*>(start), *last = static_cast<Event*>(end);
    TORCH_CHECK(first->timing && last->timing, "Both events must be created with argument 'enable_timing=True'.");
    Locked locked;
    TORCH_CHECK(
        is_done(first->clock) && is_done(last->clock), "CUDA error: device not ready");
    return 1e3 * (last->at - first->at);
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

struct CUDAHooks final : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return num_devices > 0; }
  int getNumGPUs() const override { return num_devices; }
  c10::DeviceIndex deviceCount() const override { return num_devices; }
  c10::DeviceIndex current_device() const override { return current; }
  c10::DeviceIndex getCurrentDevice() const override { return current; }
  void setCurrentDevice(c10::DeviceIndex device) const override { Guard().setDevice({c10::kCUDA, device}); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return Guard().exchangeDevice({c10::kCUDA, device}).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }
  bool hasPrimaryContext(c10::DeviceIndex device) const override { return has_context[device]; }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  c10::Allocator* getCUDADeviceAllocator() const override { return &device_allocator; }
  at::Device getDeviceFromPtr(void*) const override { return Guard().getDevice(); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? current : device);
  }
  // the first that is asked for of a device is its default one, which Python has to wrap
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    static std::set<int> had;
    int index = device < 0 ? current : device;
    if (had.insert(index).second) return default_generator(index);
    return at::make_generator<GeneratorOf>(index, at::detail::createCPUGenerator());
  }
  void deviceSynchronize(c10::DeviceIndex device) const override { Guard().synchronizeDevice(device); }
};

// Graphs

std::map<int64_t, std::shared_ptr<Graph>> graphs;
int64_t numbered = 0;  // graphs and pools

void replay(const std::shared_ptr<Graph>& graph, int device) {
  Locked locked;
  Task task{lane_of(device), "replay of a graph", {}, {pools.at(graph->pool).get()}};
  for (auto& [storage, weak] : graph->outside) {
    auto there = weak.lock();
    if (!there) {
      note("race", "a graph uses memory that was freed after it had been captured");
      continue;
    }
    auto* block = static_cast<Block*>(there->data_ptr().get_context());
    (graph->outside_written.count(storage) ? task.writes : task.reads).push_back(block);
  }
  begin(task);
  at::NoGradGuard no_grad;
  for (auto& each : graph->tasks) each();
}

// What only looks at times

struct Profiler final : torch::profiler::impl::ProfilerStubs {
  using Time = torch::profiler::impl::ProfilerVoidEventStub;
  void record(c10::DeviceIndex* device, Time* event, int64_t* cpu_ns) const override {
    if (device) *device = current;
    *event = std::make_shared<double>(seconds());
    if (cpu_ns) *cpu_ns = (int64_t)(1e9 * seconds());
  }
  float elapsed(const Time* start, const Time* end) const override {  // in microseconds
    return 1e6 * (*static_cast<double*>(end->get()) - *static_cast<double*>(start->get()));
  }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> work) const override {
    for (int i = 0; i < num_devices; ++i)
      if (has_context[i]) work(i);
  }
  void synchronize() const override { Guard().synchronizeDevice(current); }
};

struct DdpTimer final : c10d::Timer {
  explicit DdpTimer(c10::Device) {}
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    auto from = getTimestamp(start), to = getTimestamp(end);
    return from && to ? std::optional(*to - *from) : std::nullopt;
  }
};

}  // namespace simulated

namespace c10d {
using simulated::DdpTimer;
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kCUDA, DdpTimer);
}  // namespace c10d

namespace at {
using simulated::CUDAHooks;  // the name by which torch looks for it
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace at

// What Python calls, by ctypes: an error is a text that it raises, or nothing.

using namespace simulated;

template <typename F>
const char* text_of_error(F work) {
  static thread_local std::string text;
  try {
    work();
    return nullptr;
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::exception& error) {
    text = error.what();
  }
  return text.c_str();
}

extern "C" {

void simulate(int devices, size_t bytes, void (*told)(const char*, const char*)) {
  num_devices = devices;
  device_bytes = bytes;
  tell = told;
  c10::SetAllocator(c10::kCUDA, &device_allocator);
  register_collectives();
  static Profiler profiler;
  torch::profiler::impl::registerCUDAMethods(&profiler);
}

void end() { tell = nullptr; }

int get_device() { return current; }
void set_device(int device) {
  touch(device);  // as CUDA 12 does
  current = device;
}
int64_t get_stream(int device) { return current_stream[device]; }
void set_stream(int device, int64_t stream) { current_stream[device] = stream; }
bool is_capturing() { return capturing(lane_of(current)); }
uint64_t pending_tasks() {
  Locked locked;
  return pending();
}
int copies(int from, int to) { return crossed[{from, to}]; }
uint64_t host_waited() { return waits; }
void forget_first_calls() {
  Locked locked;
  loaded.clear();
  std::fill(has_context, has_context + kMostDevices, false);
}
size_t used_bytes(int device) { return used[device]; }
size_t peak_bytes(int device) { return peak[device]; }
void reset_peak(int device) { peak[device] = used[device]; }
void use(int device) {  // as a kernel without tensors does
  perform(device, "sleep", {}, {}, [] {});
}

const char* resize_storage(void* cdata, size_t bytes) {
  return text_of_error([&] {
    auto* storage = static_cast<c10::StorageImpl*>(cdata);
    OnDevice there(storage->device().index());
    auto data = device_allocator.allocate(bytes);
    if (size_t kept = std::min(bytes, storage->nbytes()))
      std::memcpy(data.mutable_get(), storage->data(), kept);
    storage->set_data_ptr_noswap(std::move(data));
    storage->set_nbytes(bytes);
  });
}

int64_t new_pool() {
  Locked locked;
  ++numbered;
  pools[numbered] = std::make_unique<Block>(current, 0, lane_of(current));
  return numbered;
}

int64_t new_graph() {
  Locked locked;
  auto graph = std::make_shared<Graph>();
  graph->id = ++numbered;
  graphs[graph->id] = graph;
  return graph->id;
}

const char* begin_capture(int64_t id, int64_t pool) {
  return text_of_error([&] {
    Locked locked;
    TORCH_CHECK(!capture, "CUDA error: another capture is underway");
    TORCH_CHECK(current_stream[current], "CUDA error: the default stream cannot be captured");
    TORCH_CHECK(pools.at(pool)->device == current, "a graph's pool is another device's");
    capture = graphs.at(id);
    capture->pool = pool;
    capture->device = current;
    capture->lanes = {lane_of(current)};
  });
}

const char* end_capture() {
  return text_of_error([&] {
    Locked locked;
    auto graph = capture;
    capture = nullptr;
    for (auto& [block, bytes] : graph->before)
      std::memcpy(const_cast<void*>(block->owner.data()), bytes.const_data_ptr(), bytes.nbytes());
    for (auto& storage : graph->kept)  // nothing has run yet
      if (storage.nbytes()) std::memset(storage.mutable_data(), kGarbage, storage.nbytes());
  });
}

const char* replay_graph(int64_t id) {
  return text_of_error([&] { replay(graphs.at(id), current); });
}

void free_graph(int64_t id) {
  Locked locked;
  graphs.erase(id);
}
}
