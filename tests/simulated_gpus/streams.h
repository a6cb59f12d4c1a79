// The order of a simulated GPU's work, tracked by vector clocks.
//
// Work runs immediately. The clocks tell what a real GPU might still be busy with: each stream
// counts its tasks, and it and the host know up to which task they have waited for each other
// stream. Memory knows its last writer and its readers since. So a missing wait shows, whoever
// would have won the race.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

extern "C" {  // of Python.h
int PyGILState_Check();
void* PyEval_SaveThread();
void PyEval_RestoreThread(void*);
}

namespace simulated {

using Lane = std::pair<int, int64_t>;  // a stream: its device and its number there
using Clock = std::map<Lane, uint64_t>;  // how many tasks of each stream are known to be done

// Report a note to Python: its kind ("race", "context", "first") and its text.
inline void (*tell)(const char* kind, const char* what) = nullptr;

inline std::recursive_mutex lock;
inline thread_local int depth = 0;
inline thread_local std::vector<std::pair<std::string, std::string>> untold;

// While one lives, its thread owns all of this file's state. Notes are reported afterwards: the
// thread that holds the GIL may be waiting for this lock.
struct Locked {
  Locked() {
    if (!lock.try_lock()) wait();
    ++depth;
  }
  ~Locked() {
    --depth;
    lock.unlock();
    if (depth) return;
    for (const auto& [kind, what] : std::exchange(untold, {}))
      if (tell) tell(kind.c_str(), what.c_str());
  }
  Locked(const Locked&) = delete;

 private:
  // Release the GIL: the lock's owner may need it to free a tensor that Python knows.
  static void wait() {
    void* python = PyGILState_Check() ? PyEval_SaveThread() : nullptr;
    lock.lock();
    if (python) PyEval_RestoreThread(python);
  }
};

inline void note(const std::string& kind, const std::string& what) {
  Locked locked;
  untold.emplace_back(kind, what);
}

// Device memory of one storage.
struct Block {
  Block(int device, size_t bytes, Lane made_on) : device(device), bytes(bytes), made_on(made_on) {}
  int device;
  size_t bytes;
  Lane made_on;
  c10::Storage owner;  // holds the bytes
  std::pair<Lane, uint64_t> written{};
  Clock read;
  std::set<Lane> recorded;  // by record_stream
  int64_t graph = 0;        // the capture in which it was made
};

struct Task {
  Lane lane;
  std::string name;
  std::vector<Block*> reads, writes;
};

// A graph, during its capture and afterwards.
struct Graph {
  int64_t id = 0, pool = 0;
  std::set<Lane> lanes;  // that take part in the capture
  std::vector<std::function<void()>> tasks;
  std::map<Block*, at::Tensor> before;  // bytes of memory from outside that the capture wrote to
  std::vector<c10::Storage> kept;       // memory that was made within
  std::map<c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> outside;
  std::set<c10::StorageImpl*> outside_written;
};

struct Late {  // a copy that arrives once the host knows that its stream has got that far
  Lane lane;
  uint64_t count;
  std::function<void()> arrive;
};

inline std::map<Lane, uint64_t> asked;  // number of tasks of each stream
inline std::map<Lane, Clock> seen;
inline Clock host;
inline uint64_t waits = 0;  // of the host
inline std::vector<Late> late;
inline std::shared_ptr<Graph> capture;

inline std::string named(const Lane& lane) {
  return "cuda:" + std::to_string(lane.first) + " stream " + std::to_string(lane.second);
}

inline void merge(Clock& into, const Clock& from) {
  for (const auto& [lane, count] : from) into[lane] = std::max(into[lane], count);
}

inline bool capturing(const Lane& lane) { return capture && capture->lanes.count(lane); }

// What a stream has done and waited for: the clock of an event recorded on it.
inline Clock reached(const Lane& lane) {
  Clock clock = seen[lane];
  clock[lane] = asked[lane];
  return clock;
}

inline void host_waits(const Clock& clock) {
  TORCH_CHECK(!capture, "CUDA error: operation not permitted when stream is capturing");
  ++waits;
  merge(host, clock);
  for (size_t i = 0; i < late.size();) {
    if (host[late[i].lane] < late[i].count) {
      ++i;
      continue;
    }
    auto arrive = late[i].arrive;
    late.erase(late.begin() + i);
    arrive();
  }
}

inline void stream_waits(const Lane& lane, const Clock& clock) { merge(seen[lane], clock); }

inline bool knows(const Lane& lane, const std::pair<Lane, uint64_t>& task) {
  return task.second == 0 || task.first == lane || seen[lane][task.first] >= task.second;
}

inline uint64_t begin(const Task& task) {
  // the task comes after everything that the host has waited for
  merge(seen[task.lane], host);
  uint64_t count = ++asked[task.lane];
  auto race = [&](const Lane& other, const char* what) {
    note("race", task.name + " on " + named(task.lane) + " " + what + " " + named(other));
  };
  for (Block* block : task.reads) {
    if (!knows(task.lane, block->written))
      race(block->written.first, "reads what is yet to be written on");
    block->read[task.lane] = count;
  }
  for (Block* block : task.writes) {
    if (!knows(task.lane, block->written))
      race(block->written.first, "writes what is yet to be written on");
    for (const auto& [lane, read] : block->read)
      if (!knows(task.lane, {lane, read})) race(lane, "writes what is yet to be read on");
    block->written = {task.lane, count};
    block->read.clear();
  }
  return count;
}

inline std::map<Lane, std::vector<std::pair<Lane, uint64_t>>> given_back;  // uses of freed memory

// Freed memory goes to the next allocation on its stream, even if other streams still use it.
inline void give_back(const Block& block) {
  auto& uses = given_back[block.made_on];
  auto add = [&](const Lane& lane, uint64_t count) {
    if (count && lane != block.made_on && !block.recorded.count(lane))
      uses.emplace_back(lane, count);
  };
  add(block.written.first, block.written.second);
  for (const auto& [lane, count] : block.read) add(lane, count);
}

inline void check_reused(const Lane& lane) {
  merge(seen[lane], host);
  for (const auto& use : std::exchange(given_back[lane], {}))
    if (!knows(lane, use))
      note("race", named(lane) + " is given memory that is still in use on " + named(use.first));
}

// The number of tasks that the host has not waited for.
inline uint64_t pending() {
  uint64_t count = 0;
  for (const auto& [lane, tasks] : asked) count += tasks - std::min(tasks, host[lane]);
  return count;
}

}  // namespace simulated
