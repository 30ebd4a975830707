// Prints, for each JWT in the arguments, whether golang-jwt accepts it.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"

	"github.com/golang-jwt/jwt"
)

type keySet struct {
	Keys []struct{ Kid, X, Y string }
}

func number(text string) *big.Int {
	bytes, _ := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes)
}

func main() {
	response, err := http.Get(os.Getenv("JWKS_URI"))
	if err != nil {
		panic(err)
	}
	var set keySet
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil {
		panic(err)
	}
	find := func(token *jwt.Token) (interface{}, error) {
		for _, key := range set.Keys {
			if key.Kid == token.Header["kid"] {
				return &ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}, nil
			}
		}
		return nil, errors.New("unknown kid")
	}
	parser := jwt.Parser{ValidMethods: []string{"ES256"}}
	for _, text := range os.Args[1:] {
		claims := jwt.MapClaims{}
		_, err := parser.ParseWithClaims(text, claims, find)
		isOurs := claims.VerifyIssuer(os.Getenv("ISSUER"), true) && claims.VerifyAudience(os.Getenv("AUDIENCE"), true)
		if err == nil && isOurs {
			fmt.Println("valid")
		} else {
			fmt.Println("rejected")
		}
	}
}
