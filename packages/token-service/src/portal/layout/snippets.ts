import { html, type SafeHtml } from '@remix-run/html-template'
import { introspectionPath, tokenPath } from '../../oauth/endpoint-paths.ts'
import { code, copyButton, copyLabel, type Language } from './copyable.ts'
import { tabs } from './tabs.ts'

export interface ClientOfService {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

interface FormRequest {
  readonly url: string
  /** The fields of the form. */
  readonly form: Readonly<Record<string, string>>
}

interface Snippet {
  readonly label: string
  readonly language: Language
  readonly text: string
}

/** The first token: with curl, and with our library, which keeps the token ready. */
export function tokenSnippets({ baseUrl, clientId, clientSecret }: ClientOfService): SafeHtml {
  const url = `${baseUrl}${tokenPath}?grant_type=client_credentials`
  return snippetTabs([
    curl({ url, form: { client_id: clientId, client_secret: clientSecret } }),
    {
      label: 'TypeScript',
      language: 'typescript',
      text: `import { clientCredentials, createTokenFetch } from "@tokenwell/core";

const tokens = clientCredentials({
  authUrl: ${quoted(baseUrl)},
  clientId: ${quoted(clientId)},
  // In your program: process.env.CLIENT_SECRET
  clientSecret: ${quoted(clientSecret)},
});
const { value } = await tokens.getToken();
console.log(value);

// fetch with a token, which is sent to this API only:
export const api = createTokenFetch(tokens, { baseUrl: "https://api.example.com" });`,
    },
  ])
}

/** The request of an API that checks a token. */
export function introspectionSnippets({ baseUrl, clientId, clientSecret }: ClientOfService): SafeHtml {
  const form = { client_id: clientId, client_secret: clientSecret, token: 'YOUR_ACCESS_TOKEN' }
  return requestSnippets({ url: `${baseUrl}${introspectionPath}`, form })
}

/** A request. If a page has several of them: their unique name, and what they are about. */
export function requestSnippets(request: FormRequest, name?: string, about?: string): SafeHtml {
  const fields = Object.entries(request.form).map(
    ([field, value]) => `    ${quoted(field)}: ${quoted(value)},`,
  )
  const text = `const response = await fetch(${quoted(request.url)}, {
  method: "POST",
  body: new URLSearchParams({
${fields.join('\n')}
  }),
});
console.log(await response.text());`
  return snippetTabs([curl(request), { label: 'TypeScript', language: 'typescript', text }], name, about)
}

/** @param prefix of the names: an API may have credentials of its own beside those for the APIs that it calls */
export function environmentFile({ baseUrl, clientId, clientSecret }: ClientOfService, prefix = ''): string {
  return `AUTH_URL=${baseUrl}\n${prefix}CLIENT_ID=${clientId}\n${prefix}CLIENT_SECRET=${clientSecret}`
}

const shell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
// Valid in TypeScript: the values are printable ASCII.
const quoted = (text: string) => JSON.stringify(text)

function curl({ url, form }: FormRequest): Snippet {
  const fields = Object.entries(form).map(
    ([name, value]) => `  --data-urlencode ${shell(`${name}=${value}`)}`,
  )
  return { label: 'curl', language: 'bash', text: [`curl ${shell(url)}`, ...fields].join(' \\\n') }
}

/** One snippet at a time. */
function snippetTabs(snippets: readonly Snippet[], name = 'snippet', about = ''): SafeHtml {
  return tabs({
    name,
    label: `Language${about}`,
    tabs: snippets.map(({ label, language, text }) => {
      const id = label.toLowerCase()
      return {
        id,
        label,
        panel: html`${copyButton(`${name}-${id}`, copyLabel(`${label} snippet`))}
        ${code(text, language, label + about, `${name}-${id}`)}`,
      }
    }),
  })
}
