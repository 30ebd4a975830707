import { configurationError } from '../protocol/token-error.ts'
import { listOf } from './environment-variables.ts'

/** What {@link fromOpenApi} takes from a document that has several of something, or does not say where it is. */
export interface FromOpenApiOptions {
  /** The name of the security scheme, if several have the flow `clientCredentials`. */
  readonly scheme?: string | undefined
  /** The URL of one of the document's `servers`. @default the first */
  readonly server?: string | undefined
  /** The URL of the document, which relative URLs in it need. */
  readonly base?: string | URL | undefined
  /**
   * Token endpoints at another origin than the server. Such a URL has to be named here, because the document decides where the
   * client secret is sent to.
   */
  readonly allowedTokenEndpoints?: readonly (string | URL)[] | undefined
}

interface SecurityScheme {
  readonly type?: string
  readonly flows?: Readonly<Record<string, { readonly tokenUrl?: string }>>
}

/** By scheme: the scopes that it needs. */
type Requirements = readonly Readonly<Record<string, readonly string[]>>[]

/** What is read of an OpenAPI document. */
interface OpenApiDocument {
  readonly openapi?: string
  readonly servers?: readonly {
    readonly url: string
    readonly variables?: Readonly<Record<string, { readonly default: string }>>
  }[]
  readonly security?: Requirements
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, SecurityScheme>> }
}

/**
 * Reads from an OpenAPI 3 document where tokens for its API come from. Pass `tokenEndpoint` and `scope` to
 * {@link clientCredentials}, and `baseUrl`, the URL of the server, to {@link createTokenFetch}. `scope` contains the scopes that
 * the operations need.
 *
 * @param document that is part of your build, parsed. Do not load it from a server at run time: it decides where the client
 * secret is sent to
 *
 * @example
 * const { baseUrl, ...issuer } = fromOpenApi(document)
 * const tokens = clientCredentials({ ...issuer, clientId, clientSecret })
 *
 * @throws {TokenError} of kind `configuration`, if the document does not name one token endpoint, or one that must be allowed
 */
export function fromOpenApi(
  document: object,
  { scheme, server, base, allowedTokenEndpoints = [] }: FromOpenApiOptions = {},
): { readonly tokenEndpoint: string; readonly scope?: string; readonly baseUrl?: string } {
  const api = document as OpenApiDocument
  if (!api.openapi?.startsWith('3.')) throw problem('is not one of OpenAPI 3. Convert it')
  const name = chooseScheme(api.components?.securitySchemes ?? {}, scheme)
  const baseUrl = serverUrl(api, server, base)
  const { tokenUrl } = api.components!.securitySchemes![name]!.flows!['clientCredentials']!
  if (!tokenUrl) throw problem(`has no tokenUrl in its security scheme "${name}"`)
  const endpoint = URL.canParse(tokenUrl, baseUrl?.href) ? new URL(tokenUrl, baseUrl?.href) : undefined
  if (!endpoint) throw problem(`has the relative tokenUrl "${tokenUrl}". Set base to the URL of the document`)
  if (endpoint.origin !== baseUrl?.origin && !allowedTokenEndpoints.some((url) => names(url, endpoint))) {
    const place = baseUrl ? `another origin than its server ${baseUrl.origin}` : 'no known server'
    throw problem(
      `has a token endpoint of ${place}: ${endpoint.href}. If your client secret may be sent there, add it to allowedTokenEndpoints`,
    )
  }
  const scopes = scopesOf(api, name)
  return {
    tokenEndpoint: endpoint.href,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(baseUrl && { baseUrl: baseUrl.href.replace(/\/$/, '') }),
  }
}

function chooseScheme(schemes: Readonly<Record<string, SecurityScheme>>, wanted?: string): string {
  const fitting = Object.keys(schemes).filter((name) => schemes[name]?.flows?.['clientCredentials'])
  if (wanted !== undefined && fitting.includes(wanted)) return wanted
  if (wanted === undefined && fitting.length === 1) return fitting[0]!
  const others = Object.entries(schemes).map(
    ([name, { type, flows }]) => `"${name}" (${Object.keys(flows ?? {}).join(', ') || type})`,
  )
  if (fitting.length === 0) {
    const rest = others.length > 0 ? `, only ${listOf(others)}` : ''
    throw problem(`has no security scheme with the flow clientCredentials${rest}`)
  }
  const quoted = listOf(fitting.map((name) => `"${name}"`))
  if (wanted === undefined) throw problem(`has several security schemes. Set scheme to one of ${quoted}`)
  throw problem(
    `has no security scheme "${wanted}" with the flow clientCredentials. Set scheme to one of ${quoted}`,
  )
}

/** Undefined if it is relative and nobody knows to what. */
function serverUrl(
  { servers = [{ url: '/' }] }: OpenApiDocument,
  wanted?: string,
  base?: string | URL,
): URL | undefined {
  const urls = (servers.length > 0 ? servers : [{ url: '/' }]).map(({ url, ...rest }) => {
    const variables = 'variables' in rest ? rest.variables : undefined
    return url.replaceAll(
      /\{([^}]+)\}/g,
      (whole, variable: string) => variables?.[variable]?.default ?? whole,
    )
  })
  const chosen = wanted === undefined ? urls[0]! : urls.find((url) => url === wanted)
  if (chosen === undefined) throw problem(`has no server "${wanted}", only ${listOf(urls)}`)
  const absolute = base === undefined ? undefined : String(base)
  return URL.canParse(chosen, absolute) ? new URL(chosen, absolute) : undefined
}

/** Whether a URL that the caller has named is this endpoint. */
function names(allowed: string | URL, { origin, pathname, search }: URL): boolean {
  if (!URL.canParse(String(allowed))) return false
  const url = new URL(allowed)
  return url.origin === origin && url.pathname === pathname && (url.search === '' || url.search === search)
}

function scopesOf({ security = [], paths = {} }: OpenApiDocument, scheme: string): string[] {
  const operations = Object.values(paths).flatMap((path) =>
    Object.entries(path).flatMap(([method, operation]) =>
      methods.test(method) ? [(operation as { readonly security?: Requirements }).security ?? security] : [],
    ),
  )
  const needed = (operations.length > 0 ? operations : [security]).flat()
  return [...new Set(needed.flatMap((requirement) => requirement[scheme] ?? []))]
}

const methods = /^(?:get|put|post|delete|options|head|patch|trace|query)$/

function problem(what: string) {
  return configurationError(`The OpenAPI document ${what}.`)
}
