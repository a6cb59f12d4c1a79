// Kernels for torch's CUDA key that compute on the processor.
//
// torch's CPU build dispatches operators to the CUDA key as any build does, but has no kernels
// there. One boxed kernel serves nearly all operators: it checks the devices of the arguments,
// calls the operator's CPU kernel on the same memory, and marks the results as on the device.
#pragma once

#include "memory.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/NativeFunctions.h>
#include <torch/library.h>

namespace simulated {

// Work on a stream

using Tensors = std::vector<at::Tensor>;

// Note memory from outside a capture, to restore it at the end and look for it at each replay.
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

// Queue work that the caller does on a device's current stream; in a capture, keep it for replays.
void perform(int device, const std::string& name, const Tensors& reads, const Tensors& writes,
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
      : c10::GeneratorImpl(c10::Device(c10::kCUDA, device),
                           c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        inner(std::move(inner)) {}
  at::Generator inner;
  uint64_t given = 0;
  void set_current_seed(uint64_t seed) override {  // a GPU draws other numbers than a CPU
    given = seed;
    inner.set_current_seed(~seed);
  }
  void set_offset(uint64_t offset) override { inner.set_offset(offset); }
  uint64_t get_offset() const override { return 0; }
  uint64_t current_seed() const override { return given; }
  uint64_t seed() override { return inner.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    inner.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return inner.unsafeGetGeneratorImpl()->get_state();
  }
  GeneratorOf* clone_impl() const override {
    return new GeneratorOf(device().index(), inner.clone());
  }
};

at::Generator& default_generator(int device) {
  static at::Generator made[kMostDevices];
  if (!made[device].defined())
    made[device] = at::make_generator<GeneratorOf>(device, at::detail::createCPUGenerator());
  return made[device];
}

// Operators that wait for the device, since the host needs their result's size or value.
const std::set<std::string> kWaiting{"aten::_local_scalar_dense",
                                     "aten::nonzero",
                                     "aten::masked_select",
                                     "aten::equal",
                                     "aten::_unique2",
                                     "aten::unique_consecutive",
                                     "aten::unique_dim",
                                     "aten::bincount"};
const std::set<std::string> kTakesIndices{"aten::index", "aten::index_put_",
                                          "aten::_index_put_impl_", "aten::_unsafe_index"};

void collect(const c10::IValue& value, Tensors& tensors) {
  if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
  if (value.isList())
    for (const c10::IValue& each : value.toListRef()) collect(each, tensors);
}

void check_devices(const std::string& name, const Tensors& tensors, int& device) {
  for (const auto& tensor : tensors)
    if (tensor.is_cuda()) {
      if (device < 0) device = tensor.get_device();
      TORCH_CHECK(device == tensor.get_device(),
                  "Expected all tensors to be on the same device, but found at"
                  " least two devices, ",
                  on(device), " and ", on(tensor.get_device()), "! (", name, ")");
    }
  for (const auto& tensor : tensors)
    TORCH_CHECK(tensor.is_cuda() || tensor.dim() == 0 || kTakesIndices.count(name),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                on(device), " and ", tensor.device(), "! (", name, ")");
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
  TORCH_CHECK(given.device() == c10::Device(c10::kCUDA, device), "Expected a '", on(device),
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
  auto of = [&](const at::Tensor& tensor) {
    return tensor.is_cuda() ? aliases.of(tensor) : tensor;
  };
  torch::jit::Stack arguments;
  for (size_t i = 0; i < count; ++i) {
    const auto& value = torch::jit::peek(*stack, i, count);
    bool generator = takes_generator(schema.arguments()[i]);
    arguments.push_back(generator ? own_generator(value, aliases.device) : mapped(value, of));
  }
  torch::jit::drop(*stack, count);
  auto off_device = [](const at::Tensor& tensor) { return !tensor.is_cuda(); };
  reads.erase(std::remove_if(reads.begin(), reads.end(), off_device), reads.end());

  torch::jit::Stack results = arguments;  // the kernel pops these and pushes its results
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

// Operators without a CPU kernel to call on the same memory

struct OnDevice {  // sets the current device while it lives
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

at::Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  OnDevice there(index_of(device));
  return made(at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &device_allocator,
                                        c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                        c10::dtype_or_default(dtype), format));
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  OnDevice there(index_of(device));
  return made(at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), &device_allocator,
      c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::dtype_or_default(dtype)));
}

const at::Tensor& resize_(const at::Tensor& self, c10::SymIntArrayRef size,
                          std::optional<at::MemoryFormat> format) {
  OnDevice there(self.get_device());
  return at::native::resize_(self, C10_AS_INTARRAYREF_SLOW(size), format);
}

at::Tensor as_strided(const at::Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                      std::optional<c10::SymInt> offset) {
  auto at = offset ? std::optional(offset->guard_int(__FILE__, __LINE__)) : std::nullopt;
  return at::native::as_strided_tensorimpl(self, C10_AS_INTARRAYREF_SLOW(size),
                                           C10_AS_INTARRAYREF_SLOW(stride), at);
}

at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

at::Tensor reshape_alias(const at::Tensor& self, c10::SymIntArrayRef size,
                         c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size),
                                    C10_AS_INTARRAYREF_SLOW(stride));
}

void record_stream(at::Tensor& self, at::Stream stream) {
  Locked locked;
  block_of(self)->recorded.insert({stream.device_index(), stream.id()});
}

void between_devices(const at::Tensor& self, const at::Tensor& src) {
  // the copy runs on the source's stream, after the target's, which then waits for the copy
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
  TORCH_CHECK(!(waits && capturing(lane_of(device))),
              "CUDA error: operation not permitted when stream is capturing");
  Aliases aliases;
  at::Tensor target = aliases.of(self);
  auto work = [=]() mutable { target.copy_(src); };
  perform(device, "aten::copy_", {}, {self}, work);
  work();
  if (waits) {
    wait_for_stream(device);
  } else if (!capture) {  // the host must not change the source yet
    Lane lane = lane_of(device);
    late.push_back({lane, asked[lane], [given = src.clone(), src] {
                      if (!at::equal(given, src))
                        note("race", "pinned memory changed while it was copied to a GPU");
                    }});
  }
}

void to_host(const at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  int device = src.get_device();
  Locked locked;
  Lane lane = lane_of(device);
  bool waits = !(non_blocking && is_pinned(self.const_data_ptr()));
  TORCH_CHECK(!(waits && capturing(lane)),
              "CUDA error: operation not permitted when stream is capturing");
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
  if (self.is_cuda() && src.is_cuda())
    between_devices(self, src);
  else if (self.is_cuda())
    to_device(self, src, non_blocking);
  else
    to_host(self, src, non_blocking);
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
  m.impl("set_.source_Storage",
         static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  m.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("record_stream", record_stream);
  m.impl("copy_", copy_);
  // these choose a library by the device before they call a kernel
  for (const char* name : {"convolution", "convolution_backward", "convolution_overrideable"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

// NCCL's collectives are gloo's, on the same memory

void register_collectives() {
  // torch warns that its own kernels, which need NCCL, are overridden
  struct Silent : c10::WarningHandler {
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

}  // namespace simulated
