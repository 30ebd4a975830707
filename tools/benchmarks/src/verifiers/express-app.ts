import express, { type RequestHandler } from 'express'
import inject from 'light-my-request'
import type { ProtectedApi } from './verifier.ts'

export function expressApi(protect: RequestHandler, token: string): ProtectedApi {
  const app = express().disable('x-powered-by').disable('etag')
  const respond: RequestHandler = (_request, response) => void response.end('ok')
  app.get('/open', respond)
  app.get('/protected', protect, respond)
  const dispatch = app as unknown as inject.DispatchFunc
  return {
    token,
    async call(url, value) {
      return (await inject(dispatch, { url, headers: { authorization: `Bearer ${value}` } })).statusCode
    },
  }
}
