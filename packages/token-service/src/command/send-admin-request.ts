import { userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode } from '@tokenwell/core/protocol'
import { userHeader } from '../features/operation.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { readText } from './configuration.ts'

/** A request to the administrators' endpoints of a running service. */
export interface AdminRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** The revision to change, or `*`. */
  readonly ifMatch?: string | undefined
  /** The parameter after whose value a list of lines continues: the command waits for what comes next. */
  readonly follow?: string | undefined
}

const followMs = 1_000

/** Sends the request, and those for further pages of a list; returns what to print. */
export async function* sendAdminRequest(
  { method, path, body, ifMatch, follow }: AdminRequest,
  environment: NodeJS.ProcessEnv,
): AsyncGenerator<string> {
  const { TOKENWELL_ADMIN_URL: url = 'http://127.0.0.1:8081', TOKENWELL_ADMIN_TOKEN_FILE: file } = environment
  const { protocol, username, password } = URL.parse(url) ?? {}
  if (!/^https?:$/.test(protocol ?? '') || username || password)
    throw new UsageError(
      'TOKENWELL_ADMIN_URL must be an http or https URL without user name and password, such as http://127.0.0.1:8081.',
    )
  const base = url.replace(/\/+$/, '')
  const token = environment['TOKENWELL_ADMIN_TOKEN'] ?? (file && readText(file).trim())
  if (!token)
    throw new UsageError(
      'The administrator token is missing. Set TOKENWELL_ADMIN_TOKEN or TOKENWELL_ADMIN_TOKEN_FILE.',
    )

  async function send(to: string): Promise<{ text: string; next: string | undefined; isJson: boolean }> {
    const response = await fetch(base + to, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${token}`,
        [userHeader]: userName(),
        ...(body && { 'content-type': 'application/json' }),
        ...(ifMatch && { 'if-match': ifMatch === '*' ? '*' : `"${ifMatch}"` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new UsageError(`Could not reach ${url} (${errorCode(error)}). Check TOKENWELL_ADMIN_URL.`)
    })
    const text = await response.text()
    if (response.status === 401) {
      throw new UsageError(
        `${url} rejected the administrator token. Check TOKENWELL_ADMIN_TOKEN or TOKENWELL_ADMIN_TOKEN_FILE.`,
      )
    }
    if (!response.ok)
      throw new UsageError(errorIn(text) ?? `${url} responded with status ${response.status}.`)
    const [, next] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? []
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { text, next, isJson }
  }

  const first = await send(path)
  if (first.isJson) {
    let result = JSON.parse(first.text) as unknown
    for (let { next } = first; next !== undefined;) {
      const page = await send(next)
      result = [result, JSON.parse(page.text)].flat()
      next = page.next
    }
    yield `${JSON.stringify(result, undefined, 2)}\n`
    return
  }
  let from = path
  for (let page = first; ; page = await send(from)) {
    yield page.text
    if (page.next !== undefined) from = page.next
    else if (follow === undefined) return
    else {
      from = continued(from, follow, lastId(page.text))
      await delay(followMs)
    }
  }
}

/** The ID in the last of the JSON lines, if there are any. */
function lastId(text: string): number | undefined {
  const line = text.trimEnd().split('\n').at(-1)
  return line ? (JSON.parse(line) as { id: number }).id : undefined
}

function continued(path: string, parameter: string, after: number | undefined): string {
  const [before = '', query] = path.split('?')
  const parameters = new URLSearchParams(query)
  if (after !== undefined) parameters.set(parameter, String(after))
  return `${before}?${parameters}`
}

/** For the audit log. Containers run as users without a name. */
function userName(): string {
  try {
    return encodeURIComponent(userInfo().username).slice(0, 100)
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
