import Fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Clock } from '../clock.ts'
import type { ServiceContext } from '../service-context.ts'
import { guardControl } from './control-guard.ts'
import { createFaultScript, faultSchema } from './fault-script.ts'
import { injectFaults } from './inject-faults.ts'
import { createJournal } from './journal.ts'
import { createMovableClock } from './movable-clock.ts'

/** What a test may do to the service from outside: script faults, move its clock, read what came in, start over. */
export interface Sandbox {
  /** The clock the service has to go by. */
  readonly clock: Clock
  /** Puts the OAuth endpoints under its control. */
  take(oauth: FastifyInstance, context: ServiceContext): void
  /** Where it is told what to do. */
  readonly control: FastifyInstance
}

const clockSchema = z.union([
  z.strictObject({ advanceSeconds: z.number().min(-1e9).max(1e9) }),
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
])

export function createSandbox(baseClock: Clock): Sandbox {
  const clock = createMovableClock(baseClock)
  const script = createFaultScript()
  const journal = createJournal()
  const control = Fastify()
  let startOver = async () => {}

  guardControl(control)
  control.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const mistake = error instanceof z.ZodError
    const message = mistake ? z.prettifyError(error) : error.message
    return reply.code(mistake ? 400 : (error.statusCode ?? 500)).send({ error: message })
  })

  control.get('/faults', (_request, reply) => reply.send(script.pending()))
  control.post('/faults', (request, reply) =>
    reply.code(201).send(script.add(faultSchema.parse(request.body))),
  )
  control.delete('/faults', (_request, reply) => {
    script.reset()
    return reply.code(204).send()
  })

  const time = () => ({ now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs })
  control.get('/clock', (_request, reply) => reply.send(time()))
  control.post('/clock', (request, reply) => {
    const change = clockSchema.parse(request.body)
    clock.move('now' in change ? Date.parse(change.now) - clock.now() : change.advanceSeconds * 1000)
    return reply.send(time())
  })

  control.get('/journal', (_request, reply) => reply.send(journal.read()))
  control.delete('/journal', (_request, reply) => {
    journal.reset()
    return reply.code(204).send()
  })

  control.post('/reset', async (_request, reply) => {
    script.reset()
    clock.reset()
    await startOver()
    journal.reset()
    return reply.code(204).send()
  })

  return {
    clock,
    control,
    take(oauth, { storage, reseed }) {
      journal.follow(oauth)
      injectFaults(oauth, script, storage.applications)
      startOver = reseed
    },
  }
}
