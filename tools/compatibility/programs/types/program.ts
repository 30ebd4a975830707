import { attachTokens, withoutToken } from '@tokenwell/axios-interceptor'
import {
  clientCredentials,
  createTokenFetch,
  createTokenPool,
  TokenError,
  type AccessToken,
  type TokenProvider,
} from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import { getTokenProviderToken, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import axios from 'axios'
import { createClient } from 'redis'

export const tokens: TokenProvider = clientCredentials({
  authUrl: 'https://auth.example.com',
  clientId: 'billing',
  clientSecret: 'secret',
})
export const token: Promise<AccessToken> = tokens.getToken({ minimumValidityMs: 1000 })
export const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
export const response: Promise<Response> = apiFetch('https://api.example.com', { method: 'POST' })
export const tenants = createTokenPool((tenant: string) =>
  clientCredentials({ authUrl: 'https://auth.example.com', clientId: tenant, clientSecret: 'secret' }),
)
export const kind = (error: unknown): string | undefined =>
  error instanceof TokenError ? error.kind : undefined

export const api = axios.create({ baseURL: 'https://api.example.com' })
export const detach: () => void = attachTokens(api, tokens)
void api.get('/health', withoutToken)
void api.get('/health', { ...withoutToken, timeout: 1000 })

export const modules = [
  TokenModule.forRoot({ authUrl: 'https://auth.example.com', clientId: 'billing', clientSecret: 'secret' }),
  TokenHttpModule.register({ baseURL: 'https://api.example.com' }),
]
export const injectionToken: string = getTokenProviderToken('billing')
export const store = createRedisTokenStore({ client: createClient() })
export const hooks = tokenHooks(tokens, { allowedOrigins: ['https://api.example.com'] })
instrumentTokens(tokens)
