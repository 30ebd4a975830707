// oxlint-disable-next-line import/no-empty-named-blocks, unicorn/require-module-specifiers -- augmented below
import type {} from 'axios'

/** Token options of a single request. */
export interface RequestOption {
  /** Sends this request without a token. */
  token?: false | undefined
}

declare module 'axios' {
  // Repeats axios's own declaration, type parameters included.
  interface AxiosRequestConfig<D, P> extends RequestOption {}
}
