import {
  bearerTokenAuthenticationPolicy,
  createEmptyPipeline,
  createHttpHeaders,
  createPipelineRequest,
  type HttpClient,
} from '@azure/core-rest-pipeline'

/** A pipeline with the bearer policy alone, or with nothing. */
export function azurePipeline(httpClient: HttpClient, withToken: boolean): (url: string) => Promise<unknown> {
  const pipeline = createEmptyPipeline()
  if (withToken) {
    const token = { token: 'a'.repeat(32), expiresOnTimestamp: Date.now() + 3_600_000 }
    const credential = { getToken: () => Promise.resolve(token) }
    pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential, scopes: 'speech' }))
  }
  return (url) => pipeline.sendRequest(httpClient, createPipelineRequest({ url }))
}

export const azureAnswer: HttpClient = {
  sendRequest: (request) => Promise.resolve({ request, status: 200, headers: createHttpHeaders() }),
}
