import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { onTestFinished } from 'vitest'
import { startApi, startRawApi } from './running-proxy.ts'

/**
 * An API that responds to `/v1/echo` with what it received, one `name=value` in each line, and to `/v1/odd` with
 * `oddFields` and `oddBody`.
 */
export interface Upstream {
  readonly name: string
  readonly isInstalled: boolean
  /** @returns its origin */
  readonly start: () => Promise<string>
  /** Whether its echo shows the body, and more than the first value of a field. */
  readonly showsAll: boolean
}

const echoedFields = [
  'accept-encoding',
  'authorization',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'upgrade',
  'x-end',
  'x-hop',
  'x-multi',
]

export const oddBody = gzipSync('compressed')
const oddFields: readonly (readonly [string, string])[] = [
  ['Connection', 'X-Hop'],
  ['Content-Encoding', 'gzip'],
  ['Keep-Alive', 'timeout=5'],
  ['Location', "/v1/next?a=%2f'b"],
  ['Proxy-Authenticate', 'Basic'],
  ['Set-Cookie', 'a=1'],
  ['Set-Cookie', 'b=2'],
  ['TE', 'trailers'],
  ['Trailer', 'X-Trailer'],
  ['Upgrade', 'h2c'],
  ['X-End', 'Zo\xEB'],
  ['X-Hop', '1'],
]

function echo(
  method: string,
  target: string,
  valueOf: (name: string) => string | undefined,
  body: string,
): string {
  const fields = echoedFields.map((name) => `${name}=${valueOf(name) ?? ''}`)
  return [`method=${method}`, `target=${target}`, `body=${body}`, ...fields].join('\n')
}

const node: Upstream = {
  name: 'Node',
  isInstalled: true,
  showsAll: true,
  start: () =>
    startApi(async (request, response) => {
      if (request.url === '/v1/odd') return void response.writeHead(200, oddFields.flat()).end(oddBody)
      const body = (await request.setEncoding('latin1').toArray()).join('')
      const valueOf = (name: string) => request.headers[name]?.toString()
      response.end(echo(request.method!, request.url!, valueOf, body), 'latin1')
    }),
}

const rawSocket: Upstream = {
  name: 'a raw socket',
  isInstalled: true,
  showsAll: true,
  start: () =>
    startRawApi((message, socket) => {
      const [head, ...bodies] = message.split('\r\n\r\n')
      const [start = '', ...lines] = head!.split('\r\n')
      const [method = '', target = ''] = start.split(' ')
      if (target === '/v1/odd') {
        const fields = oddFields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        socket.write(`HTTP/1.1 200 OK\r\n${fields}Content-Length: ${oddBody.length}\r\n\r\n`, 'latin1')
        socket.write(oddBody)
        return
      }
      const values = new Map<string, string[]>()
      for (const line of lines) {
        const [name = '', value = ''] = line.split(/: (.*)/s)
        values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value])
      }
      // A chunk of one size, which is the only one.
      const body = bodies[0]?.replace(/^[\da-f]+\r\n(.*)\r\n0$/s, '$1') ?? ''
      const text = echo(method, target, (name) => values.get(name)?.join(', '), body)
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${method === 'HEAD' ? '' : text}`,
        'latin1',
      )
    }),
}

const goProgram = `package main
import ("fmt"; "io"; "net"; "net/http"; "os"; "strings")
func main() {
  listener, err := net.Listen("tcp", "127.0.0.1:0")
  if err != nil { panic(err) }
  fmt.Println("http://" + listener.Addr().String())
  os.Stdout.Sync()
  http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
    if r.URL.Path == "/v1/odd" {
${oddFields.map(([name, value]) => `      w.Header().Add(${JSON.stringify(name)}, ${JSON.stringify(value).replace('\xEB', String.raw`\xeb`)})\n`).join('')}
      w.Write([]byte{${[...oddBody].join(', ')}})
      return
    }
    body, _ := io.ReadAll(r.Body)
    values := map[string]string{"host": r.Host}
    if r.ContentLength >= 0 && r.Header.Get("Content-Length") != "" { values["content-length"] = r.Header.Get("Content-Length") }
    if len(r.Trailer) > 0 { values["trailer"] = "announced" }
    for name, list := range r.Header { values[strings.ToLower(name)] = strings.Join(list, ", ") }
    fmt.Fprintf(w, "method=%s\\ntarget=%s\\nbody=%s", r.Method, r.RequestURI, body)
    for _, name := range []string{${echoedFields.map((name) => JSON.stringify(name)).join(', ')}} { fmt.Fprintf(w, "\\n%s=%s", name, values[name]) }
  }))
}
`

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-upstream-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function startProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  return child
}

const go: Upstream = {
  name: 'Go',
  isInstalled: spawnSync('go', ['version']).status === 0,
  showsAll: true,
  async start() {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'main.go'), goProgram)
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GOCACHE: join(folder, 'cache'),
      GO111MODULE: 'off',
    }
    const program = join(folder, 'main')
    const built = spawnSync('go', ['build', '-o', program, join(folder, 'main.go')], {
      env,
      encoding: 'utf8',
    })
    if (built.status !== 0) throw new Error(built.stderr)
    const [origin] = (await once(startProgram(program, []).stdout, 'data')) as [Buffer]
    return origin.toString().trim()
  },
}

const nginx: Upstream = {
  name: 'nginx',
  isInstalled: spawnSync('nginx', ['-v']).status === 0,
  // It reads one only to pass it on.
  showsAll: false,
  async start() {
    const folder = temporaryFolder()
    const port = await freePort()
    const fields = echoedFields.map((name) => `\n${name}=$http_${name.replaceAll('-', '_')}`).join('')
    writeFileSync(join(folder, 'odd'), oddBody)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr emerg; events {}
      http {
        access_log off; default_type text/plain;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
        server {
          listen 127.0.0.1:${port};
          location = /v1/odd {
            alias ${folder}/odd;
            ${oddFields.map(([name, value]) => `add_header ${name} "${value}";`).join('\n')}
          }
          location / { return 200 "method=$request_method\ntarget=$request_uri\nbody=${fields}"; }
        }
      }`,
      'latin1',
    )
    startProgram('nginx', ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'])
    await listening(port)
    return `http://127.0.0.1:${port}`
  },
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (connected) return
    await setTimeout(20)
  }
}

export const upstreams: readonly Upstream[] = [nginx, node, go, rawSocket]
