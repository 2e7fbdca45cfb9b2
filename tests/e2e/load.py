"""A steady load on a door, while a test kills things behind it."""
import collections
import threading


class Load(threading.Thread):
    """Sends one request after the other until told to stop, and counts the statuses.

    Each has a target of its own: path, number of the load, number of the request. body: of each POST.
    """

    def __init__(self, door, method, number, path='/', host='a.example', body=b''):
        super().__init__(daemon=True)
        self.door, self.method, self.host = door, method, host
        self.body = body if method == 'POST' else None
        self.name_of = (path + str(number) + '-{}').format
        self.statuses = collections.Counter()
        self.failed = []  # the targets of what was not answered 200
        self.stop = threading.Event()

    def run(self):
        connection = self.door.connect()
        sent = 0
        while not self.stop.is_set():
            connection.request(self.name_of(sent), self.host, self.method, body=self.body)
            response = connection.read_response(self.method)
            self.statuses[response.status] += 1
            if response.status != 200:
                self.failed.append(self.name_of(sent))
            if response.field('connection') == 'close':
                connection.close()
                connection = self.door.connect()
            sent += 1
        connection.close()
