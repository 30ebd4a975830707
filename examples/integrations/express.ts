// Express: one provider for the process, and a route that calls an API with its token.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import express from 'express'

const tokens = clientCredentials(credentialsFrom(process.env))
const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })

export const app = express()

app.get('/orders', async (_request, response) => {
  const upstream = await apiFetch('/v1/orders')
  response.status(upstream.status).json(await upstream.json())
})
