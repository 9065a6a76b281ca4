"""For tests: a web server on loopback that hands out files by ranges and counts requests."""

import contextlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written one after the other

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, *, with_body):
        server = self.server
        server.drop()
        server.asked.append((self.command, self.headers.get("Range")))
        path = server.folder / self.path.lstrip("/")
        if server.status != 200 or not path.is_file():
            self.send_response(server.status if server.status != 200 else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content, found = path.read_bytes(), None
        if server.knows_ranges:
            found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        begin, end = (int(found[1]), int(found[2]) + 1) if found else (0, len(content))
        self.send_response(206 if found else 200)
        self.send_header("Content-Length", str(len(content[begin:end])))
        if found:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        self.end_headers()
        if with_body:
            self.wfile.write(content[begin:end])

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Counts requests in `asked`; can be told to fail."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.asked = folder, []
        self.status, self.knows_ranges = 200, True
        self.litter = []  # what the threads that answer are to leave to the garbage collector

    def drop(self):
        """Leave a piece of litter that only the garbage collector finds."""
        if self.litter:
            cycle = [self.litter.pop()]
            cycle.append(cycle)

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"

    @contextlib.contextmanager
    def counted(self, most):
        """What is done here may take so many requests at most."""
        before = len(self.asked)
        yield
        asked = self.asked[before:]
        assert len(asked) <= most, asked


@contextlib.contextmanager
def server(folder):
    with Server(folder) as found:
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()
