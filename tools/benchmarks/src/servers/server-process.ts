// One server in a separate process: reports its address, and on request the resources that it has used.
import type { TokenServer } from './token-server.ts'

const name = process.argv[2] ?? ''
const { start } = (await import(`./${name}.ts`)) as { start: (options?: object) => Promise<TokenServer> }
const { url, bodies, requests } = await start(JSON.parse(process.argv[3] ?? '{}') as object)

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const { heapUsed } = process.memoryUsage()
  process.send?.({ cpuUs: user + system, heapBytes: heapUsed, requests: requests?.() ?? 0 })
})
process.once('disconnect', () => process.exit())
process.send?.({ url, bodies })
