/** What a README tells its reader to install and to write. */
export interface QuickStart {
  readonly install: readonly string[]
  readonly code: string
}

export function quickStart(name: string, readme: string): QuickStart {
  const install = /^npm install (.+)$/m.exec(readme)?.[1]
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1]
  if (install === undefined || code === undefined) {
    throw new Error(`The README of ${name} needs a line "npm install …" and a block of TypeScript`)
  }
  return { install: install.split(' ').filter((word) => !word.startsWith('-')), code }
}

/** CommonJS knows no `await` outside of functions. */
export function asCommonJs(code: string): string {
  if (!/^(?!\s|.*=>).*\bawait /m.test(code)) return code
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const rest = lines.filter((line) => !line.startsWith('import ')).map((line) => line.replace(/^export /, ''))
  return [...imports, 'void (async () => {', ...rest, '})()', ''].join('\n')
}

/** In a page tokens come from its own backend, as the READMEs say. */
export function asPage(code: string): string {
  return code
    .replaceAll(/\bclientCredentials\(\{.*?\}\)/gs, `backendTokens({ url: '/token' })`)
    .replaceAll(/\bclientCredentials\b/g, 'backendTokens')
    .replaceAll(/^const (?:authUrl|clientId|clientSecret) = .*\n/gm, '')
    .replaceAll(/process\.env\.API_URL!?/g, 'location.origin')
}
