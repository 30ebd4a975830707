import { Module } from '@nestjs/common'
import { ConfigurableModuleClass } from './resource-server.module-definition.ts'

/**
 * Verifies the access tokens of an application's requests.
 *
 * @example
 * @Module({ imports: [ResourceServerModule.forRoot({ guardAll: true, introspection: { authUrl, clientId, clientSecret } })] })
 */
@Module({})
export class ResourceServerModule extends ConfigurableModuleClass {}
