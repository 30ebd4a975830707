// An API as many have it: CommonJS, Express 4, Passport and jose 4. A part of its routes uses Tokenwell already.
const express = require('express')
const passport = require('passport')
const { ExtractJwt, Strategy } = require('passport-jwt')
const { createTokenVerifier } = require('@tokenwell/resource-server')
const { requireToken } = require('@tokenwell/resource-server/express')

const issuer = 'https://auth.example.com'
const audience = 'https://orders.example.com'

/** @param {{ pem: string, users: Map<string, object> }} options */
function createOrdersApi({ pem, users }) {
  const findUser = (subject) => users.get(subject)
  const strategy = new Strategy(
    {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: pem,
      ...{ issuer, audience, algorithms: ['RS256'] },
    },
    ({ sub }, done) => done(null, findUser(sub) ?? false),
  )
  const verifier = createTokenVerifier({
    ...{ issuer, audience },
    jwksUrl: `${issuer}/keys`,
    clients: 'any',
  })
  const showUser = (request, response) => response.json(request.user)
  return express()
    .use(passport.initialize())
    .get('/passport', passport.authenticate(strategy, { session: false }), showUser)
    .get('/tokenwell', requireToken(verifier, { user: ({ subject }) => findUser(subject) }), showUser)
    .get(
      '/both',
      requireToken(verifier),
      passport.authenticate(strategy, { session: false }),
      (request, response) => response.json({ user: request.user, client: request.accessToken.clientId }),
    )
}

module.exports = { audience, createOrdersApi, issuer }
