import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { Check, Finding } from '../../src/doctor/finding.ts'
import { runTokenwell } from '../tokenwell-process.ts'

const checks: readonly Check[] = [
  'environment',
  'authentication',
  'address',
  'network',
  'certificate',
  'request',
  'response',
  'lifetime',
  'clock',
  'api',
  'wrong secret',
]

export interface Examined {
  readonly code: number
  readonly findings: readonly Finding[]
  /** Codes of warnings and problems, except those about slowness, which a busy machine causes. */
  readonly faults: readonly string[]
  /** Message and advice of a finding. */
  readonly textOf: (code: string) => string
}

/** Runs `tokenwell doctor` and checks what applies to all of its findings. */
export async function examined(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Examined> {
  const { code, stdout, stderr } = await runTokenwell(['doctor', '--json', ...args], env)
  expect(stderr).toBe('')
  for (const secret of [env['CLIENT_SECRET'], env['CONSUMER_SECRET']])
    if (secret) expect(stdout).not.toContain(secret)
  // The length of the service's tokens.
  expect(stdout).not.toMatch(/[\w-]{43}/)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  for (const { check, message } of findings) {
    expect(checks).toContain(check)
    expect(message).toMatch(/^\S.*[.]$/)
  }
  const wrong = findings.filter(({ level }) => level === 'problem' || level === 'warning')
  // Each has an advice.
  for (const { advice } of wrong) expect(advice).toMatch(/\.$/)
  expect(code).toBe(wrong.some(({ level }) => level === 'problem') ? 1 : 0)
  return {
    code,
    findings,
    faults: wrong.map((finding) => finding.code).filter((fault) => fault !== 'slow'),
    textOf: (wanted) => {
      const found = findings.find((finding) => finding.code === wanted)
      return `${found?.message} ${found?.advice}`
    },
  }
}

/** A TCP server that handles connections as a test says. */
export async function startRawServer(serve: (socket: Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
