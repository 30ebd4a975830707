import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createRandom } from '@tokenwell/internal-testing/random'
import type { TokenServiceOptions } from '@tokenwell/token-service'
import { featureOperations } from '../../src/features/all-operations.ts'
import type { AnyOperation } from '../../src/features/operation.ts'
import { jsonSchema } from '../../src/runtime/json-schema.ts'
import { UsageError } from '../../src/runtime/usage-error.ts'
import { resolveOptions, serviceSettings } from '../../src/service/service-settings.ts'
import { createPortalBrowser, password, plainText, type PortalBrowser } from '../portal/portal-browser.ts'
import {
  administeredService,
  application,
  basic,
  postForm,
  requestToken,
  resourceServer,
  tokenPath,
  type AdministeredService,
} from '../test-service.ts'

const numbers = [-1, -0.5, 0.1234, 1.5, 2 ** 31, 8.64e15 + 1, 9.1e15, 1e21, -1e21, 5e-324]
const texts = [
  '',
  ' ',
  'a\0b',
  'a\ud800b',
  '\udc00',
  'a\u202eb',
  'a\nb',
  'ﷺ'.repeat(200),
  'é😀'.repeat(60),
  'x'.repeat(600),
  'x'.repeat(2_000),
  'x'.repeat(100_000),
  '1e21',
  '9100000000000',
  '-1',
  '0.5',
  '2026-02-31',
  '9999-12-31T23:59:59Z',
  '+275760-09-14T00:00:00Z',
  '%00',
  '__proto__',
]
const values: readonly unknown[] = [...numbers, ...texts]

/** One value that enters somewhere, and what may not follow from it. */
interface Probe {
  readonly about: string
  /** Returns what is wrong with the response. */
  readonly send: () => Promise<string | undefined>
}

export interface Findings {
  readonly sent: number
  readonly problems: readonly string[]
  /** Token requests of another client meanwhile. */
  readonly others: number
  readonly othersFailed: number
}

const issuer = 'https://ci.example.com'
const configured = { name: 'ci', clientId: 'ci' }
const prober = { ...application, clientId: 'prober' }

/** Sends a part of all hostile values, wherever a value enters the service. */
export async function sendHostileValues(
  storage: string,
  { seed, most }: { readonly seed: number; readonly most: number },
): Promise<Findings> {
  const pair = await generateKeyPair('ES256')
  const jwks = { keys: [await exportJWK(pair.publicKey)] }
  const rules = [{ clientId: configured.clientId, claims: { iss: issuer } }]
  const service = await administeredService({
    storage,
    // What is in the configuration, no probe changes.
    applications: [application, prober, { ...configured, jwks }],
    trustedIssuers: [{ issuer, jwks, rules }],
    secretHashKeys: ['k'.repeat(40)],
    failureAttempts: 1_000_000,
    products: ['speech-to-text', 'sms'],
    scopes: ['read'],
  })
  const victim = await prepare(service, jwks)
  const all = [
    ...(await apiProbes(service, victim)),
    ...(await portalProbes(service)),
    ...(await protocolProbes(service, pair.privateKey)),
    ...settingProbes(),
  ]
  const random = createRandom(seed)
  const chosen = all.map((probe) => [random(), probe] as const).toSorted(([a], [b]) => a - b)
  let [others, othersFailed] = [0, 0]
  const end = new AbortController()
  const honest = (async () => {
    while (!end.signal.aborted) {
      others += 1
      if ((await requestToken(service.authUrl, application)).status !== 200) othersFailed += 1
    }
  })()
  const problems: string[] = []
  const sent = chosen.slice(0, most)
  for (const [index, [, { about, send }]] of sent.entries()) {
    const problem = await send()
    if (problem !== undefined) problems.push(`${about}: ${problem}`)
    if (index % 200 === 199 || index === sent.length - 1)
      problems.push(...(await unreadable(service)).map((each) => `after ${about}: ${each}`))
  }
  end.abort()
  await honest
  return { sent: sent.length, problems, others, othersFailed }
}

/** What the hostile values are about. */
async function prepare({ send }: AdministeredService, jwks: { readonly keys: readonly object[] }) {
  const project = (await send('POST', '/projects', { name: 'Hostile' })).body
  const client = (await send('POST', '/applications', { name: 'victim', projectId: project.id })).body
  const server = (await send('POST', '/resource-servers', { name: 'api' })).body
  const [jwk] = jwks.keys
  const [key] = (await send('POST', `/applications/${client.clientId}/keys`, { key: JSON.stringify(jwk) }))
    .body
  const rules = [{ clientId: client.clientId as string, claims: { iss: 'a' } }]
  const trusted = { issuer: 'https://second.example.com', jwks, rules }
  const { id } = (await send('POST', '/trusted-issuers', trusted)).body
  return { project, client, server, key, trusted: { ...trusted, id }, jwk }
}

type Victim = Awaited<ReturnType<typeof prepare>>

/** Half of a surrogate pair has no place in a URL. */
const isWellFormed = (text: string) => !/\p{Cs}/u.test(text)

const label = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length})` : text
}

/** What would end the victim, or what is about nothing that was sent. */
const isDestructive = ({ method, path }: AnyOperation) =>
  method === 'delete' || /revoke|decline|rotation|demote|password-link/.test(String(path))

async function apiProbes({ send }: AdministeredService, victim: Victim): Promise<Probe[]> {
  const { project, client, server, key, trusted, jwk } = victim
  const required: Readonly<Record<string, unknown>> = {
    name: 'a',
    projectId: project.id,
    key: JSON.stringify(jwk),
    jwks: trusted.jwks,
    rules: trusted.rules,
    audiences: ['https://api.example.com'],
  }
  const fill = (path: string) =>
    path
      .replace('/applications/:clientId', `/applications/${client.clientId}`)
      .replace('/resource-servers/:clientId', `/resource-servers/${server.clientId}`)
      .replace('/keys/:id', `/keys/${key.id}`)
      .replace('/trusted-issuers/:id', `/trusted-issuers/${trusted.id}`)
      .replace(/:\w+/, 'a')
  const probes: Probe[] = []
  for (const operation of featureOperations.flatMap(({ operations }) => operations)) {
    const path = String(operation.path)
    const method = operation.method.toUpperCase()
    const add = (about: string, field: string, sent: unknown, at: string, body?: unknown) =>
      probes.push({
        about: `${method} ${path} ${about} ${label(sent)}`,
        async send() {
          // A change states which revision it is of.
          const response = await send(method, at, body)
          return apiProblem(response, field, sent)
        },
      })
    for (const [, name = ''] of path.matchAll(/:(\w+)/g)) {
      for (const text of texts.filter((each) => each !== '' && isWellFormed(each) && each.length < 3_000))
        if (!isDestructive(operation) || text !== 'a')
          add(
            `:${name}`,
            '',
            text,
            fill(path.replace(`:${name}`, encodeURIComponent(text))),
            operation.body && {},
          )
    }
    if (isDestructive(operation)) continue
    for (const name of Object.keys(operation.query ? propertiesOf(operation.query) : {}))
      for (const value of values)
        if (isWellFormed(String(value)) && String(value).length < 5_000)
          add(`?${name}`, name, value, `${fill(path)}?${new URLSearchParams({ [name]: String(value) })}`)
    const properties = operation.body ? propertiesOf(operation.body) : {}
    const needed = operation.body
      ? ((jsonSchema(operation.body)['required'] as string[] | undefined) ?? [])
      : []
    const isNew = operation.method === 'post'
    // An issuer is trusted once.
    const issuerOf = () => `https://${isNew ? crypto.randomUUID() : 'second'}.example.com`
    const base = () =>
      Object.fromEntries(needed.map((name) => [name, name === 'issuer' ? issuerOf() : required[name]]))
    for (const name of Object.keys(properties))
      for (const value of values)
        for (const shaped of [
          value,
          [value],
          { a: value },
          { [String(value)]: 1 },
          [{ clientId: value, claims: {} }],
        ])
          add(name, name, shaped, fill(path), { ...base(), [name]: shaped })
  }
  return probes
}

const propertiesOf = (schema: Parameters<typeof jsonSchema>[0]) =>
  (jsonSchema(schema) as { readonly properties?: Readonly<Record<string, unknown>> }).properties ?? {}

function apiProblem({ status, body }: { status: number; body: unknown }, field: string, sent: unknown) {
  if (status >= 500) return `${status}`
  const { error } = (body ?? {}) as { readonly error?: unknown }
  if (status >= 400) {
    if (typeof error !== 'string' || error === '') return `${status} without a reason`
    const word = /^[a-z]{3,}/.exec(field)?.[0].replace(/s$/, '') ?? ''
    const isNamed = error.toLowerCase().includes(word)
    // Fastify rejects what could change the prototype of objects, and a client has a limited number of keys.
    const isAboutOther = /is not valid JSON|^At most/.test(error)
    return status === 400 && !isAboutOther && !isNamed
      ? `400 does not name ${field}: ${error.slice(0, 200)}`
      : undefined
  }
  const read = (body as Readonly<Record<string, unknown>> | undefined)?.[field]
  const isScalar = typeof sent === 'string' || typeof sent === 'number'
  const expected = typeof sent === 'string' ? sent.trim() : sent
  return isScalar && read !== undefined && read !== expected ? `reads back as ${label(read)}` : undefined
}

const pages = [
  'get-started',
  'applications',
  'projects',
  'approvals',
  'developers',
  'resource-servers',
  'trusted-issuers',
  'products',
  'scopes',
  'audit',
  'expiring-secrets',
  'new-trusted-issuer?preset=github',
  'new-project',
  'new-application',
  'account',
]

/** Everything that people and programs read lists of. */
async function unreadable({ send, authUrl }: AdministeredService): Promise<string[]> {
  const found: string[] = []
  for (const { method, path } of featureOperations.flatMap(({ operations }) => operations)) {
    if (method !== 'get' || String(path).includes(':')) continue
    const { status } = await send('GET', String(path))
    if (status >= 500) found.push(`GET ${path}: ${status}`)
  }
  for (const page of pages) {
    const { status } = await browserOf(authUrl).get(`/portal/${page}`)
    if (status >= 500) found.push(`/portal/${page}: ${status}`)
  }
  return found
}

const browsers = new Map<string, PortalBrowser>()
const browserOf = (authUrl: string) => browsers.get(authUrl)!

interface Form {
  readonly action: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
}

function formsOf(markup: string, url: string): Form[] {
  return [...markup.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => {
    const fields: Record<string, string> = {}
    for (const [tag] of body.matchAll(/<(?:input|textarea|select)[^>]*>/gs)) {
      const [, name] = / ?name="([^"]+)"/.exec(tag) ?? []
      if (name !== undefined && !/type="(?:password|radio)"/.test(tag))
        fields[name] = plainText(/value="([^"]*)"/.exec(tag)?.[1] ?? '')
    }
    for (const [, name = '', text = ''] of body.matchAll(
      /<textarea[^>]*name="([^"]+)"[^>]*>(.*?)<\/textarea>/gs,
    ))
      fields[name] = plainText(text)
    for (const [, name = '', options = ''] of body.matchAll(
      /<select[^>]*name="([^"]+)"[^>]*>(.*?)<\/select>/gs,
    ))
      fields[name] =
        /value="([^"]*)"[^>]*selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1] ?? ''
    const action = plainText(/action="([^"]+)"/.exec(head)?.[1] ?? url)
    return { action, method: /method="(\w+)"/.exec(head)?.[1] ?? 'get', fields }
  })
}

/** Each field of each form that an administrator finds. */
async function portalProbes(service: AdministeredService): Promise<Probe[]> {
  const browser = createPortalBrowser(service.authUrl)
  browsers.set(service.authUrl, browser)
  const { pathname } = new URL((await service.createSetupLink()) ?? '')
  await browser.get(pathname)
  await browser.post(pathname, { name: 'ada', password })
  const visited = new Map<string, string>()
  const open = pages.map((page) => `/portal/${page}`)
  for (let url = open.shift(); url !== undefined && visited.size < 60; url = open.shift()) {
    if (visited.has(url)) continue
    const { text, status } = await browser.get(url)
    visited.set(url, status === 200 ? text : '')
    for (const [, href = ''] of text.matchAll(/<a[^>]+href="(\/portal\/[^"?#]+)"/g))
      if (!/assets|export|log-/.test(href)) open.push(href)
  }
  const forms = new Map<string, Form>()
  for (const [url, text] of visited)
    for (const form of formsOf(text, url))
      if (
        !/removal|deletion|revocation|withdrawal|log-out|sessions|role|end|account|approv/.test(form.action)
      )
        forms.set(`${form.method} ${form.action}`, form)
  const probes: Probe[] = []
  for (const { action, method, fields } of forms.values()) {
    for (const name of Object.keys(fields).filter((each) => each !== 'csrf_token')) {
      for (const text of texts) {
        const form = { ...fields, [name]: text }
        probes.push({
          about: `portal ${method} ${action} ${name} ${label(text)}`,
          async send() {
            const { csrf_token: _, ...query } = form
            const response =
              method === 'get'
                ? await browser.get(`${action}?${new URLSearchParams(query).toString().slice(0, 6_000)}`)
                : await browser.post(action, { ...form, csrf_token: browser.csrfToken })
            if (response.status >= 500) return `${response.status}`
            const next = response.location
            if (next === null || !next.startsWith('/portal')) return undefined
            const { status } = await browser.get(next)
            return status >= 500 ? `${status} at ${next}` : undefined
          },
        })
      }
    }
  }
  return probes
}

/** Parameters of the protocol's endpoints, and claims of the JWTs that they take. */
async function protocolProbes({ authUrl }: AdministeredService, key: CryptoKey): Promise<Probe[]> {
  const { clientId, clientSecret } = prober
  const endpoint = `${authUrl}${tokenPath}`
  const grant = `${endpoint}?grant_type=client_credentials`
  const jwtGrant = `${endpoint}?grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer`
  const check = async (response: Promise<{ status: number }>) => {
    const { status } = await response
    return status >= 500 ? `${status}` : undefined
  }
  const probes: Probe[] = []
  const add = (about: string, value: unknown, send: () => Promise<{ status: number }>) =>
    probes.push({ about: `${about} ${label(value)}`, send: () => check(send()) })
  for (const text of texts.map((each) => each.slice(0, 20_000))) {
    for (const name of [
      'client_id',
      'client_secret',
      'scope',
      'resource',
      'assertion',
      'client_assertion',
      'x',
    ])
      add(`token request ${name}`, text, () =>
        postForm(grant, { client_id: clientId, client_secret: clientSecret, [name]: text }),
      )
    for (const [path, name] of [
      ['/oauth/introspect', 'token'],
      ['/oauth/introspect', 'token_type_hint'],
      ['/oauth/revoke', 'token'],
    ] as const)
      add(`${path} ${name}`, text, () =>
        postForm(authUrl + path, { token: 'a', [name]: text }, basic(resourceServer)),
      )
  }
  const claims = ['exp', 'iat', 'nbf', 'jti', 'sub', 'aud', 'iss']
  const seconds = () => Math.floor(Date.now() / 1000)
  // Fractions are valid (RFC 7519, section 2).
  const fraction = { description: 'now, with a fraction', value: () => seconds() + 30.1234 }
  const past = { description: 'a moment ago', value: () => seconds() - 0.5 }
  const constants = [...values, null, {}, [1]].map((value) => ({
    description: label(value),
    value: () => value,
  }))
  const sign = (of: object) => new SignJWT({ ...of }).setProtectedHeader({ alg: 'ES256' }).sign(key)
  for (const name of claims) {
    for (const { description, value } of [
      fraction,
      past,
      ...constants.filter(({ value: of }) => String(of()).length < 5_000),
    ]) {
      const times = () => ({ iat: seconds(), exp: seconds() + 60, jti: crypto.randomUUID() })
      add(`JWT grant ${name}`, description, async () => {
        const claimed = { iss: issuer, sub: 'a', aud: authUrl }
        return postForm(jwtGrant, { assertion: await sign({ ...claimed, ...times(), [name]: value() }) })
      })
      add(`client assertion ${name}`, description, async () => {
        const own = { iss: configured.clientId, sub: configured.clientId, aud: authUrl }
        return postForm(grant, {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await sign({ ...own, ...times(), [name]: value() }),
        })
      })
    }
  }
  return probes
}

/** Each setting, and each member of an application, a resource server and an issuer in the configuration. */
function settingProbes(): Probe[] {
  const shapes: Readonly<Record<string, (name: string, value: unknown) => object>> = {
    '': (name, value) => ({ [name]: value }),
    applications: (name, value) => ({ applications: [{ ...application, [name]: value }] }),
    resourceServers: (name, value) => ({ resourceServers: [{ ...resourceServer, [name]: value }] }),
  }
  const { applications, resourceServers } = serviceSettings.shape
  const names: Readonly<Record<string, readonly string[]>> = {
    '': Object.keys(serviceSettings.shape).filter((name) => name !== 'sandbox'),
    applications: Object.keys(applications.unwrap().element.shape),
    resourceServers: Object.keys(resourceServers.unwrap().element.shape),
  }
  return Object.entries(names).flatMap(([of, all]) =>
    all.flatMap((name) =>
      values.map((value) => ({
        about: `setting ${of} ${name} ${label(value)}`,
        async send() {
          try {
            resolveOptions(shapes[of]!(name, value) as TokenServiceOptions)
            return undefined
          } catch (error) {
            return error instanceof UsageError ? undefined : String(error)
          }
        },
      })),
    ),
  )
}
