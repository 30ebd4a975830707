import type { AdapterClient, AdapterRequest } from './adapter/adapter-under-test.ts'

interface AxiosLikeResponse {
  readonly status: number
  readonly data: unknown
}

/** Creates a client for the adapter suite from the `request` method of an axios instance, or of a wrapper of one. */
export function createAxiosClient(send: (config: object) => Promise<AxiosLikeResponse>): AdapterClient {
  return async (request) => {
    try {
      const response = await send(toAxiosConfig(request))
      return { status: response.status, text: response.data as string, received: response }
    } catch (error) {
      const { response } = error as { response?: AxiosLikeResponse }
      if (response === undefined) throw error
      return { status: response.status, text: response.data as string, received: error }
    }
  }
}

function toAxiosConfig({ url, method, headers, body, signal, timeoutMs, token }: AdapterRequest): object {
  return {
    url,
    method: method ?? (body ? 'POST' : 'GET'),
    ...(headers && { headers }),
    ...(body && { data: body.value }),
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(token === false && { token }),
    // No automatic parsing: the suite compares texts.
    transformResponse: (data: unknown) => data,
  }
}
