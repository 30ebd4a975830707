import 'axios'
import type { RequestOption } from './request-option.cts'

declare module 'axios' {
  // Repeats axios's own declaration, type parameters included.
  interface AxiosRequestConfig<D, P> extends RequestOption {}
}
