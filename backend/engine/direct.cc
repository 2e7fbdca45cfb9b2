#include "backend/engine/direct.h"

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "backend/engine/call.h"
#include "backend/engine/worker.h"

namespace portico::engine {
namespace {

/// How long an answer goes on before the loop has its turn, and how much it gathers meanwhile.
constexpr std::uint64_t turn_ns = 1000000;
constexpr std::size_t turn_bytes = std::size_t{48} * 1024;
constexpr std::size_t kept_bytes = std::size_t{128} * 1024;
/// The worker that the front knows: the front itself.
constexpr std::uint16_t worker_id = 1;

/// One call under way, with everything that it needs; used again for the next.
struct DirectCall {
  record::Buffer bytes;  ///< the record's
  record::Record record;
  int body = -1;
  Outbox outbox;
  Caller caller;
  DirectCall* next = nullptr;  ///< in the list of free ones
};

DirectCall* free_calls;
PyThreadState* front_state;  ///< of the front's thread; kept between calls
Flusher no_flusher;          ///< nothing gathers: the loop sends what a call has brought

/// Holds the GIL in the front's thread.
class Gil {
 public:
  Gil() {
    if (front_state != nullptr) {
      PyEval_RestoreThread(front_state);
    } else {
      PyGILState_Ensure();
    }
  }
  ~Gil() { front_state = PyEval_SaveThread(); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
};

DirectCall* new_call() {
  void* memory = std::malloc(sizeof(DirectCall));
  if (memory == nullptr) return nullptr;
  DirectCall* call = new (memory) DirectCall;
  const WorkerSetup& setup = worker.setup();
  call->outbox.open(-1, setup.cells);
  if (call->caller.open(setup.application, setup.constants, setup.cells, no_flusher)) return call;
  PyErr_Clear();
  call->~DirectCall();
  std::free(memory);
  return nullptr;
}

DirectCall* take_call() {
  if (free_calls == nullptr) return new_call();
  DirectCall* call = free_calls;
  free_calls = call->next;
  return call;
}

void give_back(DirectCall* call) {
  if (call->body >= 0) ::close(call->body);
  call->body = -1;
  call->next = free_calls;
  free_calls = call;
}

/// A child that the application has forked off must not serve the front's clients.
void leave_if_stray() {
  if (worker_is_stray()) ::_exit(0);
}

record::DirectAnswer answer_of(DirectCall* call, bool more) {
  leave_if_stray();
  std::string_view frames = call->outbox.memory().view();
  record::DirectAnswer answer{frames.data(), frames.size(), call->outbox.take_descriptor(),
                              nullptr};
  if (more) {
    answer.rest = call;
  } else {
    give_back(call);
  }
  return answer;
}

void forget_frames(DirectCall& call) {
  call.outbox.memory().clear();
  call.outbox.memory().trim(kept_bytes);
}

bool claim(DirectCall& call) {
  record::Cells cells = worker.setup().cells;
  return record::read_record(call.bytes.view(), call.record) && cells.contains(call.record.cell) &&
         cells.claim(call.record.cell, call.record.serial, worker_id, 0, now_ns());
}

record::DirectAnswer begin(const char* record, std::size_t size, int body) {
  Gil gil;
  DirectCall* call = take_call();
  if (call == nullptr) {
    if (body >= 0) ::close(body);
    return {};
  }
  forget_frames(*call);
  call->bytes.clear();
  call->bytes.append({record, size});
  call->body = body;
  if (!claim(*call)) {
    give_back(call);
    return {};
  }
  bool more = call->caller.begin(call->record, body, call->outbox);
  while (more && call->outbox.memory().empty()) more = call->caller.step();
  return answer_of(call, more);
}

record::DirectAnswer resume(void* rest) {
  Gil gil;
  DirectCall* call = static_cast<DirectCall*>(rest);
  forget_frames(*call);
  std::uint64_t until = now_ns() + turn_ns;
  bool more = true;
  do {
    more = call->caller.step();
  } while (more && !call->caller.answered() && call->outbox.memory().size() < turn_bytes &&
           now_ns() < until);
  return answer_of(call, more);
}

}  // namespace

PyObject* open_direct(PyObject*, PyObject* args) {
  WorkerSetup setup;
  int cells = -1;
  if (!PyArg_ParseTuple(args, "OOi:open_direct", &setup.application, &setup.constants, &cells) ||
      !map_cells(cells, setup.cells))
    return nullptr;
  Py_INCREF(setup.application);
  Py_INCREF(setup.constants);
  setup.id = worker_id;
  setup.threads = 0;
  setup.embedded = true;
  no_flusher.stay_off();
  worker.open(setup);
  Py_RETURN_NONE;
}

}  // namespace portico::engine

const portico::record::Direct portico_direct = {portico::engine::begin, portico::engine::resume};
