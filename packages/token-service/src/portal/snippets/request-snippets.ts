import type { Language } from '../layout/copyable.ts'

export interface FormRequest {
  readonly url: string
  /** The fields of the form. */
  readonly form: Readonly<Record<string, string>>
}

export interface Snippet {
  readonly id: string
  readonly label: string
  readonly language: Language
  readonly code: string
}

const shell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
// Valid in TypeScript, Python and Go: the values are printable ASCII.
export const quoted = (text: string) => JSON.stringify(text)

/** The request in the languages that most clients are written in. */
export function requestSnippets({ url, form }: FormRequest): Snippet[] {
  const fields = Object.entries(form)
  const lines = (line: (name: string, value: string) => string) =>
    fields.map(([name, value]) => line(quoted(name), quoted(value))).join('\n')
  return [
    {
      id: 'curl',
      label: 'curl',
      language: 'bash',
      code: [
        `curl ${shell(url)}`,
        ...fields.map(([name, value]) => `  --data-urlencode ${shell(`${name}=${value}`)}`),
      ].join(' \\\n'),
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      language: 'typescript',
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
      language: 'python',
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
      language: 'go',
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
