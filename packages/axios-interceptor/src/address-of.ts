import { Axios, type InternalAxiosRequestConfig } from 'axios'

// Without defaults: what counts is the request's own address.
const addresses = new Axios({})

/** Where a request goes, as axios has it: its `url`, below the `baseURL` where it is relative. */
export function addressOf({ baseURL, url = '', allowAbsoluteUrls }: InternalAxiosRequestConfig): string {
  return addresses.getUri({ baseURL, url, allowAbsoluteUrls } as object)
}

/** Some address of the same origin: of a plain path below a base the base, which costs next to nothing. */
export function sameOriginAs(config: InternalAxiosRequestConfig): string {
  const { baseURL, url = '' } = config
  return baseURL && isPath(url) ? baseURL : addressOf(config)
}

function isPath(url: string): boolean {
  return url[0] === '/' ? url[1] !== '/' && url[1] !== '\\' : /^[\w.~-]+(?:[/?#]|$)/.test(url)
}

/** The origin of a `baseURL`; in a page, addresses may be relative to its own. */
export function originOf(baseURL: string | undefined): string[] {
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  return baseURL !== undefined && URL.canParse(baseURL, base) ? [new URL(baseURL, base).origin] : []
}
