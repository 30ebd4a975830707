// undici: an interceptor attaches tokens to everything that a dispatcher sends.
import { type AccessToken, clientCredentials, credentialsFrom } from '@tokenwell/core'
import { classifyApiResponse } from '@tokenwell/core/protocol'
import { Agent, type Dispatcher, request } from 'undici'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const attachTokens: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  // Never to another origin.
  if (new URL(String(options.origin)).origin !== new URL(API_URL!).origin) return dispatch(options, handler)
  const repeatable = options.body == null || typeof options.body === 'string'

  const send = (token: AccessToken, retry: boolean): boolean => {
    const headers = { ...(options.headers as Record<string, string>), authorization: `Bearer ${token.value}` }
    return dispatch({ ...options, headers }, retry ? rejectionHandler(token) : handler)
  }
  const start = (token: Promise<AccessToken>, retry: boolean): void => {
    token.then(
      (received) => send(received, retry),
      (error: Error) => handler.onResponseError?.(undefined as never, error),
    )
  }
  // Hides a response that rejects the token, and sends the request again.
  const rejectionHandler = (token: AccessToken): Dispatcher.DispatchHandler => {
    let rejected = false
    return {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart(controller, status, headers, text) {
        rejected = classifyApiResponse(status, new Headers(headers as Record<string, string>)).tokenRejected
        if (!rejected) handler.onResponseStart?.(controller, status, headers, text)
      },
      onResponseData: (...args) => void (rejected || handler.onResponseData?.(...args)),
      onResponseEnd(...args) {
        if (!rejected) return handler.onResponseEnd?.(...args)
        tokens.reject(token)
        start(tokens.getToken(), false)
      },
      onResponseError: (...args) => handler.onResponseError?.(...args),
    }
  }
  start(tokens.getToken(), repeatable)
  return true
}

const dispatcher = new Agent().compose(attachTokens)

export async function listOrders(): Promise<string[]> {
  const { body } = await request(`${API_URL}/v1/orders`, { dispatcher })
  const orders = (await body.json()) as { item: string }[]
  return orders.map(({ item }) => item)
}
