import Fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import { parseValue } from '../runtime/parse-value.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { faultSchema } from './fault-script.ts'
import type { Sandbox } from './sandbox.ts'

const clockSchema = z.union(
  [
    z.strictObject({ advanceSeconds: z.number().min(-1e9).max(1e9) }),
    z.strictObject({ now: z.iso.datetime({ offset: true }) }),
  ],
  'must contain either advanceSeconds (a number) or now (a date and time, such as 2030-01-31T00:00:00Z)',
)

/** Later ones are written with six digits, which few programs read. */
const maxTimeMs = Date.UTC(9999, 11, 31)

/** Control endpoints for tests: inject faults, move the clock, read the requests, reset the service. */
export function createControlServer(
  { clock, script, journal }: Sandbox,
  resetService: () => Promise<void>,
): FastifyInstance {
  const server = Fastify()

  guardControl(server)
  server.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const status = error instanceof UsageError ? 400 : (error.statusCode ?? 500)
    return reply.code(status).send({ error: error.message })
  })

  server.get('/faults', (_request, reply) => reply.send(script.pending()))
  server.post('/faults', (request, reply) =>
    reply.code(201).send(script.add(parseValue(faultSchema, request.body))),
  )
  server.delete('/faults', (_request, reply) => {
    script.reset()
    return reply.code(204).send()
  })

  const time = () => ({ now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs })
  server.get('/clock', (_request, reply) => reply.send(time()))
  server.post('/clock', (request, reply) => {
    const change = parseValue(clockSchema, request.body)
    const byMs = 'now' in change ? Date.parse(change.now) - clock.now() : change.advanceSeconds * 1000
    if (Math.abs(clock.now() + byMs) > maxTimeMs) {
      throw new UsageError('The clock cannot be moved beyond the year 9999. Set it back: POST /reset.')
    }
    clock.move(byMs)
    return reply.send(time())
  })

  server.get('/journal', (_request, reply) => reply.send(journal.read()))
  server.delete('/journal', (_request, reply) => {
    journal.reset()
    return reply.code(204).send()
  })

  server.post('/reset', async (_request, reply) => {
    script.reset()
    clock.reset()
    await resetService()
    journal.reset()
    return reply.code(204).send()
  })
  return server
}

/**
 * Rejects requests from web pages, which can reach loopback addresses too, by their `Origin`, `Host` and content type.
 */
function guardControl(server: FastifyInstance): void {
  server.removeContentTypeParser('text/plain')
  server.addHook('onRequest', (request, reply, done) => {
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${request.socket.localPort}`)
    if (request.headers.origin !== undefined) {
      return void reply.code(403).send({ error: 'Requests from web pages are not allowed.' })
    }
    if (!hosts.includes(request.headers.host ?? '')) {
      return void reply.code(403).send({ error: `The Host header must be one of ${hosts.join(', ')}.` })
    }
    if (request.method === 'POST' && !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return void reply.code(415).send({ error: 'The content type must be application/json.' })
    }
    done()
  })
}
