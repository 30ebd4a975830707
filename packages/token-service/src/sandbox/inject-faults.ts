import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { presentedCredentials } from '../oauth/presented-credentials.ts'
import type { FormRequest } from '../http/oauth-endpoints.ts'
import { setOutcome } from '../http/request-outcome.ts'
import type { ApplicationStorage } from '../features/applications/storage.ts'
import type { Fault, FaultScript } from './fault-script.ts'
import { createFlaws } from './flawed-jwt.ts'
import type { AlterJwt } from '../oauth/jwt-access-token.ts'

/** Injects the scripted faults into requests to the OAuth endpoints; returns how a request's JWT is changed. */
export function injectFaults(
  server: FastifyInstance,
  script: FaultScript,
  applications: ApplicationStorage,
): (request: FastifyRequest) => AlterJwt | undefined {
  const flaws = createFlaws()
  const faults = new WeakMap<FastifyRequest, Fault>()
  const closing = new AbortController()
  server.addHook('preClose', (done) => {
    closing.abort()
    done()
  })

  server.addHook<FormRequest>('preHandler', async (request, reply) => {
    const clientId = clientIdOf(request.headers.authorization, request.body)
    const fault = script.take(request.routeOptions.url ?? '', clientId)
    if (!fault) return
    faults.set(request, fault)
    // Only a registered one: a client ID in a request may be anything.
    const client = clientId === undefined ? undefined : await applications.findClient(clientId)
    setOutcome(request, { clientId: client?.application.clientId })
    if (fault.latencyMs !== undefined) {
      await wait(fault.latencyMs, undefined, { signal: closing.signal }).catch(() => {})
    }
    if (fault.drop) return closeConnection(reply)
    if (fault.status === undefined && fault.body === undefined) return
    void reply.code(fault.status ?? 200).headers({ ...contentType(fault), ...fault.headers })
    return reply.send(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body))
  })

  server.addHook('onSend', (request, reply, payload, done) => {
    const bytes = faults.get(request)?.truncateAfterBytes
    if (bytes === undefined) return done()
    const whole = Buffer.from(typeof payload === 'string' ? payload : '')
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value ?? '')
    reply.raw.setHeader('content-length', whole.length)
    reply.raw.writeHead(reply.statusCode)
    reply.raw.write(whole.subarray(0, bytes), () => void closeConnection(reply))
  })

  return (request) => {
    const flaw = faults.get(request)?.jwt
    return flaw && flaws(flaw)
  }
}

function closeConnection(reply: FastifyReply): FastifyReply {
  reply.hijack()
  reply.raw.destroy()
  return reply
}

function clientIdOf(authorization: string | undefined, form: FormRequest['Body']): string | undefined {
  try {
    return presentedCredentials(authorization, form).clientId
  } catch {
    return undefined
  }
}

function contentType({ body }: Fault): Record<string, string> {
  if (body === undefined) return {}
  return {
    'content-type':
      typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
  }
}
