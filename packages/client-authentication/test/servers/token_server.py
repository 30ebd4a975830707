"""A token endpoint by Authlib for one client with a public key, its JWK in argv; writes its port on a line."""
import json
import sys

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from flask import Flask
from werkzeug.serving import make_server


class Client(ClientMixin):
    client_id = 'orders'
    keys = [JsonWebKey.import_key(key) for key in json.loads(sys.argv[1])]

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return scope

    def check_grant_type(self, grant_type):
        return grant_type == 'client_credentials'

    def check_endpoint_auth_method(self, method, endpoint):
        return method == JWTBearerClientAssertion.CLIENT_AUTH_METHOD


class Assertion(JWTBearerClientAssertion):
    used = set()

    def validate_jti(self, claims, jti):
        is_new = jti not in self.used
        self.used.add(jti)
        return is_new

    def resolve_client_public_key(self, client, headers):
        return next((key for key in client.keys if key.kid == headers.get('kid')), client.keys[0])


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = [JWTBearerClientAssertion.CLIENT_AUTH_METHOD]


app = Flask('tokens')
server = AuthorizationServer(
    app,
    query_client=lambda id: Client() if id == Client.client_id else None,
    save_token=lambda token, request: None,
)
server.register_grant(ClientCredentials)
app.post('/token')(lambda: server.create_token_response())
listener = make_server('127.0.0.1', 0, app, threaded=True)
server.register_client_auth_method(
    JWTBearerClientAssertion.CLIENT_AUTH_METHOD, Assertion(f'http://127.0.0.1:{listener.port}/token')
)
print(listener.port, flush=True)
sys.stderr = open('/dev/null', 'w')
listener.serve_forever()
