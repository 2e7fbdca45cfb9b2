/* The least that a server can do around a WSGI application: an epoll loop which reads what has come, calls
 * the application through Python's C API with an environ that was made once, and sends what it returned.
 *
 *     c_loop PORT FOLDER MODULE PATH
 *
 * No parsing, no checks, no keep-alive rules: every read is taken for one GET of PATH. A floor to measure by,
 * not a server. One thread; connections are closed when the client closes them.
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { events_a_turn = 64, read_bytes = 16384, answer_bytes = 65536 };

static void must(int holds, const char *what) {
  if (holds) return;
  perror(what);
  exit(1);
}

/* start_response(status, headers): what the answer needs is fixed, so that nothing is done with them. */
static PyObject *start_response(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  (void)self, (void)args, (void)count;
  Py_RETURN_NONE;
}
static PyMethodDef start_method = {"start_response", (PyCFunction)(void (*)(void))start_response, METH_FASTCALL, 0};

static PyObject *load(const char *folder, const char *module) {
  PyList_Insert(PySys_GetObject("path"), 0, PyUnicode_FromString(folder));
  PyObject *imported = PyImport_ImportModule(module);
  PyObject *application = imported ? PyObject_GetAttrString(imported, "application") : NULL;
  if (application == NULL) PyErr_Print();
  must(application != NULL, "importing the application");
  return application;
}

static PyObject *environ_for(const char *path) {
  PyObject *environ = Py_BuildValue("{ssssssssss}", "REQUEST_METHOD", "GET", "PATH_INFO", path, "SCRIPT_NAME", "",
                                    "QUERY_STRING", "", "SERVER_PROTOCOL", "HTTP/1.1");
  must(environ != NULL, "making the environ");
  return environ;
}

static int listening(int port) {
  int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  must(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
  must(listen(listener, 4096) == 0, "listen");
  return listener;
}

static void watch(int epoll, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  must(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
}

static void accept_all(int epoll, int listener) {
  int one = 1, client;
  while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(epoll, client);
  }
}

/* One call of the application; the bytes of the only item of the list that it returns. */
static size_t answer(PyObject *application, PyObject *environ, PyObject *start, char *out) {
  PyObject *own = PyDict_Copy(environ);
  PyObject *arguments[] = {own, start};
  PyObject *result = PyObject_Vectorcall(application, arguments, 2, NULL);
  must(result != NULL && PyList_Check(result) && PyList_GET_SIZE(result) == 1, "calling the application");
  PyObject *body = PyList_GET_ITEM(result, 0);
  int head = sprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zd\r\n\r\n",
                     PyBytes_GET_SIZE(body));
  memcpy(out + head, PyBytes_AS_STRING(body), (size_t)PyBytes_GET_SIZE(body));
  size_t size = (size_t)head + (size_t)PyBytes_GET_SIZE(body);
  Py_DECREF(result);
  Py_DECREF(own);
  return size;
}

int main(int count, char **words) {
  static char in[read_bytes], out[answer_bytes];
  must(count == 5, "c_loop PORT FOLDER MODULE PATH");
  Py_Initialize();
  PyObject *application = load(words[2], words[3]);
  PyObject *environ = environ_for(words[4]);
  PyObject *start = PyCFunction_New(&start_method, NULL);
  int listener = listening(atoi(words[1])), epoll = epoll_create1(0);
  watch(epoll, listener);
  for (;;) {
    struct epoll_event events[events_a_turn];
    int ready = epoll_wait(epoll, events, events_a_turn, -1);
    for (int i = 0; i < ready; ++i) {
      int client = events[i].data.fd;
      if (client == listener) {
        accept_all(epoll, listener);
      } else if (recv(client, in, sizeof in, 0) > 0) {
        size_t size = answer(application, environ, start, out);
        if (send(client, out, size, MSG_NOSIGNAL) < 0) close(client);
      } else {
        close(client);
      }
    }
  }
}
