import { Axios, type InternalAxiosRequestConfig } from 'axios'

// Without defaults: what counts is the request's own address.
const addresses = new Axios({})

/** Where a request goes, as axios has it: its `url`, below the `baseURL` where it is relative. */
export function addressOf({ baseURL, url = '', allowAbsoluteUrls }: InternalAxiosRequestConfig): string {
  // The common call, a plain path, at a fraction of the cost.
  if (baseURL !== undefined && /^\/?[\w.~-]+(?:[/?#]|$)/.test(url)) {
    return `${baseURL}${baseURL.endsWith('/') || url.startsWith('/') ? '' : '/'}${url}`
  }
  return addresses.getUri({ baseURL, url, allowAbsoluteUrls } as object)
}

/** The origin of a `baseURL`; in a page, addresses may be relative to its own. */
export function originOf(baseURL: string | undefined): string[] {
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  return baseURL !== undefined && URL.canParse(baseURL, base) ? [new URL(baseURL, base).origin] : []
}
