import type { AddressInfo } from 'node:net'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { Test, type TestingModuleBuilder } from '@nestjs/testing'
import { AppModule } from '../../src/server/app.module.ts'
import { configureServer } from '../../src/server/run-server.ts'

/** The application, with some of its providers overridden, on a free port. */
export async function startNest(
  override: (module: TestingModuleBuilder) => TestingModuleBuilder,
): Promise<{ url: string; close(): Promise<void> }> {
  const module = await override(Test.createTestingModule({ imports: [AppModule] })).compile()
  const server = await configureServer(
    module.createNestApplication<NestExpressApplication>({
      logger: ['error', 'warn'],
      forceCloseConnections: true,
    }),
  )
  await server.listen(0, '127.0.0.1')
  const { port } = server.getHttpServer().address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
