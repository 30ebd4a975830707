import 'reflect-metadata'
import { TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { expectNoSecrets } from '@tokenwell/internal-testing'
import { expect, it } from 'vitest'

it('shows no secret in a dynamic module', () => {
  const options = { authUrl: 'https://auth.example.com', clientId: 'client', clientSecret: 'canary-secret' }
  const http = { auth: { username: 'me', password: 'canary-password' }, headers: { 'X-Key': 'canary-key' } }
  const modules = [
    TokenModule.forRoot(options),
    TokenModule.forRootAsync({ name: 'b', useFactory: () => options }),
    TokenHttpModule.register(http),
  ]
  expect(modules).toHaveLength(3)
  for (const module of modules) {
    expectNoSecrets(module, ['canary-secret', 'canary-password', 'canary-key'])
    expectNoSecrets(module.providers, ['canary-secret', 'canary-password', 'canary-key'])
  }
})
