"""Prints, for each JWT in the arguments, whether Authlib accepts it."""
import os
import sys

import requests
from authlib.jose import JsonWebToken

keys = requests.get(os.environ["JWKS_URI"]).json()
options = {
    "iss": {"essential": True, "value": os.environ["ISSUER"]},
    "aud": {"essential": True, "value": os.environ["AUDIENCE"]},
    "exp": {"essential": True},
}
for token in sys.argv[1:]:
    try:
        JsonWebToken(["ES256"]).decode(token, keys, claims_options=options).validate()
        print("valid")
    except Exception as error:
        print("rejected")
