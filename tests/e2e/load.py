"""A steady load on a door, while a test kills things behind it."""
import collections
import threading


class Load(threading.Thread):
    """Sends one request after the other until told to stop, and counts the statuses.

    Each has a target of its own: path, number of the load, number of the request.
    """

    def __init__(self, door, method, number, path='/', host='a.example'):
        super().__init__(daemon=True)
        self.door, self.method, self.host = door, method, host
        self.name_of = (path + str(number) + '-{}').format
        self.statuses = collections.Counter()
        self.stop = threading.Event()

    def run(self):
        connection = self.door.connect()
        sent = 0
        while not self.stop.is_set():
            body = b'' if self.method == 'POST' else None
            connection.request(self.name_of(sent), self.host, self.method, body=body)
            response = connection.read_response(self.method)
            self.statuses[response.status] += 1
            if response.field('connection') == 'close':
                connection.close()
                connection = self.door.connect()
            sent += 1
        connection.close()
