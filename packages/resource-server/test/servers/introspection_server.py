"""Introspection by Authlib for a few tokens; writes its port on a line."""
import sys
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Flask
from werkzeug.serving import make_server


class Client(ClientMixin):
    client_id = 'orders-api'

    def check_client_secret(self, client_secret):
        return client_secret == 'orders-secret'

    def check_endpoint_auth_method(self, method, endpoint):
        return method == 'client_secret_basic'


class Token(TokenMixin):
    def __init__(self, expires_in=600, revoked=False):
        self.expires_at = int(time.time()) + expires_in
        self.revoked = revoked

    def is_expired(self):
        return self.expires_at <= time.time()

    def is_revoked(self):
        return self.revoked


tokens = {'valid': Token(), 'expired': Token(expires_in=-1), 'revoked': Token(revoked=True)}


class Introspection(IntrospectionEndpoint):
    def query_token(self, token_string, token_type_hint):
        return tokens.get(token_string)

    def check_permission(self, token, client, request):
        return True

    def introspect_token(self, token):
        return {'client_id': 'client', 'token_type': 'Bearer', 'scope': 'orders:read', 'exp': token.expires_at}


app = Flask('introspection')
server = AuthorizationServer(app, query_client=lambda id: Client() if id == 'orders-api' else None, save_token=None)
server.register_endpoint(Introspection)
app.post('/introspect')(lambda: server.create_endpoint_response('introspection'))
listener = make_server('127.0.0.1', 0, app, threaded=True)
print(listener.port, flush=True)
sys.stderr = open('/dev/null', 'w')
listener.serve_forever()
