import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { runServer } from './server/run-server.ts'

// The page straight from its sources, changed in place as they change.
await runServer({
  async servePage(server) {
    const vite = await createServer({
      configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
      server: { middlewareMode: true, hmr: { server } },
    })
    return vite.middlewares
  },
})
