import os
import sys

os.environ['OAUTHLIB_INSECURE_TRANSPORT'] = '1'
from oauthlib.oauth2 import BackendApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

client_id, client_secret = os.environ['CLIENT_ID'], os.environ['CLIENT_SECRET']
session = OAuth2Session(client=BackendApplicationClient(client_id=client_id))
if sys.argv[1] == 'basic':
    how = {'auth': HTTPBasicAuth(client_id, client_secret)}
else:
    how = {'client_id': client_id, 'client_secret': client_secret, 'include_client_id': True}
token = session.fetch_token(token_url=os.environ['TOKEN_ENDPOINT'], **how)
print(token['access_token'], end='')
