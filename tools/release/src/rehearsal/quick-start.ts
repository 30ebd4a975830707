/** The commands and the code of a README's quick start. */
export interface QuickStart {
  readonly install: readonly string[]
  readonly language: 'ts' | 'sh'
  readonly code: string
}

/** The first block of TypeScript, or else the block of shell commands after the installation. */
export function quickStart(name: string, readme: string): QuickStart {
  const install = /^npm install (.+)$/m.exec(readme)?.[1]
  const typescript = /```ts\n(.*?)```/s.exec(readme)?.[1]
  const code = typescript ?? [...readme.matchAll(/```sh\n(.*?)```/gs)][1]?.[1]
  if (install === undefined || code === undefined) {
    throw new Error(`The README of ${name} needs a line "npm install …" and an example after it`)
  }
  const words = install.split(' ').filter((word) => !word.startsWith('-'))
  return { install: words, language: typescript === undefined ? 'sh' : 'ts', code }
}

/** CommonJS does not support `await` outside of functions. */
export function asCommonJs(code: string): string {
  if (!/^(?!\s|.*=>).*\bawait /m.test(code)) return code
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const rest = lines.filter((line) => !line.startsWith('import ')).map((line) => line.replace(/^export /, ''))
  return [...imports, 'void (async () => {', ...rest, '})()', ''].join('\n')
}

/** In a page, tokens come from its own backend, as the READMEs recommend. */
export function asPage(code: string): string {
  return code
    .replaceAll(/\bclientCredentials\(\{.*?\}\)/gs, `backendTokens({ url: '/token' })`)
    .replaceAll(/\bclientCredentials\b/g, 'backendTokens')
    .replaceAll(/^const (?:authUrl|clientId|clientSecret) = .*\n/gm, '')
    .replaceAll(/process\.env\.API_URL!?/g, 'location.origin')
}
