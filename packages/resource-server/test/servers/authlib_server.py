"""Authlib: introspection for a few tokens, and a token endpoint with JWTs; writes its port on a line."""
import sys
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc7523 import JWTBearerTokenGenerator
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Flask
from werkzeug.serving import make_server


class Client(ClientMixin):
    def __init__(self, client_id, client_secret):
        self.client_id = client_id
        self.client_secret = client_secret

    def get_client_id(self):
        return self.client_id

    def check_client_secret(self, client_secret):
        return client_secret == self.client_secret

    def check_grant_type(self, grant_type):
        return grant_type == 'client_credentials'

    def get_allowed_scope(self, scope):
        return scope

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


clients = {'orders-api': 'orders-secret', 'client': 'client-secret', 'other': 'other-secret'}
key = JsonWebKey.generate_key('RSA', 2048, is_private=True)
app = Flask('authlib')
server = AuthorizationServer(
    app,
    query_client=lambda id: Client(id, clients[id]) if id in clients else None,
    save_token=lambda token, request: None,
)
server.register_endpoint(Introspection)
server.register_grant(ClientCredentialsGrant)
issuer = 'https://authlib.example'
server.register_token_generator('client_credentials', JWTBearerTokenGenerator(key, issuer=issuer, alg='RS256'))
app.post('/introspect', endpoint='introspect')(lambda: server.create_endpoint_response('introspection'))
app.post('/token', endpoint='token')(lambda: server.create_token_response())
app.get('/keys', endpoint='keys')(lambda: {'keys': [key.as_dict(is_private=False)]})
listener = make_server('127.0.0.1', 0, app, threaded=True)
print(listener.port, flush=True)
sys.stderr = open('/dev/null', 'w')
listener.serve_forever()
