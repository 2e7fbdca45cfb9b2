// The extension module `_portico`: its one entry, PyInit__portico, and the table of functions for
// boot.py.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "backend/engine/callables.h"
#include "backend/engine/direct.h"
#include "backend/engine/errors.h"
#include "backend/engine/feed_input.h"
#include "backend/engine/file_wrapper.h"
#include "backend/engine/input.h"
#include "backend/engine/names.h"
#include "backend/engine/process.h"
#include "backend/engine/python.h"
#include "backend/engine/rehearsal.h"
#include "backend/engine/shared_socket.h"
#include "backend/engine/texts.h"
#include "backend/engine/worker.h"
#include "backend/record/control.h"

namespace portico::engine {
namespace {

constexpr std::uint32_t most_threads = 256;
constexpr std::uint32_t most_front_threads = 1024;

/// One outbox for each descriptor in a list; false with an exception.
bool open_outboxes(PyObject* answers, WorkerSetup& setup) {
  std::size_t count = std::size_t{setup.threads} * setup.front_threads;
  if (!PyList_Check(answers) || static_cast<std::size_t>(PyList_Size(answers)) != count)
    return raise(PyExc_ValueError, "threads × front_threads answer sockets are needed") != nullptr;
  setup.outboxes = static_cast<Outbox*>(std::calloc(count, sizeof(Outbox)));
  if (setup.outboxes == nullptr) return PyErr_NoMemory() != nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    long descriptor = PyLong_AsLong(PyList_GetItem(answers, static_cast<Py_ssize_t>(i)));
    if (descriptor == -1 && PyErr_Occurred() != nullptr) return false;
    (new (&setup.outboxes[i]) Outbox)->open(static_cast<int>(descriptor), setup.cells);
  }
  return true;
}

bool numbers_are_sound(int id, int threads, int front_threads) {
  if (id >= 1 && id <= 0xffff && threads >= 1 &&
      static_cast<std::uint32_t>(threads) <= most_threads && front_threads >= 1 &&
      static_cast<std::uint32_t>(front_threads) <= most_front_threads)
    return true;
  return raise(PyExc_ValueError, "impossible worker, threads or front_threads") != nullptr;
}

/// open_worker(application, constants, queue, cells, control, answers, worker, threads,
/// front_threads)
PyObject* open_worker(PyObject*, PyObject* args) {
  WorkerSetup setup;
  PyObject* answers = nullptr;
  int cells = -1;
  int id = 0;
  int threads = 0;
  int front_threads = 0;
  int embedded = 0;
  if (!PyArg_ParseTuple(args, "OOiiiOiii|p:open_worker", &setup.application, &setup.constants,
                        &setup.queue, &cells, &setup.control, &answers, &id, &threads,
                        &front_threads, &embedded))
    return nullptr;
  if (!numbers_are_sound(id, threads, front_threads) || !map_cells(cells, setup.cells))
    return nullptr;
  setup.embedded = embedded != 0;
  setup.id = static_cast<std::uint16_t>(id);
  setup.threads = static_cast<std::uint32_t>(threads);
  setup.front_threads = static_cast<std::uint32_t>(front_threads);
  setup.stop_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (setup.stop_event < 0) return PyErr_SetFromErrno(PyExc_OSError);
  if (!open_outboxes(answers, setup)) {
    std::free(setup.outboxes);
    ::close(setup.stop_event);
    return nullptr;
  }
  Py_INCREF(setup.application);
  Py_INCREF(setup.constants);
  worker.open(setup);
  Py_RETURN_NONE;
}

/// serve(thread): serves in the calling Python thread until the worker leaves.
PyObject* serve(PyObject*, PyObject* args) {
  int index = 0;
  if (!PyArg_ParseTuple(args, "i:serve", &index)) return nullptr;
  void* memory = std::malloc(sizeof(WorkerThread));
  if (memory == nullptr) return PyErr_NoMemory();
  WorkerThread* thread = new (memory) WorkerThread(static_cast<std::uint32_t>(index));
  bool opened = thread->open();
  if (opened) thread->serve();
  thread->~WorkerThread();
  std::free(memory);
  if (!opened) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"open_worker", as_method(open_worker), METH_VARARGS, "makes this process a worker"},
    {"serve", as_method(serve), METH_VARARGS, "serve(thread): serves until the worker leaves"},
    {"open_direct", as_method(open_direct), METH_VARARGS, "makes the front's loop a worker"},
    {"receive", as_method(process_receive), METH_VARARGS, "receive(fd): (bytes, descriptors)"},
    {"send", as_method(process_send), METH_VARARGS, "send(fd, bytes): whether it went"},
    {"wait", as_method(process_wait), METH_VARARGS, "wait(fd): whether it is readable"},
    {"release_signals", as_method(process_release_signals), METH_NOARGS, "undoes wait()'s mask"},
    {"rehearse", as_method(rehearse), METH_VARARGS, "rehearse(application, constants, record, n)"},
    {"report_to", as_method(process_report_to), METH_VARARGS, "report_to(fd): in place of 2"},
    {"rename", as_method(process_rename), METH_VARARGS, "rename(text): what ps shows last"},
    {"hide", as_method(process_hide), METH_NOARGS, "hide(): nobody else may look inside"},
    {"describe_shared", as_method(describe_shared), METH_VARARGS, "describe_shared(fd)"},
    {"die_with_parent", as_method(process_die_with_parent), METH_VARARGS, "die_with_parent(pid)"},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_portico",
                          "Portico's engine",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool make_types() {
  return make_names() && make_input_type() && make_feed_input_type() && make_errors_type() &&
         make_callables_type() && make_file_wrapper_type();
}

/// {name: bytes}
bool add_texts(PyObject* module) {
  Ref all = Ref::steal(PyDict_New());
  if (!all) return false;
  for (const Text* one = texts; one->name != nullptr; ++one) {
    Ref text = Ref::steal(PyBytes_FromStringAndSize(one->begin, one->end - one->begin));
    if (!text || PyDict_SetItemString(all.get(), one->name, text.get()) < 0) return false;
  }
  return PyModule_AddObject(module, "texts", all.release()) == 0;
}

bool add_contents(PyObject* module) {
  PyObject* wrapper = file_wrapper_type();
  Py_INCREF(wrapper);
  if (PyModule_AddObject(module, "FileWrapper", wrapper) < 0) return false;
  return add_texts(module) &&
         PyModule_AddIntConstant(module, "stack_signal", record::stack_signal()) == 0 &&
         PyModule_AddStringConstant(module, "version", PORTICO_VERSION) == 0;
}

PyObject* make_module() {
  if (!make_types()) return nullptr;
  Ref module = Ref::steal(PyModule_Create(&definition));
  if (!module || !add_contents(module.get())) return nullptr;
  return module.release();
}

}  // namespace
}  // namespace portico::engine

PyMODINIT_FUNC PyInit__portico() { return portico::engine::make_module(); }
