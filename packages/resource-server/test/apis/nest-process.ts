import 'reflect-metadata'
import { Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { RequireTokenOptions } from '@tokenwell/resource-server'
import {
  OptionalToken,
  RequireScopes,
  Require,
  ResourceServerModule,
  TokenGuard,
  VerifiedAccessToken,
} from '@tokenwell/resource-server/nestjs'
import { routes, type ApiConfigs } from './api-config.ts'

// An application on the built package, in a separate process that may run another version of NestJS. Its
// decorators are called as functions: Node strips types, but does not support decorators.

function apiModule(name: string, options: ApiConfigs[string]): DynamicModule {
  const controllers = Object.entries(routes).map(([route, requirements]: [string, Requirements]) => {
    const { optional = false, scopes = [], ...others } = requirements
    class ApiController {
      show(token: unknown): unknown {
        return token ?? '"anonymous"'
      }
    }
    VerifiedAccessToken()(ApiController.prototype, 'show', 0)
    const method = Object.getOwnPropertyDescriptor(ApiController.prototype, 'show')!
    Get(route)(ApiController.prototype, 'show', method)
    if (optional) OptionalToken()(ApiController.prototype, 'show', method)
    else Require(others)(ApiController)
    if (scopes.length > 0) RequireScopes(...scopes)(ApiController.prototype, 'show', method)
    UseGuards(TokenGuard)(ApiController)
    Controller(name)(ApiController)
    return ApiController
  })
  // oxlint-disable-next-line typescript/no-extraneous-class -- decorated below
  class ApiModule {}
  Module({})(ApiModule)
  return { module: ApiModule, imports: [ResourceServerModule.forRoot(options)], controllers }
}

type Requirements = RequireTokenOptions<never>

// oxlint-disable-next-line typescript/no-extraneous-class -- decorated below
class AppModule {}
const configs = JSON.parse(process.env['APIS']!) as ApiConfigs
Module({ imports: Object.entries(configs).map(([name, options]) => apiModule(name, options)) })(AppModule)

const app = await (process.env['PLATFORM'] === 'fastify'
  ? // The installed one needs NestJS 12.
    NestFactory.create(AppModule as Type, new (await import('@nestjs/platform-fastify')).FastifyAdapter(), {
      logger: false,
    })
  : NestFactory.create(AppModule as Type, { logger: false }))
await app.listen(0, '127.0.0.1')
process.once('disconnect', () => process.exit())
process.send?.({ origin: (await app.getUrl()).replace('[::1]', '127.0.0.1'), core: process.env['NEST_CORE'] })
