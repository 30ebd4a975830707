import Fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import { withoutSchemas } from '../http/create-server.ts'
import { guardControl } from './control-guard.ts'
import { faultSchema } from './fault-schema.ts'
import type { Sandbox } from './sandbox.ts'

const clockSchema = z.union([
  z.strictObject({ advanceSeconds: z.number().min(-1e9).max(1e9) }),
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
])

/** Control endpoints for tests: inject faults, move the clock, read the requests, reset the service. */
export function createControlServer(
  { clock, script, journal }: Sandbox,
  resetService: () => Promise<void>,
): FastifyInstance {
  const server = Fastify({ schemaController: withoutSchemas })

  guardControl(server)
  server.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const invalid = error instanceof z.ZodError
    const message = invalid ? z.prettifyError(error) : error.message
    return reply.code(invalid ? 400 : (error.statusCode ?? 500)).send({ error: message })
  })

  server.get('/faults', (_request, reply) => reply.send(script.pending()))
  server.post('/faults', (request, reply) =>
    reply.code(201).send(script.add(faultSchema.parse(request.body))),
  )
  server.delete('/faults', (_request, reply) => {
    script.reset()
    return reply.code(204).send()
  })

  const time = () => ({ now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs })
  server.get('/clock', (_request, reply) => reply.send(time()))
  server.post('/clock', (request, reply) => {
    const change = clockSchema.parse(request.body)
    clock.move('now' in change ? Date.parse(change.now) - clock.now() : change.advanceSeconds * 1000)
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
