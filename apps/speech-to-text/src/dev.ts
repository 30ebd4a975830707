import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { runServer } from './server/run-server.ts'

// Serves the page from its sources, with hot module replacement.
await runServer(async (server) => {
  const vite = await createServer({
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    server: { middlewareMode: true, hmr: { server } },
  })
  return vite.middlewares
})
