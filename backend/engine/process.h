// What boot.py needs from the system without importing socket, select or signal: control messages
// with descriptors, waiting for messages or dead children, and dying with the parent.
//
// Python functions for the module's table; called by the zygote's and worker's main thread.
#pragma once

#include "backend/engine/python.h"

namespace portico::engine {

/// receive(fd) -> (bytes, [descriptors]); (b"", []) at the end of file. Waits.
PyObject* process_receive(PyObject* module, PyObject* args);
/// send(fd, bytes): False when the other side has gone.
PyObject* process_send(PyObject* module, PyObject* args);
/// wait(fd): returns once fd is readable (True) or a child may have died (False). From the first
/// call on SIGCHLD is blocked, until release_signals().
PyObject* process_wait(PyObject* module, PyObject* args);
/// release_signals(): for a forked child, undoes what wait() did.
PyObject* process_release_signals(PyObject* module, PyObject* args);
/// report_to(fd): what is reported goes there from now on, not to standard error.
PyObject* process_report_to(PyObject* module, PyObject* args);
/// hide(): no process of the same user may attach to this one or to its forks, or read their
/// memory.
PyObject* process_hide(PyObject* module, PyObject* args);
/// rename(text): what `ps` shows as the last argument, in the room that there is.
PyObject* process_rename(PyObject* module, PyObject* args);
/// die_with_parent(pid): this process is killed when its parent dies; False: the parent is not
/// `pid` any more.
PyObject* process_die_with_parent(PyObject* module, PyObject* args);

}  // namespace portico::engine
