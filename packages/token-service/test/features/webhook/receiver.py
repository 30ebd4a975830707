"""Receives webhooks over HTTPS, and prints for each whether its signature is valid as the documents say."""

import http.server
import json
import ssl
import sys

from documented import is_valid

port, certificate, key, secret_file = sys.argv[1:]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        with open(secret_file) as file:
            valid = is_valid(file.read(), self.headers, body)
        print(json.dumps({"id": self.headers["webhook-id"], "valid": valid, "event": json.loads(body)}), flush=True)
        self.send_response(204 if valid else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(port)), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
