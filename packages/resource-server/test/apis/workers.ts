import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { rolldown } from 'rolldown'
import workerd from 'workerd'
import type { ApiConfigs, RunningApis } from './api-config.ts'

/** Runs the APIs in workerd, the runtime of Cloudflare Workers. */
export async function startWorkers(configs: ApiConfigs): Promise<RunningApis> {
  const folder = await mkdtemp(join(tmpdir(), 'resource-server-'))
  const bundle = await rolldown({
    input: fileURLToPath(new URL('worker.ts', import.meta.url)),
    external: /^cloudflare:/,
    platform: 'browser',
    resolve: { conditionNames: ['@tokenwell/source', 'workerd', 'worker', 'import', 'default'] },
  })
  await bundle.write({ file: join(folder, 'worker.js'), format: 'esm', codeSplitting: false })
  await bundle.close()
  const port = await freePort()
  await writeFile(join(folder, 'config.capnp'), capnp(configs, port))
  const child = spawn(workerd, ['serve', join(folder, 'config.capnp')], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  child.stdout.on('data', (text) => output.push(String(text)))
  child.stderr.on('data', (text) => output.push(String(text)))
  const origin = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`workerd ended: ${output.join('')}`)
    if (
      await fetch(origin).then(
        () => true,
        () => false,
      )
    )
      break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    origin,
    async close() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

function capnp(configs: ApiConfigs, port: number): string {
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
      bindings = [(name = "APIS", text = ${JSON.stringify(JSON.stringify(configs))})],
    )),
    (name = "internet", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`
}
