import { it } from 'node:test'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import { create } from 'axios'
import kyClient from 'ky'

export { checkRecipe } from './check-recipe.ts'
export { it }

// Variables that the examples of the documentation use without declaring them.
const { env } = process
export const authUrl = env['AUTH_URL']!
export const apiUrl = env['API_URL']!
export const sandboxUrl = env['SANDBOX_URL']!
export const clientId = env['CLIENT_ID']!
export const clientSecret = env['CLIENT_SECRET']!
export const credentials = { authUrl, clientId, clientSecret }
export const tokens = clientCredentials(credentials)
export const apiFetch = createTokenFetch(tokens, { baseUrl: apiUrl })
export const api = create({ baseURL: apiUrl })
attachTokens(api, tokens)
export const kyApi = kyClient.extend(tokenHooks(tokens, { prefix: apiUrl }))
export const privateKeyPem = env['PRIVATE_KEY']!
export const assertionTokenUrl = env['ASSERTION_TOKEN_URL']!
export const assertionFile = env['EXAMPLE_ASSERTION_FILE']!
