import {
  bearerTokenAuthenticationPolicy,
  createEmptyPipeline,
  createHttpHeaders,
  createPipelineRequest,
  type HttpClient,
} from '@azure/core-rest-pipeline'
import type { TokenCredential } from '@azure/core-auth'
import { respondFromApi } from '../api.ts'
import { fetchToken } from './closure.ts'
import type { Peer } from './peer.ts'

/** Its bearer policy alone in a pipeline, over a credential for any token endpoint. */
export const azureCoreRestPipeline: Peer = {
  name: '@azure/core-rest-pipeline',
  packages: ['@azure/core-rest-pipeline'],
  httpClient: 'pipeline',
  imports: `export { bearerTokenAuthenticationPolicy, createDefaultHttpClient, createEmptyPipeline, createPipelineRequest } from '@azure/core-rest-pipeline'`,
  openPlain() {
    const plain = createEmptyPipeline()
    return (url) => plain.sendRequest(httpClient, createPipelineRequest({ url }))
  },
  open(endpoint) {
    const credential: TokenCredential = {
      async getToken() {
        const { access_token, expires_in } = await fetchToken(endpoint)
        return { token: access_token, expiresOnTimestamp: Date.now() + expires_in * 1000 }
      },
    }
    const pipeline = createEmptyPipeline()
    pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential, scopes: 'speech' }))
    return {
      async callApi(url) {
        const { status } = await pipeline.sendRequest(httpClient, createPipelineRequest({ url }))
        return status
      },
    }
  },
}

/** A transport that ends in the API inside this process. */
const httpClient: HttpClient = {
  async sendRequest(request) {
    const found = respondFromApi(request.headers.get('Authorization') ?? '')
    const status = typeof found === 'number' ? found : await found
    return { request, status, headers: createHttpHeaders() }
  },
}
