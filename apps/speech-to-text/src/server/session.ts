import { randomBytes } from 'node:crypto'
import session from 'express-session'
import type { Request, RequestHandler } from 'express'

declare module 'express-session' {
  interface SessionData {
    startedAt: number
  }
}

/** Sessions in this process's memory: they end with it. Several processes need a store that they share. */
export function sessions(): RequestHandler {
  return session({
    name: 'speech-to-text',
    secret: randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    rolling: true,
    cookie: { httpOnly: true, sameSite: 'strict', secure: 'auto', maxAge: 8 * 3600_000 },
  })
}

/** Where a real application has its users log in. */
export function startSession(request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    // A new ID, so that nobody can foist a known one on somebody else.
    request.session.regenerate((error: unknown) => {
      if (error) return reject(error)
      request.session.startedAt = Date.now()
      resolve()
    })
  })
}
