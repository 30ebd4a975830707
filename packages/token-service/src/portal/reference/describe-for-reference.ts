import { requestSnippets } from '../layout/snippets.ts'

/** The parts of the OpenAPI document that the reference changes. */
export interface ApiDescription {
  readonly tags?: readonly object[] | undefined
  readonly servers: readonly [{ readonly url: string }]
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: { readonly schemas: object }
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
}

interface Operation {
  readonly summary: string
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly anyOf: readonly FormSchema[] } }>>
  }
}

interface FormSchema {
  readonly properties: Readonly<Record<string, { readonly description?: string; readonly default?: string }>>
}

export const formType = 'application/x-www-form-urlencoded'
const tags = [
  {
    name: 'Tokens',
    description:
      'An application exchanges its client ID and secret for an access token, and sends the token to APIs. An API introspects the tokens that it receives.',
  },
]
// `reference.js` replaces it.
const latestToken = {
  default: '{{access_token}}',
  description:
    'The access token. `{{access_token}}` is replaced with the token that you last requested on this page.',
}
const placeholders: Readonly<Record<string, string>> = {
  client_id: 'YOUR_CLIENT_ID',
  client_secret: 'YOUR_CLIENT_SECRET',
  token: 'YOUR_ACCESS_TOKEN',
}

/** The URL of the service in the page that the build renders. */
export const placeholderUrl = 'https://token-service.invalid'

/** The settings of Scalar. */
export const scalarOptions = {
  layout: 'modern',
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'yaml',
  hiddenClients: true,
  persistAuth: false,
  defaultOpenAllTags: true,
  hideModels: true,
} as const

/** The OpenAPI document with request snippets, and with fields that `reference.js` fills. */
export function describeForReference(description: object): ApiDescription {
  const api = description as ApiDescription
  const [{ url }] = api.servers
  const paths = Object.entries(api.paths).map(([path, { post }]) => {
    // The form with client ID and secret; the description mentions the other ways to authenticate.
    const schema = post.requestBody.content[formType]?.schema.anyOf[0] ?? { properties: {} }
    const names = Object.keys(schema.properties)
    const query = names.includes('token') ? '' : '?grant_type=client_credentials'
    const form = Object.fromEntries(names.map((name) => [name, placeholders[name] ?? '']))
    const samples = requestSnippets({ url: `${url}${path}${query}`, form })
    const properties = Object.entries(schema.properties).map(([name, field]) => [
      name,
      { ...field, ...(name === 'token' ? latestToken : { default: undefined }) },
    ])
    const content = { [formType]: { schema: { ...schema, properties: Object.fromEntries(properties) } } }
    const operation = {
      ...post,
      tags: ['Tokens'],
      security: [],
      requestBody: { required: true, content },
      'x-codeSamples': samples.map(({ id, label, code }) => ({
        lang: id === 'curl' ? 'shell' : id,
        label,
        source: code,
      })),
    }
    return [path, { post: operation }]
  })
  const { schemas } = api.components
  const { title, version, description: about } = api.info
  return {
    ...api,
    info: { title, version, description: about },
    servers: [{ url }],
    tags,
    paths: Object.fromEntries(paths),
    components: { schemas },
  }
}
