import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authentications,
  bindings,
  clients,
  type Authentication,
  type Binding,
  type MatrixClient,
} from './matrix/clients.ts'
import {
  formats,
  startPlatform,
  verifiers,
  type Format,
  type Platform,
  type Verifier,
} from './matrix/platform.ts'

/** What happens to a token of this format at an API that verifies tokens like this. */
function expected(format: Format, verifier: Verifier): string {
  // An opaque token says nothing: only the service that issued it knows whether it is valid.
  return format === 'opaque' && verifier === 'jwt' ? '401 invalid_token' : 'works'
}

const rows = authentications.flatMap((authentication) =>
  bindings.map((binding) => [authentication, binding] as const),
)
const columns = formats.flatMap((format) => verifiers.map((verifier) => [format, verifier] as const))

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

/** What happened in each column, in the words of the table. */
async function outcomes(
  client: MatrixClient,
  authentication: Authentication,
  binding: Binding,
): Promise<string[]> {
  const sends = await Promise.all(
    formats.map(async (format) => {
      const registration = await platform.register(format)
      return [format, await client.connect({ ...registration, platform, authentication, binding })] as const
    }),
  )
  const sendWith = new Map(sends)
  return Promise.all(
    columns.map(async ([format, verifier]) => {
      const response = await sendWith.get(format)!(`${platform.api}/${verifier}`)
      const text = await response.text()
      return response.ok ? text : `${response.status} ${(JSON.parse(text) as { error: string }).error}`
    }),
  )
}

for (const client of clients) {
  const { name, missing } = client
  const suffix = missing === undefined ? '' : ` (needs the Debian packages ${missing})`
  describe.skipIf(missing !== undefined)(`${name}${suffix}`, () => {
    const supported = rows.filter((row) => client.supports(...row))
    it.each(supported)('with %s and the binding %s', async (authentication, binding) => {
      expect(await outcomes(client, authentication, binding)).toEqual(
        columns.map((each) => expected(...each)),
      )
    })
  })
}

const labels: Record<Authentication, string> = {
  post: '`client_secret_post`',
  basic: '`client_secret_basic`',
  key: '`private_key_jwt`',
  identity: 'JWT of a trusted issuer, as assertion',
  grant: 'JWT of a trusted issuer, as grant',
}
const formatLabels: Record<Format, string> = { opaque: 'opaque', jwt: 'JWT' }
const verifierLabels: Record<Verifier, string> = { introspection: 'introspection', jwt: 'JWT', both: 'both' }

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], body: readonly (readonly string[])[]) =>
  [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')

const results = table(
  [
    'authentication or grant',
    'binding',
    ...columns.map(([format, verifier]) => `${formatLabels[format]}, ${verifierLabels[verifier]}`),
  ],
  rows.map(([authentication, binding]) => [
    labels[authentication],
    binding,
    ...columns.map((each) => expected(...each)),
  ]),
)
const tested = table(
  ['authentication or grant', 'binding', ...clients.map(({ name }) => name)],
  rows.map(([authentication, binding]) => [
    labels[authentication],
    binding,
    ...clients.map((client) => (client.supports(authentication, binding) ? 'tested' : '')),
  ]),
)

describe('the documentation', () => {
  afterAll(() => void process.stdout.write(`\n${results}\n\n${tested}\n`))

  it('has these tables', () => {
    const page = fileURLToPath(new URL('../../../docs/service/authenticate.md', import.meta.url))
    // The formatter aligns the columns.
    const plain = (text: string) =>
      text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---').replaceAll(/ +\|/g, ' |')
    for (const each of [results, tested]) expect(plain(readFileSync(page, 'utf8'))).toContain(plain(each))
  })
})
