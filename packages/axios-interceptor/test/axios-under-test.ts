import { attachTokens } from '@tokenwell/axios-interceptor'
import type { AdapterUnderTest } from '@tokenwell/testing'
import { create, isAxiosError, type AxiosRequestConfig, type AxiosResponse } from 'axios'

/** An axios instance over one of its adapters, in the suite's words. */
export function axiosUnderTest(name: string, config: AxiosRequestConfig): AdapterUnderTest {
  return {
    name,
    createClient(attach) {
      // No automatic parsing: the suite compares texts.
      const api = create({ transformResponse: (data: unknown) => data, ...config } as object)
      if (attach) attachTokens(api, attach.tokens, attach.options)
      return async ({ url, method, headers, body, signal, timeoutMs, token }) => {
        const request: AxiosRequestConfig = { url, method: method ?? (body ? 'POST' : 'GET') }
        if (headers) request.headers = headers
        if (body) request.data = body.value
        if (signal) request.signal = signal
        if (timeoutMs !== undefined) request.timeout = timeoutMs
        if (token === false) request.token = token
        try {
          const response = await api.request<string>(request)
          return { status: response.status, text: response.data, held: response }
        } catch (error) {
          if (!isAxiosError(error) || error.response === undefined) throw error
          const response = error.response as AxiosResponse<string>
          return { status: response.status, text: response.data, held: error }
        }
      }
    },
    tokenErrorOf: (error) => (isAxiosError(error) ? error.cause : undefined),
  }
}
