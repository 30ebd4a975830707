import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { baseUrl } from '../http/base-url.ts'
import type { RawParameters } from '../http/parameters.ts'
import { ProtocolError } from '../http/protocol-error.ts'
import type { ServiceContext } from '../service-context.ts'
import type { Developer } from '../storage/developer-storage.ts'
import { StorageFailure } from '../storage/storage-failure.ts'
import { accountSteps } from './account-steps.ts'
import { applicationSteps } from './application-steps.ts'
import { developerSteps } from './developer-steps.ts'
import type { Answer, DeveloperStep, Exchange, Step } from './exchange.ts'
import { sendPage } from './page/send-page.ts'
import { refusalPage, type Refusal } from './pages/refusal-page.ts'
import { createPaths } from './paths.ts'
import { passwordSteps } from './password-steps.ts'
import { PortalRefusal } from './portal-refusal.ts'
import { projectSteps } from './project-steps.ts'
import { secretSteps } from './secret-steps.ts'
import { createVisit, isFormToken, readVisit, sessionSeconds, visitCookie, type Visit } from './visit.ts'

type Steps = ReturnType<typeof createSteps>
export type PortalStep = keyof Steps['forAll'] | keyof Steps['forDevelopers']

export interface Portal {
  take(step: PortalStep, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
  refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
  notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

function createSteps(context: ServiceContext) {
  const { forAll, forDevelopers } = accountSteps(context)
  return {
    forAll: { ...forAll, ...passwordSteps(context) },
    forDevelopers: {
      ...forDevelopers,
      ...developerSteps(context),
      ...projectSteps(context),
      ...applicationSteps(context),
      ...secretSteps(context),
    },
  }
}

export function createPortal(context: ServiceContext, publicUrl: string | undefined): Portal {
  const { keyring, storage, clock } = context
  const steps = createSteps(context)
  const forAll: Readonly<Record<string, Step | undefined>> = steps.forAll
  const forDevelopers: Readonly<Record<string, DeveloperStep | undefined>> = steps.forDevelopers
  const paths = createPaths(publicUrl)

  async function open(request: FastifyRequest, visit: Visit): Promise<Exchange> {
    return {
      params: request.params as Record<string, string>,
      form: (request.body ?? {}) as RawParameters,
      address: request.ip,
      baseUrl: baseUrl(request, publicUrl),
      visit,
      paths,
      developer: await storage.sessions.find(visit.hash, clock.now()),
    }
  }

  async function answerOf(step: PortalStep, exchange: Exchange): Promise<Answer> {
    const { developer } = exchange
    const known = forDevelopers[step]
    if (!known) return (await forAll[step]?.(exchange)) ?? {}
    return developer ? known({ ...exchange, developer }) : { redirectTo: paths.logIn }
  }

  function send(request: FastifyRequest, reply: FastifyReply, visit: Visit | undefined, answer: Answer) {
    const { page, status, redirectTo, session, ended, retryAfterSeconds } = answer
    const cookie = (kept: Visit | undefined, maxAge?: number) => {
      const secure = baseUrl(request, publicUrl).startsWith('https:')
      void reply.header('set-cookie', visitCookie(keyring, kept, { path: paths.root, secure, maxAge }))
    }
    if (session) cookie(session, sessionSeconds)
    else if (ended) cookie(undefined)
    else if (visit) cookie(visit)
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
    if (redirectTo !== undefined) return reply.header('cache-control', 'no-store').redirect(redirectTo, 303)
    return sendPage(reply, page, status)
  }

  /** Pages of errors come without a storage, too. */
  async function developerOf(visit: Visit | undefined): Promise<Developer | undefined> {
    try {
      return visit && (await storage.sessions.find(visit.hash, clock.now()))
    } catch {
      return undefined
    }
  }

  async function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const refusal = refusalOf(error)
    if (refusal === 'internal' || refusal === 'unavailable') request.log.error(error)
    const visit = readVisit(keyring, request.headers.cookie)
    const developer = await developerOf(visit)
    return send(request, reply, undefined, refusalPage(refusal, { paths, developer, visit }))
  }

  return {
    async take(step, request, reply) {
      const known = readVisit(keyring, request.headers.cookie)
      if (request.method === 'POST') {
        const presented = (request.body as RawParameters | undefined)?.['form_token']
        if (!known || !isFormToken(keyring, known, presented)) throw new PortalRefusal('form_not_ours')
      }
      const visit = known ?? createVisit(keyring)
      const answer = await answerOf(step, await open(request, visit))
      return send(request, reply, known ? undefined : visit, answer)
    },
    refuse,
    notFound: (request, reply) => refuse(new PortalRefusal('not_found'), request, reply),
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof PortalRefusal) return error.reason
  if (error instanceof StorageFailure) return 'unavailable'
  if (error instanceof ProtocolError) return 'bad_form'
  const { statusCode } = error as Partial<FastifyError>
  return statusCode !== undefined && statusCode < 500 ? 'bad_form' : 'internal'
}
