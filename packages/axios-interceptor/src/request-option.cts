// oxlint-disable-next-line import/no-empty-named-blocks, unicorn/require-module-specifiers -- augmented below
import type {} from 'axios'

/** What a request of axios may say about its token. */
export interface RequestOption {
  /** Sends this request without a token. */
  token?: false | undefined
}

// For programs that `require` axios: its types are others then. Repeats axios's own declaration.
declare module 'axios' {
  interface AxiosRequestConfig<D, P> extends RequestOption {}
}
