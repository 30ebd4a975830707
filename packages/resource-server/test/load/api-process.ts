// An API in a separate process, so that its memory is measured without that of the test.
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import Fastify from 'fastify'
import { createTokenVerifier, type TokenVerifierOptions } from '@tokenwell/resource-server'
import { resourceServer } from '@tokenwell/resource-server/fastify'

const app = Fastify()
app.register(resourceServer, {
  verifier: createTokenVerifier(JSON.parse(process.argv[2]!) as TokenVerifierOptions),
})
app.get('/', async () => 'ok')
process.once('disconnect', () => process.exit())
process.send!(await app.listen({ host: '127.0.0.1', port: 0 }))
for (;;) {
  await once(process, 'message')
  globalThis.gc!()
  // What the first collection has finalized.
  await setImmediate()
  globalThis.gc!()
  process.send!(process.memoryUsage().heapUsed)
}
