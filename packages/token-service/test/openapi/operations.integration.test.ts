import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { application, postForm, testService, tokenPath } from '../test-service.ts'

const introspectionPath = '/oauth/introspect'
const revocationPath = '/oauth/revoke'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly object[]
  readonly requestBody: {
    readonly required: boolean
    readonly content: { 'application/x-www-form-urlencoded': { schema: { anyOf: readonly Form[] } } }
  }
  readonly responses: Readonly<Record<string, { description: string; content?: Content }>>
}

interface Form {
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, { default?: string }>>
}

interface Content {
  readonly 'application/json': {
    readonly schema: { readonly $ref: string }
    readonly examples: Readonly<Record<string, { summary: string; value: Record<string, unknown> }>>
  }
}

async function published(format: 'platform' | 'standard' = 'platform') {
  const { authUrl } = await testService({ format })
  const text = await (await fetch(`${authUrl}/openapi.yaml`)).text()
  const description = parse(text)
  const paths = description.paths as Readonly<Record<string, { post: Operation }>>
  const at = (path: string) => paths[path]!.post
  return { authUrl, description, paths, at }
}

/** The names of the examples for each status of an operation. */
function namesOf(operation: Operation): Record<string, string[]> {
  const names = Object.entries(operation.responses).map(([status, { content }]) => [
    status,
    Object.keys(content?.['application/json'].examples ?? {}),
  ])
  return Object.fromEntries(names)
}

const failures = {
  405: ['method_not_allowed'],
  413: ['body_too_large'],
  415: ['unsupported_content_type'],
  429: ['too_many_failures'],
  503: ['unavailable', 'overloaded'],
}

describe('the published operations', () => {
  it('have names, a group, and the two ways to authenticate', async () => {
    const { description, authUrl, paths } = await published()
    expect(description.info).toMatchObject({
      title: 'Token service',
      contact: { name: 'The operator of this service', url: authUrl },
      license: { name: 'MIT' },
    })
    const operations = Object.entries(paths).map(([path, { post }]) => [
      path,
      [post.operationId, post.tags, post.requestBody.required, post.security],
    ])
    const security = [{}, { clientBasic: [] }]
    expect(Object.fromEntries(operations)).toEqual({
      // With Basic, a token request needs no body.
      [tokenPath]: ['getAccessToken', ['Tokens'], false, security],
      [introspectionPath]: ['introspectToken', ['Introspection'], true, security],
      [revocationPath]: ['revokeToken', ['Tokens'], true, security],
    })
    expect(description.components.securitySchemes.clientBasic).toMatchObject({
      type: 'http',
      scheme: 'basic',
    })
    expect(description.tags.map(({ name }: { name: string }) => name)).toEqual(['Introspection', 'Tokens'])
  })

  it.each(['platform', 'standard'] as const)(
    'declare the client credentials flow, by whose URL a tool gets a token: format %s',
    async (format) => {
      const { description, authUrl } = await published(format)
      const { type, flows } = description.components.securitySchemes.clientCredentials
      expect([type, Object.keys(flows)]).toEqual(['oauth2', ['clientCredentials']])
      expect(flows.clientCredentials.tokenUrl).toContain(`${authUrl}/`)
      const { clientId, clientSecret } = application
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
      const { status, body } = await postForm(flows.clientCredentials.tokenUrl, form)
      expect([status, body.token_type]).toEqual([200, 'Bearer'])
    },
  )

  it('have a form with a secret, an assertion or neither, and variables in their place', async () => {
    const { at } = await published()
    const formsOf = (path: string) => {
      const { content } = at(path).requestBody
      const { anyOf } = content['application/x-www-form-urlencoded'].schema
      return anyOf.map(({ required, properties }) => [
        required ?? [],
        Object.entries(properties).flatMap(([name, field]) => (field.default ? [[name, field.default]] : [])),
      ])
    }
    const id = ['client_id', '{{client_id}}']
    const secret = ['client_secret', '{{client_secret}}']
    const assertion = ['client_assertion_type', 'client_assertion']
    const token = ['token', '{{access_token}}']
    expect(formsOf(tokenPath)).toEqual([
      [
        ['client_id', 'client_secret'],
        [id, secret],
      ],
      [assertion, [id]],
      [['assertion'], [id]],
      [[], []],
    ])
    const withToken = [
      [
        ['token', 'client_id', 'client_secret'],
        [token, id, secret],
      ],
      [
        ['token', ...assertion],
        [token, id],
      ],
      [['token'], [token]],
    ]
    expect(formsOf(introspectionPath)).toEqual(withToken)
    expect(formsOf(revocationPath)).toEqual(withToken)
    expect(at(tokenPath).parameters).toMatchObject([
      { name: 'grant_type', in: 'query', required: true, schema: { default: 'client_credentials' } },
    ])
  })

  it.each(['platform', 'standard'] as const)(
    'have an example of each response (format: %s)',
    async (format) => {
      const { at } = await published(format)
      const isPlatform = format === 'platform'
      const post = at(tokenPath)
      const notApproved = 'application_not_approved'
      const rejected = [
        'missing_parameter',
        ...(isPlatform ? ['grant_type_not_in_query'] : []),
        'unsupported_grant_type',
        'invalid_scope',
        'scopes_of_several_resources',
        'invalid_target',
        'invalid_authorization_details',
      ]
      const unknownIdentity = ['invalid_grant', 'identity_not_mapped']
      const unproven = ['missing_dpop_proof', 'invalid_dpop_proof']
      const unauthenticated = ['invalid_client', 'expired_secret']
      expect(namesOf(post)).toEqual({
        200: ['products', 'refresh', 'bound', 'rfc6749'],
        400: [...rejected, ...(isPlatform ? [] : [notApproved]), ...unknownIdentity, ...unproven],
        401: [...unauthenticated, 'client_not_identified', ...(isPlatform ? [notApproved] : [])],
        ...failures,
      })
      expect(post.responses[isPlatform ? 401 : 400]?.description).toMatch(
        /, or the application is not approved\.$/,
      )
      expect(post.responses[isPlatform ? 400 : 401]?.description).toMatch(/^The [\w ]+\.$/)
      expect(namesOf(at(introspectionPath))).toEqual({
        200: ['active', 'bound', 'inactive'],
        400: ['missing_parameter'],
        401: ['invalid_client', 'missing_credentials', 'expired_secret'],
        ...failures,
      })
      expect(namesOf(at(revocationPath))).toEqual({
        200: [],
        400: ['missing_parameter', 'token_of_another_client'],
        401: ['invalid_client', 'missing_credentials', 'expired_secret', 'client_not_identified'],
        ...failures,
      })
    },
  )

  it.each(['platform', 'standard'] as const)('have examples that match (format: %s)', async (format) => {
    const { description, paths, at } = await published(format)
    const ajv = new Ajv2020({ strict: false })
    ajv.addSchema(description, 'description')
    for (const [path, { post }] of Object.entries(paths)) {
      for (const [status, { content }] of Object.entries(post.responses)) {
        if (content === undefined) continue
        const { schema, examples } = content['application/json']
        const validate = ajv.getSchema(`description${schema.$ref}`)
        for (const [name, { summary, value }] of Object.entries(examples)) {
          expect([path, status, name, validate?.(value)]).toEqual([path, status, name, true])
          expect(summary).toMatch(/^[\w ]+$/)
          const empty = Object.keys(value).filter((field) => value[field] === '')
          expect(['scope', 'refresh_token']).toEqual(expect.arrayContaining(empty))
        }
      }
    }
    const examples = at(tokenPath).responses[400]?.content?.['application/json'].examples
    expect(JSON.stringify(examples?.['missing_parameter'])).toContain('parameter : client_id')
  })
})
