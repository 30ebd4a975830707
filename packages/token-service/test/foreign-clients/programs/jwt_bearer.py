import os

from authlib.integrations.requests_client import AssertionSession

session = AssertionSession(
    os.environ['TOKEN_ENDPOINT'],
    issuer=os.environ['ISSUER'],
    subject='repo:example/orders:main',
    audience=os.environ['AUDIENCE'],
    key=os.environ['PRIVATE_KEY'],
    header={'alg': 'RS256', 'kid': 'key-1'},
)
session.refresh_token()
print(session.token['access_token'], end='')
