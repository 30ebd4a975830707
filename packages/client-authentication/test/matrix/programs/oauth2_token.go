package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"
)

func token(authentication string) (*oauth2.Token, error) {
	ctx := context.Background()
	if authentication == "grant" {
		config := jwt.Config{
			Email:        os.Getenv("ISSUER"),
			Subject:      os.Getenv("SUBJECT"),
			Audience:     os.Getenv("AUDIENCE"),
			PrivateKey:   []byte(os.Getenv("ISSUER_KEY")),
			PrivateKeyID: "issuer-key",
			TokenURL:     os.Getenv("TOKEN_ENDPOINT"),
		}
		return config.TokenSource(ctx).Token()
	}
	config := clientcredentials.Config{
		ClientID:  os.Getenv("CLIENT_ID"),
		TokenURL:  os.Getenv("TOKEN_ENDPOINT"),
		AuthStyle: oauth2.AuthStyleInParams,
	}
	switch authentication {
	case "basic":
		config.ClientSecret = os.Getenv("CLIENT_SECRET")
		config.AuthStyle = oauth2.AuthStyleInHeader
	case "post":
		config.ClientSecret = os.Getenv("CLIENT_SECRET")
	case "identity":
		config.EndpointParams = url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {os.Getenv("IDENTITY")},
		}
	}
	return config.Token(ctx)
}

func main() {
	result, err := token(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(result.AccessToken)
}
