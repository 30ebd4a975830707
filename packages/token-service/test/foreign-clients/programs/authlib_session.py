import os
import sys

from authlib.integrations.requests_client import OAuth2Session

method = 'client_secret_basic' if sys.argv[1] == 'basic' else 'client_secret_post'
session = OAuth2Session(
    os.environ['CLIENT_ID'], os.environ['CLIENT_SECRET'], token_endpoint_auth_method=method
)
token = session.fetch_token(os.environ['TOKEN_ENDPOINT'], grant_type='client_credentials')
print(token['access_token'], end='')
