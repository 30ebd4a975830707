import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RunningApis } from './api-config.ts'

export async function listen(server: Server): Promise<RunningApis> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
