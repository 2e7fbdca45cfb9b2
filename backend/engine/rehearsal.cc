#include "backend/engine/rehearsal.h"

#include <cstdlib>
#include <new>

#include "backend/engine/call.h"

namespace portico::engine {
namespace {

/// A worker thread without a worker: one cell of its own, and an outbox that keeps what it is
/// given.
class Rehearsal {
 public:
  bool open(PyObject* application, PyObject* constants) {
    record::Cells cells(&cell_, sizeof cell_);
    outbox_.open(-1, cells);
    return caller_.open(application, constants, cells, flusher_);
  }
  bool run(const record::Record& record) {
    outbox_.memory().clear();
    record::Cells cells(&cell_, sizeof cell_);
    cells.send(record.cell, record.serial);
    cells.claim(record.cell, record.serial, 1, 0, 0);
    return caller_.run(record, -1, outbox_);
  }
  PyObject* frames() {
    std::string_view bytes = outbox_.memory().view();
    return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  }

 private:
  record::Cell cell_{};
  Outbox outbox_;
  Flusher flusher_;
  Caller caller_;
};

PyObject* run_all(Rehearsal& rehearsal, record::Record record, long count) {
  record.cell = 0;
  record.serial = 0;
  for (long i = 0; i < count; ++i) {
    if (!rehearsal.run(record)) break;
  }
  return rehearsal.frames();
}

}  // namespace

PyObject* rehearse(PyObject*, PyObject* args) {
  PyObject* application = nullptr;
  PyObject* constants = nullptr;
  const char* bytes = nullptr;
  Py_ssize_t size = 0;
  long count = 1;
  if (!PyArg_ParseTuple(args, "OO!y#l:rehearse", &application, &PyDict_Type, &constants, &bytes,
                        &size, &count))
    return nullptr;
  record::Record record;
  if (!record::read_record({bytes, static_cast<std::size_t>(size)}, record))
    return raise(PyExc_ValueError, "not a record");
  void* memory = std::malloc(sizeof(Rehearsal));
  if (memory == nullptr) return PyErr_NoMemory();
  Rehearsal* rehearsal = new (memory) Rehearsal;
  PyObject* frames =
      rehearsal->open(application, constants) ? run_all(*rehearsal, record, count) : nullptr;
  rehearsal->~Rehearsal();
  std::free(memory);
  return frames;
}

}  // namespace portico::engine
