import { randomBytes } from 'node:crypto'
import session from 'express-session'
import type { Request, RequestHandler } from 'express'

declare module 'express-session' {
  interface SessionData {
    startedAt: number
  }
}

/** Keeps sessions in memory, until the process exits. Several processes need a shared store. */
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

/** A real application logs the user in here. */
export function startSession(request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    // A new ID prevents session fixation.
    request.session.regenerate((error: unknown) => {
      if (error) return reject(error)
      request.session.startedAt = Date.now()
      resolve()
    })
  })
}
