import { html, type SafeHtml } from '@remix-run/html-template'
import { copyButton, copyLabel } from './copyable.ts'

export interface FormRequest {
  readonly url: string
  /** The fields of the form. */
  readonly form: Readonly<Record<string, string>>
}

export interface Snippet {
  readonly id: string
  readonly label: string
  readonly code: string
}

const shell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
// Valid in TypeScript, Python and Go: the values are printable ASCII.
const quoted = (text: string) => JSON.stringify(text)

/** The request in the languages that most clients are written in. */
export function requestSnippets({ url, form }: FormRequest): Snippet[] {
  const fields = Object.entries(form)
  const lines = (line: (name: string, value: string) => string) =>
    fields.map(([name, value]) => line(quoted(name), quoted(value))).join('\n')
  return [
    {
      id: 'curl',
      label: 'curl',
      code: [
        `curl ${shell(url)}`,
        ...fields.map(([name, value]) => `  --data-urlencode ${shell(`${name}=${value}`)}`),
      ].join(' \\\n'),
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      code: `const response = await fetch(${quoted(url)}, {
  method: "POST",
  body: new URLSearchParams({
${lines((name, value) => `    ${name}: ${value},`)}
  }),
});
console.log(await response.text());`,
    },
    {
      id: 'python',
      label: 'Python',
      code: `from urllib.parse import urlencode
from urllib.request import urlopen

form = {
${lines((name, value) => `    ${name}: ${value},`)}
}
with urlopen(${quoted(url)}, urlencode(form).encode()) as response:
    print(response.read().decode())`,
    },
    {
      id: 'go',
      label: 'Go',
      code: `package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
)

func main() {
	form := url.Values{
${lines((name, value) => `\t\t${name}: {${value}},`)}
	}
	response, err := http.PostForm(${quoted(url)}, form)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Println(string(body))
}`,
    },
  ]
}

export interface ClientOfService {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The token request; in TypeScript with our own library, which keeps the token ready. */
export function tokenSnippets({ baseUrl, clientId, clientSecret }: ClientOfService): Snippet[] {
  const url = `${baseUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`
  const form = { client_id: clientId, client_secret: clientSecret }
  const typescript = `import { clientCredentials, createTokenProvider } from "@tokenwell/core";

const tokens = createTokenProvider(
  clientCredentials({
    authUrl: ${quoted(baseUrl)},
    clientId: ${quoted(clientId)},
    // In your program: process.env.CLIENT_SECRET
    clientSecret: ${quoted(clientSecret)},
  }),
);
const { value } = await tokens.getToken();
console.log(value);`
  return requestSnippets({ url, form }).map((each) =>
    each.id === 'typescript' ? { ...each, code: typescript } : each,
  )
}

/** The request of an API that checks a token. */
export function introspectionSnippets({ baseUrl, clientId, clientSecret }: ClientOfService): Snippet[] {
  const form = { client_id: clientId, client_secret: clientSecret, token: 'YOUR_ACCESS_TOKEN' }
  return requestSnippets({ url: `${baseUrl}/oauth/introspect`, form })
}

export function environmentFile({ baseUrl, clientId, clientSecret }: ClientOfService): string {
  return `AUTH_URL=${baseUrl}\nCLIENT_ID=${clientId}\nCLIENT_SECRET=${clientSecret}`
}

/** One snippet at a time, chosen by radio buttons: it works without a script. */
export function snippetTabs(snippets: readonly Snippet[]): SafeHtml {
  return html`<div class="snippets">
    <fieldset>
      <legend class="visually-hidden">Language</legend>
      ${snippets.map(
        ({ id, label }, index) =>
          html`<label
            ><input
              type="radio"
              name="snippet"
              value="${id}"
              ${index === 0 ? html`checked` : ''}
            />${label}</label
          >`,
      )}
    </fieldset>
    ${snippets.map(
      ({ id, label, code }) =>
        html`<div class="snippet" data-language="${id}">
          ${copyButton(`snippet-${id}`, copyLabel(`${label} snippet`))}
          <pre tabindex="0" role="region" aria-label="${label}"><code id="snippet-${id}">${code}</code></pre>
        </div>`,
    )}
  </div>`
}
