import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sendAdminRequest as sendRequest, type AdminRequest } from '../../src/command/send-admin-request.ts'
import { UsageError } from '../../src/runtime/usage-error.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'

const list: AdminRequest = { method: 'GET', path: '/applications' }

/** What is printed in all. */
async function sendAdminRequest(...request: Parameters<typeof sendRequest>): Promise<string> {
  let printed = ''
  for await (const text of sendRequest(...request)) printed += text
  return printed
}

/** A listener for administrators that responds as told. */
async function listener(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  const close = () => new Promise((resolve) => server.close(resolve))
  onTestFinished(() => void close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, close, environment: { TOKENWELL_ADMIN_URL: url, TOKENWELL_ADMIN_TOKEN: 'the token' } }
}

describe('a request of an administrator', () => {
  it('is sent as JSON, with the token, and the response is printed with indentation', async () => {
    const received: unknown[] = []
    const { environment, url } = await listener((request, response) => {
      const { authorization, 'content-type': type } = request.headers
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        received.push([request.method, request.url, authorization, type, body])
        response.setHeader('content-type', 'application/json; charset=utf-8')
        response.end('{"clientId":"a"}')
      })
    })
    const withSlash = { ...environment, TOKENWELL_ADMIN_URL: `${url}//` }
    const body = { name: 'a' }
    expect(await sendAdminRequest({ method: 'POST', path: '/applications', body }, withSlash)).toBe(
      '{\n  "clientId": "a"\n}\n',
    )
    await sendAdminRequest(list, environment)
    expect(received).toEqual([
      ['POST', '/applications', 'Bearer the token', 'application/json', '{"name":"a"}'],
      ['GET', '/applications', 'Bearer the token', undefined, ''],
    ])
  })

  it('needs a token, from a variable or a file', async () => {
    const { url } = await listener(({ headers }, response) => response.end(headers.authorization))
    const folder = temporaryFolder({ token: 'in a file\n', empty: '\n' })
    const sendWith = (environment: NodeJS.ProcessEnv) =>
      sendAdminRequest(list, { TOKENWELL_ADMIN_URL: url, ...environment })
    const inFile = (name: string) => ({ TOKENWELL_ADMIN_TOKEN_FILE: join(folder, name) })
    expect(await sendWith(inFile('token'))).toBe('Bearer in a file')
    expect(await sendWith({ ...inFile('token'), TOKENWELL_ADMIN_TOKEN: 'other' })).toBe('Bearer other')
    for (const environment of [{}, inFile('empty')])
      await expect(sendWith(environment)).rejects.toThrow(
        'The administrator token is missing. Set TOKENWELL_ADMIN_TOKEN or TOKENWELL_ADMIN_TOKEN_FILE.',
      )
  })

  it('is sent to port 8081 on this machine by default', async () => {
    const send = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('sent'))
    onTestFinished(() => send.mockRestore())
    expect(await sendAdminRequest(list, { TOKENWELL_ADMIN_TOKEN: 'the token' })).toBe('sent')
    expect(send.mock.calls[0]?.[0]).toBe('http://127.0.0.1:8081/applications')
  })

  it.each<[args: string, variables?: Readonly<Record<string, string>>]>([
    ['--config service.yaml admin applications'],
    ['admin --config service.yaml applications'],
    ['admin applications', { TOKENWELL_CONFIG: 'service.yaml' }],
    ['--config other.yaml admin applications', { TOKENWELL_ADMIN_PORT: 'the port' }],
  ])('is sent to the port in the configuration file: %s %o', async (args, variables = {}) => {
    const { url } = await listener(({ headers }, response) => response.end(headers.authorization))
    const { port } = new URL(url)
    const token = 'token-in-a-file-0123456789-0123456789'
    const cwd = temporaryFolder({
      'service.yaml': `adminPort: ${port}\nadminHost: 0.0.0.0\nadminTokenFile: token\nsecretHashKeysFile: missing\n`,
      'other.yaml': 'adminPort: 1\nadminTokenFile: token\n',
      token: `${token}\n`,
    })
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value === 'the port' ? port : value]),
    )
    const { ended } = runCommand(args.split(' '), { cwd, env })
    expect(await ended).toEqual({ code: 0, stdout: `Bearer ${token}`, stderr: '' })
  })

  it('is repeated for the other pages of a list', async () => {
    const { environment } = await listener(({ url }, response) => {
      const page = Number(url?.split('=')[1] ?? 1)
      if (page < 3) response.setHeader('link', `</applications?after=${page + 1}>; rel="next"`)
      response.setHeader('content-type', 'application/json').end(JSON.stringify([page, [page]]))
    })
    expect(JSON.parse(await sendAdminRequest(list, environment))).toEqual([1, [1], 2, [2], 3, [3]])
  })

  it('is repeated for the pages of the audit log, and waits for what comes next until it fails', async () => {
    const pages = ['{"id":3}\n{"id":4}\n', '{"id":7}\n', '', '{"id":9}\n']
    const received: (string | undefined)[] = []
    const { environment } = await listener(({ url }, response) => {
      received.push(url)
      const page = pages[received.length - 1]
      if (page === undefined) return response.writeHead(503).end()
      if (received.length === 1) response.setHeader('link', '</audit?after=4&event=a>; rel="next"')
      response.setHeader('content-type', 'application/x-ndjson').end(page)
    })
    const printed: string[] = []
    const follow: AdminRequest = { method: 'GET', path: '/audit?after=2&event=a', follow: 'after' }
    const following = (async () => {
      for await (const text of sendRequest(follow, environment)) printed.push(text)
    })()
    await expect(following).rejects.toThrow('responded with status 503')
    expect(printed).toEqual(pages)
    expect(received).toEqual([2, 4, 7, 7, 9].map((after) => `/audit?after=${after}&event=a`))
  })

  it('returns what is not JSON as it is', async () => {
    const { environment } = await listener((_request, response) =>
      response.setHeader('content-type', 'application/x-ndjson').end('{"event":1}\n{"event":2}\n'),
    )
    expect(await sendAdminRequest(list, environment)).toBe('{"event":1}\n{"event":2}\n')
  })

  it.each([
    [400, '{"error":"name is missing."}', 'name is missing.'],
    [502, '{"error":{}}', 'URL responded with status 502.'],
    [503, '<h1>Unavailable</h1>', 'URL responded with status 503.'],
    [401, '{"error":"x"}', 'URL rejected the administrator token.'],
  ])('that is rejected with %s and %s is reported in one sentence', async (status, text, message) => {
    const { environment, url } = await listener((_request, response) => response.writeHead(status).end(text))
    const sending = sendAdminRequest(list, environment)
    await expect(sending).rejects.toThrow(UsageError)
    await expect(sending).rejects.toThrow(message.replace('URL', url))
  })

  it('follows no redirect, which would send the token elsewhere', async () => {
    const { environment, url } = await listener((_request, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    )
    await expect(sendAdminRequest(list, environment)).rejects.toThrow(`${url} responded with status 307.`)
  })

  it('names the reason when nobody listens', async () => {
    const { environment, url, close } = await listener(() => {})
    await close()
    await expect(sendAdminRequest(list, environment)).rejects.toThrow(
      new UsageError(`Could not reach ${url} (ECONNREFUSED). Check TOKENWELL_ADMIN_URL.`),
    )
  })

  it('names a port that fetch sends no request to', async () => {
    const environment = { TOKENWELL_ADMIN_URL: 'http://127.0.0.1:6000', TOKENWELL_ADMIN_TOKEN: 'the token' }
    await expect(sendAdminRequest(list, environment)).rejects.toThrow('127.0.0.1:6000 (bad port).')
  })

  it.each(['localhost:8081', 'not a URL', 'http://me:secret@127.0.0.1', 'http://me@127.0.0.1', 'ftp://a'])(
    'needs a URL, which %s is not',
    async (url) => {
      const environment = { TOKENWELL_ADMIN_URL: url, TOKENWELL_ADMIN_TOKEN: 'the token' }
      await expect(sendAdminRequest(list, environment)).rejects.toThrow(
        new UsageError(
          'TOKENWELL_ADMIN_URL must be an http or https URL without user name and password, such as http://127.0.0.1:8081.',
        ),
      )
    },
  )

  it.each([
    ['0 when the reader of its output has gone', '"$@" | true; exit "${PIPESTATUS[0]}"', 0, ''],
    [
      '1 on a full disk',
      '"$@" > /dev/full',
      1,
      'tokenwell-service: The output cannot be written (ENOSPC).\n',
    ],
  ])('exits with %s', async (_when, script, code, stderr) => {
    const { environment: env } = await listener((_request, response) => response.end('{}'))
    const { ended } = runCommand(['admin', 'applications'], { env, wrapper: ['bash', '-c', script, 'bash'] })
    expect(await ended).toEqual({ code, stdout: '', stderr })
  })
})
