import os
import sys

from authlib.integrations.requests_client import AssertionSession, OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT

authentication = sys.argv[1]
endpoint = os.environ['TOKEN_ENDPOINT']
client_id = os.environ['CLIENT_ID']
parameters = {}

if authentication == 'grant':
    session = AssertionSession(
        endpoint,
        issuer=os.environ['ISSUER'],
        subject=os.environ['SUBJECT'],
        audience=os.environ['AUDIENCE'],
        key=os.environ['ISSUER_KEY'],
        header={'alg': 'RS256', 'kid': 'issuer-key'},
    )
    session.refresh_token()
    print(session.token['access_token'], end='')
    sys.exit()

if authentication == 'key':
    session = OAuth2Session(
        client_id, os.environ['CLIENT_KEY'], token_endpoint_auth_method='private_key_jwt'
    )
    session.register_client_auth_method(PrivateKeyJWT(endpoint))
elif authentication == 'identity':
    session = OAuth2Session(client_id, token_endpoint_auth_method='none')
    parameters = {
        'client_assertion_type': 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        'client_assertion': os.environ['IDENTITY'],
    }
else:
    method = 'client_secret_' + authentication
    session = OAuth2Session(
        client_id, os.environ['CLIENT_SECRET'], token_endpoint_auth_method=method
    )
token = session.fetch_token(endpoint, grant_type='client_credentials', **parameters)
print(token['access_token'], end='')
