// CUDA devices without a GPU: the interfaces of torch's CUDA build, and functions for Python.
#include "kernels.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>
#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>

namespace simulated {

// Devices, streams and events, behind torch's interface

struct Event {
  Clock clock;
  bool timing = false;
  double at = 0;
  bool asked_for = false;  // by `query`; the next query waits, so that polling ends
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
  c10::Stream getDefaultStream(c10::Device device) const override {
    return stream(device.index(), 0);
  }
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
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
              const c10::EventFlag flag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "Event device ", device,
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
    TORCH_CHECK(!capturing(lane(stream)) || is_done(awaited->clock),
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
    TORCH_CHECK(first->timing && last->timing,
                "Both events must be created with argument 'enable_timing=True'.");
    Locked locked;
    TORCH_CHECK(is_done(first->clock) && is_done(last->clock), "CUDA error: device not ready");
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
  void setCurrentDevice(c10::DeviceIndex device) const override {
    Guard().setDevice({c10::kCUDA, device});
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return Guard().exchangeDevice({c10::kCUDA, device}).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  bool hasPrimaryContext(c10::DeviceIndex device) const override { return has_context[device]; }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  c10::Allocator* getCUDADeviceAllocator() const override { return &device_allocator; }
  at::Device getDeviceFromPtr(void*) const override { return Guard().getDevice(); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device < 0 ? current : device);
  }
  // a device's first generator is its default one, which Python has to wrap
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    static std::set<int> had;
    int index = device < 0 ? current : device;
    if (had.insert(index).second) return default_generator(index);
    return at::make_generator<GeneratorOf>(index, at::detail::createCPUGenerator());
  }
  void deviceSynchronize(c10::DeviceIndex device) const override {
    Guard().synchronizeDevice(device);
  }
};

// Graphs

std::map<int64_t, std::shared_ptr<Graph>> graphs;
int64_t numbered = 0;  // graphs and pools

void replay(const std::shared_ptr<Graph>& graph) {
  Locked locked;
  Task task{lane_of(current), "replay of a graph", {}, {pools.at(graph->pool).get()}};
  for (auto& [storage, weak] : graph->outside) {
    auto there = weak.lock();
    if (!there) {  // a GPU would compute with whatever is there now
      note("race", "a graph uses memory that was freed after it had been captured");
      return;
    }
    auto* block = static_cast<Block*>(there->data_ptr().get_context());
    (graph->outside_written.count(storage) ? task.writes : task.reads).push_back(block);
  }
  begin(task);
  at::NoGradGuard no_grad;
  for (auto& each : graph->tasks) each();
}

// Timers

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

// Functions that Python calls by ctypes. Some return an error's text, for Python to raise, or null.

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
const char* set_device(int device) {
  return text_of_error([&] {
    touch(device);  // as CUDA 12 does
    current = device;
  });
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
  return text_of_error([&] { replay(graphs.at(id)); });
}

void free_graph(int64_t id) {
  Locked locked;
  graphs.erase(id);
}
}
