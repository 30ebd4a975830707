import 'axios'

declare module 'axios' {
  // Repeats axios's own declaration, type parameters included.
  interface AxiosRequestConfig<D, P> {
    /** Sends this request without a token. */
    token?: false | undefined
  }
}
